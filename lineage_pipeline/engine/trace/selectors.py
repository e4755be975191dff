"""Selectors such as `+db.sch.t.col+2`: what is meant, and how far to go from there in each direction."""

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import cache

import msgspec

from lineage_pipeline.vocabulary.errors import LineageError

FAR = 1 << 30
"""A depth that no graph has: as far as the edges lead."""

_SIDES = re.compile(r"(?:(?P<up>\d*)\+)?(?P<name>.*?)(?:\+(?P<down>\d*))?", re.DOTALL)
_PART = re.compile(r'"((?:[^"]|"")*)"|\[([^\]]*)\]|`([^`]*)`|([^.]*)')
_ADDRESS = re.compile(r"\w+://[^/]*/")


class Part(msgspec.Struct, frozen=True):
    """A part of a name as it was written: in quotes it is meant to the letter, else `*` and `?` fit anything."""

    text: str
    quoted: bool = False

    @property
    def is_pattern(self) -> bool:
        """Say whether it may fit several names."""
        return not self.quoted and ("*" in self.text or "?" in self.text)


class Selector(msgspec.Struct, frozen=True):
    """A name with the hops to follow up and down; None where the side is not asked for."""

    written: str
    parts: tuple[Part, ...]
    up: int | None = None
    down: int | None = None

    @property
    def is_pattern(self) -> bool:
        """Say whether it may fit several names."""
        return any(part.is_pattern for part in self.parts)


def parse_selector(text: str) -> Selector:
    """Read a selector; leading dots stand for any object, an address before the name is left out."""
    sides = _SIDES.fullmatch(text.strip())
    assert sides is not None, "every part of the pattern may be empty"
    name = sides["name"].strip()
    parts = tuple(split_name(name))
    if "://" in name and not parts[0].quoted:
        parts = tuple(split_name(_ADDRESS.sub("", name, count=1)))
    anywhere = [part for part in parts if part.text or part.quoted]
    if not anywhere:
        raise LineageError(f"{text.strip() or 'a selector without a name'} names no column and no table")
    if len(anywhere) < len(parts):
        anywhere.insert(0, Part("*"))
    return Selector(name, tuple(anywhere), _depth(sides["up"]), _depth(sides["down"]))


def split_name(name: str) -> Iterator[Part]:
    """Give the parts of a name; dots in quotes are not between parts."""
    at = 0
    while at <= len(name):
        found = _PART.match(name, at)
        assert found is not None, "the last alternative may be empty"
        quoted = next((text for text in found.groups()[:3] if text is not None), None)
        yield Part(found[4]) if quoted is None else Part(quoted.replace('""', '"'), True)
        at = found.end() + 1


@cache
def pattern_of(folded: str) -> "re.Pattern[str]":
    """Compile a pattern in the spelling in which names are compared; brackets are no sets of letters."""
    return re.compile(translate(folded.replace("[", "[[]")), re.DOTALL)


def _depth(written: str | None) -> int | None:
    if written is None:
        return None
    return int(written) if written else FAR
