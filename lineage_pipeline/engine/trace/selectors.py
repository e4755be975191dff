"""Selectors such as `+db.sch.t.col+2`: a name, and how many hops to follow in each direction."""

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import cache

import msgspec

from lineage_pipeline.model.errors import LineageError

UNLIMITED_DEPTH = 1 << 30
"""A depth that no graph reaches: follow the edges to their end."""

_SIDES = re.compile(r"(?:(?P<up>\d*)\+)?(?P<name>.*?)(?:\+(?P<down>\d*))?", re.DOTALL)
_PART = re.compile(r'"((?:[^"]|"")*)"|\[([^\]]*)\]|`([^`]*)`|([^.]*)')
_ADDRESS = re.compile(r"\w+://[^/]*/")


class SelectorPart(msgspec.Struct, frozen=True):
    """A part of a name as written: exact in quotes, else `*` and `?` are wildcards."""

    text: str
    quoted: bool = False

    @property
    def is_pattern(self) -> bool:
        """Say whether it may match several names."""
        return not self.quoted and ("*" in self.text or "?" in self.text)


class Selector(msgspec.Struct, frozen=True):
    """A name with the hops to follow upstream and downstream; None where a direction is not requested."""

    written: str
    parts: tuple[SelectorPart, ...]
    up: int | None = None
    down: int | None = None

    @property
    def is_pattern(self) -> bool:
        """Say whether it may match several names."""
        return any(part.is_pattern for part in self.parts)


def parse_selector(text: str) -> Selector:
    """Parse a selector; leading dots match any object, an address before the name is ignored."""
    sides = _SIDES.fullmatch(text.strip())
    assert sides is not None, "every part of the pattern may be empty"
    name = sides["name"].strip()
    parts = tuple(split_selector_name(name))
    if "://" in name and not parts[0].quoted:
        parts = tuple(split_selector_name(_ADDRESS.sub("", name, count=1)))
    anywhere = [part for part in parts if part.text or part.quoted]
    if not anywhere:
        raise LineageError(f"{text.strip() or 'a selector without a name'} names no column and no table")
    if len(anywhere) < len(parts):
        anywhere.insert(0, SelectorPart("*"))
    return Selector(name, tuple(anywhere), _parse_depth(sides["up"]), _parse_depth(sides["down"]))


def split_selector_name(name: str) -> Iterator[SelectorPart]:
    """The parts of a name; dots in quotes do not separate parts."""
    at = 0
    while at <= len(name):
        found = _PART.match(name, at)
        assert found is not None, "the last alternative may be empty"
        quoted = next((text for text in found.groups()[:3] if text is not None), None)
        yield SelectorPart(found[4]) if quoted is None else SelectorPart(quoted.replace('""', '"'), True)
        at = found.end() + 1


@cache
def compile_wildcard(folded: str) -> "re.Pattern[str]":
    """Compile a wildcard pattern for folded names; brackets are no character sets."""
    return re.compile(translate(folded.replace("[", "[[]")), re.DOTALL)


def _parse_depth(written: str | None) -> int | None:
    if written is None:
        return None
    return int(written) if written else UNLIMITED_DEPTH
