"""Path patterns: `*` and `?` stay within a folder, `**` crosses folders, one without a slash fits at any depth.

A star matches as little as possible and is atomic, so that no text is matched in more than one way; only behind
the last star is more than one position tried, as the text has to end there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

STAR, ACROSS, ALL = "*", "**/", "**"
"""What stays in a folder, what stands for any folders, and what stands for anything."""

WILDCARD_EXPRESSIONS = {"": "", STAR: "[^/]*?", ACROSS: "(?:[^/]*/)*?", ALL: ".*?"}


def join_wildcards(pieces: Sequence[str]) -> str:
    """Return the regular expression of pieces, each a wildcard or the expression of one character."""
    parts = list(_split_at_wildcards(pieces, (ACROSS, ALL)))
    inner = [
        _prefix_wildcard(lead, _join_segment(part, last=number == len(parts)))
        for number, (lead, part) in enumerate(parts, 1)
    ]
    return "".join([*(f"(?>{text})" for text in inner[:-1]), inner[-1]])


def _join_segment(pieces: Sequence[str], *, last: bool) -> str:
    """Join the pieces between two wildcards that cross folders."""
    runs = [_prefix_wildcard(lead, "".join(run)) for lead, run in _split_at_wildcards(pieces, (STAR,))]
    closed = runs[:-1] if last else runs
    return "".join([*(f"(?>{text})" for text in closed), *runs[len(closed) :]])


def _prefix_wildcard(lead: str, text: str) -> str:
    return WILDCARD_EXPRESSIONS[lead] + text


def _split_at_wildcards(pieces: Sequence[str], stars: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Split pieces before each wildcard: the wildcard, and the pieces behind it."""
    places = [place for place, piece in enumerate(pieces) if piece in stars]
    yield "", pieces[: places[0]] if places else pieces
    for number, place in enumerate(places, 1):
        yield pieces[place], pieces[place + 1 : places[number] if number < len(places) else len(pieces)]


PATTERN_TOKENS = re.compile(r"(?:(?<=/)|^)\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|[^*?\[]+|\[")


SUFFIX_PATTERN = re.compile(r"\*(\.[\w.-]+)")
"""A pattern that only tests how a name ends; most patterns do, and every file is tested."""


def matches_path(path: str, patterns: Iterable[str]) -> bool:
    """Return whether any of the patterns matches the whole path."""
    suffixes, others = _split_suffix_patterns(tuple(patterns))
    return path.endswith(suffixes) or any(_compile_pattern(pattern).fullmatch(path) for pattern in others)


def matches_path_any_case(path: str, patterns: Iterable[str]) -> bool:
    """Return whether any of the patterns matches the whole path; `*.sql` matches `A.SQL` as well.

    Only plain endings are compared without case: folders are different files on most systems.
    """
    suffixes, others = _split_suffix_patterns(tuple(patterns), lowered=True)
    return path.lower().endswith(suffixes) or any(_compile_pattern(pattern).fullmatch(path) for pattern in others)


@cache
def _split_suffix_patterns(
    patterns: tuple[str, ...], *, lowered: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the plain suffixes, and the other patterns."""
    ends = [match[1] for pattern in patterns if (match := SUFFIX_PATTERN.fullmatch(pattern))]
    ends = [end.lower() for end in ends] if lowered else ends
    return tuple(ends), tuple(pattern for pattern in patterns if not SUFFIX_PATTERN.fullmatch(pattern))


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern; a trailing slash matches everything below."""
    rooted = pattern.removeprefix("./")
    if rooted.endswith("/"):
        rooted += "**"
    if "/" not in rooted:
        rooted = "**/" + rooted
    pieces = [_translate_token(token) for token in PATTERN_TOKENS.findall(rooted.removeprefix("/"))]
    return re.compile(join_wildcards(pieces), re.DOTALL)


def _translate_token(token: str) -> str:
    if token in (STAR, ACROSS, ALL):
        return token
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 1:
        return "[^" + token[2:] if token.startswith("[!") else token
    return re.escape(token)
