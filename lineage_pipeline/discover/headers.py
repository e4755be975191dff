"""What a file says of itself in a comment at its top: `-- lineage: dialect=tsql schema=dbo`."""

import re
from collections.abc import Mapping

HEADER = re.compile(r"^[ \t]*(?:--|#|//|/\*)[ \t]*lineage:[ \t]*(.+?)[ \t]*(?:\*/)?[ \t]*\r?$", re.MULTILINE)
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
    if "lineage:" not in text[:4000]:
        return {}
    head = "\n".join(text[:4000].split("\n")[:LINES])
    said = (pair for match in HEADER.finditer(head) for pair in PAIR.findall(match[1]))
    return {KEYS[key]: value.strip('"') for key, value in said if key in KEYS}
