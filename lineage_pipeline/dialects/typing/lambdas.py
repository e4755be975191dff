"""What the parameters of anonymous functions hold, by the function that calls them."""

from collections.abc import Callable, Sequence

from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.shapes import member_type, shape_of

Types = Sequence[str | None]


def _element(types: Types, family: Family) -> Types:
    """An element of the array, and its position."""
    return (member_type(types[0], "") if types else None, family.bigint if family.long_positions else family.integer)


def _elements(types: Types, family: Family) -> Types:
    """An element of each array."""
    return [member_type(kind, "") for kind in types]


def _entry(types: Types, family: Family) -> Types:
    """A key of the map, and the values of it in each map."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    keys = shape.members[0][1] if shape.name == "MAP" and shape.members else None
    return (keys, *(member_type(kind, "") for kind in types))


def _reduction(types: Types, family: Family) -> Types:
    """What was gathered so far, and an element of the array; in the last function, what was gathered."""
    return (types[1] if len(types) > 1 else None, member_type(types[0], "") if types else None)


def _two_elements(types: Types, family: Family) -> Types:
    """What was gathered so far, and an element, both of the list's."""
    kind = member_type(types[0], "") if types else None
    return (kind, kind)


PARAMETERS: dict[str, Callable[[Types, Family], Types]] = {
    **dict.fromkeys(
        "TRANSFORM ARRAYFILTER FILTER EXISTS FORALL ANY ARRAYSORT LIST_TRANSFORM LIST_FILTER LIST_APPLY".split(),
        _element,
    ),
    "ZIP_WITH": _elements,
    **dict.fromkeys("MAP_FILTER TRANSFORM_VALUES TRANSFORM_KEYS MAP_ZIP_WITH".split(), _entry),
    "COMPREHENSION": _element,
    **dict.fromkeys("LIST_REDUCE ARRAY_REDUCE".split(), _two_elements),
    **dict.fromkeys("REDUCE AGGREGATE".split(), _reduction),
}


def parameter_types(op: str, types: Types, family: Family) -> Types:
    """What the parameters of an anonymous function hold, behind arguments of types."""
    rule = PARAMETERS.get(op)
    return rule(types, family) if rule is not None else ()
