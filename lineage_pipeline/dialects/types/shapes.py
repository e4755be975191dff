"""The shape of a type: its name, parameters and members, parsed from its text."""

from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.number_literals import parse_whole_number

NESTED_TYPE_NAMES = frozenset({"ARRAY", "LIST", "MAP", "STRUCT", "ROW", "TUPLE"})
"""Types that are made of others."""


class TypeShape(msgspec.Struct, frozen=True, gc=False):
    """A type: DECIMAL with 10 and 2, or MAP of two types; the members of a struct have names."""

    name: str
    parameters: tuple[str, ...] = ()
    members: tuple[tuple[str, str], ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The parameters as numbers, or none where one is not a number."""
        return (
            tuple(parse_whole_number(item) for item in self.parameters)
            if all(map(str.isdigit, self.parameters))
            else ()
        )


@lru_cache(maxsize=4096)
def parse_type_shape(text: str) -> TypeShape:
    """Parse the text of a type in the notation of any dialect."""
    text = text.strip()
    if text.endswith("]") and "[" in text:
        opened = text.rindex("[")
        size = (text[opened + 1 : -1],) if opened < len(text) - 2 else ()
        return TypeShape("ARRAY", size, (("", text[:opened].strip()),))
    start = min((index for index in (text.find("<"), text.find("(")) if index >= 0), default=-1)
    if start < 0:
        return TypeShape(text)
    name, end = text[:start].strip(), max(text.rfind(">"), text.rfind(")"))
    parts = _split_parts(text[start + 1 : end])
    if name in NESTED_TYPE_NAMES:
        named = name in ("STRUCT", "ROW")
        return TypeShape(name, (), tuple(_parse_member(part) if named else ("", part) for part in parts))
    rest = text[end + 1 :].strip()
    return TypeShape(f"{name} {rest}" if rest else name, tuple(parts))


def _split_parts(text: str) -> list[str]:
    """Split at commas that are in no brackets."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts


def _parse_member(text: str) -> tuple[str, str]:
    quote = text[:1]
    if quote in ('"', "`") and text.count(quote) > 1:
        name, _, kind = text[1:].partition(quote)
        return name, kind.lstrip(": ").strip()
    name, colon, kind = text.partition(":")
    if not colon or " " in name.strip() or "<" in name or "(" in name:
        name, _, kind = text.partition(" ")
    return name.strip(), kind.strip()


_NAMED_MEMBER_TYPES = ("STRUCT", "ROW", "RECORD", "OBJECT", "NESTED")
"""Types whose brackets hold names beside types."""


@lru_cache(maxsize=4096)
def uppercase_type(text: str) -> str:
    """Return a type in upper case; the members of structs keep their case."""
    upper = text.upper()
    if not any(name in upper for name in _NAMED_MEMBER_TYPES):
        return upper
    letters, word, opened = list(upper), "", [False]
    member = quoted = False  # whether the name of a member is being read, and whether it stands in quotes
    for at, character in enumerate(text):
        if quoted or character in '"`':
            quoted = quoted != (character in '"`')
            letters[at] = character
        elif character in "<(":
            opened.append(word.upper() in _NAMED_MEMBER_TYPES)
            member = opened[-1]
        elif character in ">)" and len(opened) > 1:
            opened.pop()
        elif character == ",":
            member = opened[-1]
        elif member:
            letters[at] = character
            member = character not in ": " or not word
        word = f"{word}{character}" if character.isalnum() or character in '_"`' else ""
    return "".join(letters)


def member_type(text: str | None, name: str) -> str | None:
    """Return the type of a struct member, of the values of a map, or of the elements of an array."""
    if not text:
        return None
    shape = parse_type_shape(text)
    if shape.name in ("ARRAY", "LIST", "MAP"):
        return shape.members[-1][1] if shape.members else None
    return next((kind for member, kind in shape.members if member.upper() == name.upper()), None)
