"""Members: what lies inside a struct, a row or a document, and what is left of it behind a function."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from lineage_pipeline.engine.link.flows import Flows, into_path, united
from lineage_pipeline.engine.link.model import Members, Value
from lineage_pipeline.engine.link.shapes import element_type, map_types, struct_members

DOCUMENTS = frozenset({"JSON", "JSONB", "VARIANT", "SUPER"})
"""Types whose parts are of the same type."""

LOOSE = {"ARRAY": "VARIANT", "OBJECT": "VARIANT"}
"""Types that do not say what they are made of, and what their parts are."""


def member(value: Value, path: Sequence[str], fold: Callable[[str], str] = str) -> Value:
    """What a path leads to; inside of an array of structs, to an array."""
    inner = element_type(value.type or "")
    if path and inner is not None and inner.startswith("STRUCT"):
        single = member(msgspec.structs.replace(value, type=inner), path, fold)
        kind = f"ARRAY<{single.type}>" if single.type is not None and "<" in (value.type or "") else None
        return msgspec.structs.replace(single, type=kind, nullable=value.nullable)
    for position, name in enumerate(path):
        if value.members is None:
            return _inside(value, path[position:])
        found = next((item for key, item in value.members if key == name), None)
        if found is None:
            found = next((item for key, item in value.members if fold(key) == fold(name)), None)
        if found is None:
            return _inside(msgspec.structs.replace(value, members=None), path[position:])
        value = found
    return value


_SIDES = ("keys", "values")
"""ClickHouse: what a map is kept as, `m.keys`; nobody else whose types have round brackets has dots there."""


def _inside(value: Value, path: Sequence[str]) -> Value:
    kind = value.type
    for name in path:
        if (entry := map_types(kind or "")) is not None:
            kind = f"ARRAY({entry[name == 'values']})" if name in _SIDES and (kind or "")[3] == "(" else entry[1]
        elif kind in LOOSE:
            kind = LOOSE[kind]
        elif kind not in DOCUMENTS:
            kind = dict(struct_members(kind or "", lower=True)).get(name.lower())
    text = f"{value.text}.{'.'.join(path)}"
    return Value(into_path(value.flows, path), kind or None, True, text)


def element(value: Value) -> Value:
    """An element of an array, or a value of a map."""
    entry = map_types(value.type or "")
    kind = entry[1] if entry is not None else LOOSE.get(value.type or "") or element_type(value.type or "")
    return msgspec.structs.replace(value, type=kind, nullable=True)


def spread(value: Value) -> Members:
    """The members of a struct where they are known, or nothing."""
    if value.members is not None:
        return value.members
    return tuple((name, member(value, (name,))) for name, _ in struct_members(value.type or "", lower=True))


def lettered(value: Value) -> Iterator[tuple[str, str, Value]]:
    """The members of a struct where they are known: each with its name, as it is compared and as it is written."""
    members = spread(value)
    written = [name for name, _ in struct_members(value.type or "")]
    if [name.lower() for name in written] != [name.lower() for name, _ in members]:
        written = [name for name, _ in members]
    return ((name, shown, item) for (name, item), shown in zip(members, written, strict=True))


def pair(value: Value) -> Members:
    """Key and value of a map where it is known to be one, or nothing."""
    kinds = map_types(value.type or "")
    if kinds is None:
        return ()
    key, item = (msgspec.structs.replace(value, type=kind, members=None) for kind in kinds)
    return (("key", key), ("value", item))


MOST_MEMBERS = 5_000
"""A struct with more members, those inside of them counted, is known as a whole only."""


def within_bounds(members: Members) -> bool:
    """Whether members are few enough to be followed: a struct of two of the one before it doubles each time."""
    pending, found = [members], 0
    while pending and found <= MOST_MEMBERS:
        inner = pending.pop()
        found += len(inner)
        pending.extend(value.members for _, value in inner if value.members is not None)
    return found <= MOST_MEMBERS


def mapped(members: Members | None, change: Callable[[Flows], Flows]) -> Members | None:
    """The members with their flows changed."""
    if members is None:
        return None
    return tuple(
        (
            name,
            Value(change(item.flows), item.type, item.nullable, item.text, mapped(item.members, change)),
        )
        for name, item in members
    )


def common(values: Sequence[Value]) -> Members | None:
    """The members of a value that is one of several; nothing where one of them has others."""
    known = [value.members for value in values if value.members is not None]
    if not known or len(known) < sum(1 for value in values if value.flows or value.members is not None):
        return None
    width = min(len(members) for members in known)
    return tuple((known[0][at][0], _joined([members[at][1] for members in known])) for at in range(width))


def _joined(values: Sequence[Value]) -> Value:
    """A member that is one of several."""
    first = values[0]
    return Value(united(value.flows for value in values), first.type, True, first.text, common(values))
