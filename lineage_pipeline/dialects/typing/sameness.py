"""Sameness: whether two spellings of a type mean one type, as when a catalog and a statement speak of one column."""

from lineage_pipeline.dialects.typing.families import as_read, family_of, own
from lineage_pipeline.dialects.typing.shapes import shape_of


def same(one: str, two: str, family: str) -> bool:
    """Whether two types are one, in the words of a family."""
    return one == two or as_read(own(one, family), family) == as_read(own(two, family), family)


def alike(one: str, two: str, family: str) -> bool:
    """Whether two types may be one: a dump often leaves out length, precision and scale."""
    if same(one, two, family):
        return True
    first, second = shape_of(own(one, family)), shape_of(own(two, family))
    named = first.name == second.name or {first.name, second.name} <= set(family_of(family).strings)
    return named and not first.members and not second.members and not (first.parameters and second.parameters)
