"""Path patterns: `*` and `?` stay within a folder, `**` crosses folders, one without a slash fits at any depth."""

import re
from collections.abc import Iterable
from functools import cache

from lineage_pipeline.discover.wildcards import ACROSS, ALL, STAR, joined

TOKENS = re.compile(r"(?:(?<=/)|^)\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|[^*?\[]+|\[")


SUFFIX = re.compile(r"\*(\.[\w.-]+)")
"""A pattern that asks for nothing but how a name ends: most do, and every file is asked."""


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Say whether any of the patterns fits the whole path."""
    suffixes, others = _sorted(tuple(patterns))
    return path.endswith(suffixes) or any(_compiled(pattern).fullmatch(path) for pattern in others)


@cache
def _sorted(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the ends of names, and the other patterns."""
    ends = [match[1] for pattern in patterns if (match := SUFFIX.fullmatch(pattern))]
    return tuple(ends), tuple(pattern for pattern in patterns if not SUFFIX.fullmatch(pattern))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Translate a pattern; a trailing slash means all that lies below."""
    rooted = pattern.removeprefix("./")
    if rooted.endswith("/"):
        rooted += "**"
    if "/" not in rooted:
        rooted = "**/" + rooted
    pieces = [_translate(token) for token in TOKENS.findall(rooted.removeprefix("/"))]
    return re.compile(joined(pieces), re.DOTALL)


def _translate(token: str) -> str:
    if token in (STAR, ACROSS, ALL):
        return token
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 1:
        return "[^" + token[2:] if token.startswith("[!") else token
    return re.escape(token)
