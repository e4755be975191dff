"""What aggregates give in the other families."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.shapes import shape_of
from lineage_pipeline.dialects.typing.widening import digits_of


def wide_total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM in Snowflake: decimals as long as they can be."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    digits = digits_of(shape, family)
    return family.numeric(38, digits[1]) if digits is not None else shape.name or None


def bigquery_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG in BigQuery: of integers a floating number, else of the same type."""
    name = shape_of(types[0] or "").name if types else ""
    return family.double if name in family.integers else name or None


def same(family: Family, types: Types, texts: Texts) -> str | None:
    """The type of the argument, without its digits."""
    return shape_of(types[0] or "").name or None if types else None


ROWS: dict[str, dict[str, Rule]] = {
    "snowflake": {"SUM": wide_total},
    "bigquery": {"SUM": same, "AVG": bigquery_average},
}
"""The rows of the families that have few."""
