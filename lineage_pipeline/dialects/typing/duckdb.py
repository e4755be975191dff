"""What the functions of DuckDB give."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.results import always, argument
from lineage_pipeline.dialects.typing.shapes import shape_of
from lineage_pipeline.dialects.typing.widening import digits_of


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: integers become huge, decimals as long as they can be."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    if shape.name in family.integers or shape.name == family.boolean:
        return "HUGEINT"
    digits = digits_of(shape, family)
    if digits is not None:
        return family.numeric(38, digits[1])
    return family.double if shape.name else None


ROWS: dict[str, Rule] = {"SUM": total, "AVG": always("double"), "ROUND": argument(0)}
"""What DuckDB's functions give; the common rows hold for the rest."""
