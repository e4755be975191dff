"""The fields of nested types by their paths: `STRUCT<a INT, b ARRAY<STRUCT<c TEXT>>>` has `a`, `b` and `b.c`."""

import re

CONTAINERS = frozenset("STRUCT ROW RECORD OBJECT TUPLE NESTED".split())
"""Types whose brackets hold names with types."""

COLLECTIONS = frozenset("ARRAY LIST MULTISET".split())
"""Types whose brackets hold the type of an element."""

_HEAD = re.compile(r"\s*+([A-Za-z_]\w*+)\s*+(?:([<(])(.*)([>)]))?\s*+((?:\[\d*\])*+)\s*+(?:NOT NULL)?\s*+$", re.DOTALL)

_FIELD = re.compile(r"""\s*("(?:[^"]|"")*"|`[^`]*`|[\w$]+)(?:\s*+:|\s)\s*+(.+)$""", re.DOTALL)


def fields(type_: str) -> dict[str, str] | None:
    """Give the type of each field by its path, or nothing where a type has none."""
    found: dict[str, str] = {}
    return found if _gather(type_, "", found) else None


def is_missing(type_: str, path: str) -> bool:
    """Say whether a type lists fields where a path leads, and the path names none of them."""
    listed = [name.casefold().replace('"', "").replace("`", "") for name in fields(type_) or ()]
    above = ""
    for part in path.casefold().split("."):
        beside = [name for name in listed if name.rpartition(".")[0] == above]
        above = f"{above}.{part}" if above else part
        if not beside:
            return False
        if above not in beside:
            return True
    return False


def _gather(type_: str, path: str, found: dict[str, str]) -> bool:
    """Collect the fields below a path; say whether there is anything nested."""
    match = _HEAD.match(type_)
    if match is None or match[3] is None:
        return False
    word = match[1].upper()
    if word in COLLECTIONS:
        return _gather(match[3], path, found)
    if word not in CONTAINERS:
        return False
    for part in _parts(match[3]):
        field = _FIELD.match(part)
        if field is None:
            return False
        own = field[1].lower()  # no engine tells members apart by their letters
        name = f"{path}.{own}" if path else own
        inner: dict[str, str] = {}
        nested = _gather(field[2], name, inner)
        found[name] = _HEAD.sub(r"\1", field[2]).strip().upper() if nested else " ".join(field[2].split())
        found.update(inner)
    return True


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for position, sign in enumerate(text):
        depth += (sign in "<([") - (sign in ">)]")
        if sign == "," and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    return [*parts, text[begin:]]
