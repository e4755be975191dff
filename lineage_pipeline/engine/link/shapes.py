"""Shapes of types: the members of structs, the elements of arrays, the keys and values of maps."""

_STRUCTS = ("STRUCT<", "STRUCT(", "ROW(", "RECORD(", "TUPLE(", "OBJECT(")


_PLAIN = frozenset(
    "VARCHAR CHAR NVARCHAR NCHAR TEXT STRING VARCHAR2 NVARCHAR2 CLOB INT INTEGER BIGINT SMALLINT TINYINT INT64 DECIMAL"
    " NUMERIC NUMBER FLOAT FLOAT64 DOUBLE REAL BOOLEAN BOOL BIT DATE TIME TIMESTAMP DATETIME UUID".split()
)


def is_plain(kind: str | None) -> bool:
    """Say whether a type is known to have no members."""
    return kind is not None and kind.partition("(")[0].upper() in _PLAIN


def struct_members(text: str, *, lower: bool = False) -> list[tuple[str, str]]:
    """The members of a struct with their types, or nothing where the type is none or lists none."""
    if not text.upper().startswith(_STRUCTS) or text[-1] not in ">)":
        return []
    members = []
    for part in _parts(text):
        name, kind = _named(part.strip())
        members.append((name.lower() if lower else name, kind.strip()))
    return [(name, kind) for name, kind in members if kind]


def _named(part: str) -> tuple[str, str]:
    """A member and its type; names that need it stand in quotes."""
    quote = part[:1]
    if quote in ('"', "`") and part.count(quote) > 1:
        name, _, kind = part[1:].partition(quote)
        return name, kind.lstrip(": ")
    name, _, kind = part.replace(":", " ", 1).partition(" ")
    return name, kind


def element_type(text: str) -> str | None:
    """The type of the elements of an array, or None where it is none."""
    if text.endswith("]"):
        return text[: text.rindex("[")]
    if not text.upper().startswith(("ARRAY<", "ARRAY(", "LIST<", "LIST(")) or text[-1] not in ">)":
        return None
    parts = _parts(text)
    return parts[0].strip() if len(parts) == 1 else None


def map_types(text: str) -> tuple[str, str] | None:
    """The types of keys and values of a map, or None where the type is none."""
    parts = _parts(text) if text.upper().startswith(("MAP<", "MAP(")) and text[-1] in ">)" else []
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else None


def _parts(text: str) -> list[str]:
    """What stands between the commas inside the outermost brackets of a type."""
    parts, depth = [""], 0
    for character in text[text.index("<" if "<" in text.split("(", 1)[0] else "(") + 1 : -1]:
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
