"""The shape of a type: its name, its parameters and its members, read from its text and written again."""

from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.counting import whole_number

NESTED = frozenset({"ARRAY", "LIST", "MAP", "STRUCT", "ROW", "TUPLE"})
"""Types that are made of others."""


class Shape(msgspec.Struct, frozen=True, gc=False):
    """A type: DECIMAL with 10 and 2, or MAP of two types; the members of a struct have names."""

    name: str
    parameters: tuple[str, ...] = ()
    members: tuple[tuple[str, str], ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The parameters as numbers, or nothing where one is none."""
        return tuple(whole_number(item) for item in self.parameters) if all(map(str.isdigit, self.parameters)) else ()


@lru_cache(maxsize=4096)
def shape_of(text: str) -> Shape:
    """The shape of a type by its text, in the notation of any dialect."""
    text = text.strip()
    if text.endswith("]") and "[" in text:
        opened = text.rindex("[")
        size = (text[opened + 1 : -1],) if opened < len(text) - 2 else ()
        return Shape("ARRAY", size, (("", text[:opened].strip()),))
    start = min((index for index in (text.find("<"), text.find("(")) if index >= 0), default=-1)
    if start < 0:
        return Shape(text)
    name, end = text[:start].strip(), max(text.rfind(">"), text.rfind(")"))
    parts = _parts(text[start + 1 : end])
    if name in NESTED:
        named = name in ("STRUCT", "ROW")
        return Shape(name, (), tuple(_member(part) if named else ("", part) for part in parts))
    rest = text[end + 1 :].strip()
    return Shape(f"{name} {rest}" if rest else name, tuple(parts))


def _parts(text: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [*parts, current.strip()] if current.strip() else parts


def _member(text: str) -> tuple[str, str]:
    quote = text[:1]
    if quote in ('"', "`") and text.count(quote) > 1:
        name, _, kind = text[1:].partition(quote)
        return name, kind.lstrip(": ").strip()
    name, colon, kind = text.partition(":")
    if not colon or " " in name.strip() or "<" in name or "(" in name:
        name, _, kind = text.partition(" ")
    return name.strip(), kind.strip()


_NAMED = ("STRUCT", "ROW", "RECORD", "OBJECT", "NESTED")
"""Types whose brackets hold names beside types."""


@lru_cache(maxsize=4096)
def capitals(text: str) -> str:
    """A type in capitals; the members of structs keep their letters."""
    upper = text.upper()
    if not any(name in upper for name in _NAMED):
        return upper
    letters, word, opened = list(upper), "", [False]
    member = quoted = False  # whether the name of a member is being read, and whether it stands in quotes
    for at, character in enumerate(text):
        if quoted or character in '"`':
            quoted = quoted != (character in '"`')
            letters[at] = character
        elif character in "<(":
            opened.append(word.upper() in _NAMED)
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


def struct_members(text: str) -> tuple[tuple[str, str], ...]:
    """The members of a struct with their types, or nothing where the type is none or lists none."""
    return shape_of(text).members if text.startswith(("STRUCT", "ROW")) else ()


def member_type(text: str | None, name: str) -> str | None:
    """The type of a member of a struct, of the values of a map, or of the elements of an array."""
    if not text:
        return None
    shape = shape_of(text)
    if shape.name in ("ARRAY", "LIST", "MAP"):
        return shape.members[-1][1] if shape.members else None
    return next((kind for member, kind in shape.members if member.upper() == name.upper()), None)
