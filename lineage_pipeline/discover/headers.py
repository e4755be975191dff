"""What a file says of itself in a comment at its top: `-- lineage: dialect=tsql schema=dbo`."""

import re
from collections.abc import Mapping

HEADER = re.compile(r"^[ \t]*(?:--|#|//|/\*)[ \t]*lineage:[ \t]*+(.+?)[ \t]*+(?:\*/[ \t]*+)?\r?$", re.MULTILINE)
WORD = re.compile(r"[^\s,;]+")
PAIR = re.compile(r"([a-z_]+)\s*=\s*(\"[^\"]*\"|[^\s,;]+)")

KEYS: Mapping[str, str] = {
    "dialect": "dialect",
    "system": "system",
    "catalog": "default_catalog",
    "default_catalog": "default_catalog",
    "schema": "default_schema",
    "default_schema": "default_schema",
    "templater": "templater",
}
"""What may be said, and what it is called in the settings."""

LINES = 20
"""How far down such a comment may stand."""


def header_of(text: str) -> dict[str, str]:
    """Give what the comments at the top of a file say of it."""
    said = (pair for match in _comments(text) for pair in PAIR.findall(match[1]))
    return {KEYS[key]: value.strip('"') for key, value in said if key in KEYS}


def unknown_words(text: str) -> list[tuple[str, int]]:
    """Give the words of those comments that are neither a key that we know nor its value, and where they stand.

    Several words without any key are a sentence, and none of ours.
    """
    found = []
    for match in _comments(text):
        pairs = list(PAIR.finditer(match[1]))
        found += [(pair[1], match.start(1) + pair.start()) for pair in pairs if pair[1] not in KEYS]
        rest = PAIR.sub(lambda pair: " " * len(pair[0]), match[1])
        words = list(WORD.finditer(rest))
        if pairs or len(words) == 1:
            found += [(word[0], match.start(1) + word.start()) for word in words]
    return found


def _comments(text: str) -> list[re.Match[str]]:
    if "lineage:" not in text[:4000]:
        return []
    head = "\n".join(text[:4000].split("\n")[:LINES])
    return list(HEADER.finditer(head))
