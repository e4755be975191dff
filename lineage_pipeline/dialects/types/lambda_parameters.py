"""Types of lambda parameters, by the function that calls them."""

from collections.abc import Callable, Sequence

from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import member_type, parse_type_shape

ParameterTypes = Sequence[str | None]


def _element_and_position(types: ParameterTypes, family: TypeFamily) -> ParameterTypes:
    """An element of the array, and its position."""
    return (member_type(types[0], "") if types else None, family.bigint if family.long_positions else family.integer)


def _element_of_each(types: ParameterTypes, family: TypeFamily) -> ParameterTypes:
    """An element of each array."""
    return [member_type(kind, "") for kind in types]


def _map_entry(types: ParameterTypes, family: TypeFamily) -> ParameterTypes:
    """A key of the map, and the values of it in each map."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    keys = shape.members[0][1] if shape.name == "MAP" and shape.members else None
    return (keys, *(member_type(kind, "") for kind in types))


def _accumulator_and_element(types: ParameterTypes, family: TypeFamily) -> ParameterTypes:
    """The accumulator, and an element of the array; in the last function, the accumulator."""
    return (types[1] if len(types) > 1 else None, member_type(types[0], "") if types else None)


def _two_elements(types: ParameterTypes, family: TypeFamily) -> ParameterTypes:
    """What was gathered so far, and an element, both of the list's."""
    kind = member_type(types[0], "") if types else None
    return (kind, kind)


LAMBDA_PARAMETERS: dict[str, Callable[[ParameterTypes, TypeFamily], ParameterTypes]] = {
    **dict.fromkeys(
        "TRANSFORM ARRAYFILTER FILTER EXISTS FORALL ANY ARRAYSORT LIST_TRANSFORM LIST_FILTER LIST_APPLY".split(),
        _element_and_position,
    ),
    "ZIP_WITH": _element_of_each,
    **dict.fromkeys("MAP_FILTER TRANSFORM_VALUES TRANSFORM_KEYS MAP_ZIP_WITH".split(), _map_entry),
    "COMPREHENSION": _element_and_position,
    **dict.fromkeys("LIST_REDUCE ARRAY_REDUCE".split(), _two_elements),
    **dict.fromkeys("REDUCE AGGREGATE".split(), _accumulator_and_element),
}


def lambda_parameter_types(op: str, types: ParameterTypes, family: TypeFamily) -> ParameterTypes:
    """Return the types of the parameters of a lambda after arguments of given types."""
    rule = LAMBDA_PARAMETERS.get(op)
    return rule(types, family) if rule is not None else ()
