"""Sameness: whether two spellings of a type mean one type, as when a catalog and a statement speak of one column."""

from lineage_pipeline.dialects.typing.families import as_read, family_of, own
from lineage_pipeline.dialects.typing.fitting import KINDS
from lineage_pipeline.dialects.typing.shapes import shape_of


def same(one: str, two: str, family: str) -> bool:
    """Whether two types are one, in the words of a family."""
    if one.startswith("ENUM(") or two.startswith("ENUM("):
        return _same_enumeration(one, two)
    return one == two or _read(one, family) == _read(two, family)


def _read(kind: str, family: str) -> str:
    """A type as it is read; no engine tells the members of structs apart by their letters."""
    return as_read(own(kind, family), family).upper()


def _same_enumeration(one: str, two: str) -> bool:
    """Whether two types are one enumeration; a type of the user's own may be any."""
    named = next((kind for kind in (one, two) if not kind.startswith("ENUM(")), None)
    if named is not None:
        return shape_of(named).name == named and named not in KINDS
    return one.replace(" ", "").upper() == two.replace(" ", "").upper()


def alike(one: str, two: str, family: str) -> bool:
    """Whether two types may be one: a dump often leaves out length, precision and scale."""
    if same(one, two, family):
        return True
    first, second = shape_of(own(one, family)), shape_of(own(two, family))
    named = first.name == second.name or {first.name, second.name} <= set(family_of(family).strings)
    return named and not first.members and not second.members and not (first.parameters and second.parameters)
