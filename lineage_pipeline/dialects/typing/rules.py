"""The rules of one family together: what a call gives, looked up once for each operator and types of arguments."""

from lineage_pipeline.dialects.typing import (
    bigquery,
    clickhouse_rules,
    duckdb,
    postgres,
    servers,
    snowflake,
    spark,
    tsql,
)
from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.casts import LENIENT
from lineage_pipeline.dialects.typing.documented import documented
from lineage_pipeline.dialects.typing.families import Family, family_of, own
from lineage_pipeline.dialects.typing.fitting import FITS
from lineage_pipeline.dialects.typing.nulls import GENERAL, NULLS
from lineage_pipeline.dialects.typing.results import COMMON, CONSTANTS
from lineage_pipeline.dialects.typing.rowsets import COUNTING, ROWSETS
from lineage_pipeline.dialects.typing.widening import unsized

MANY = 20_000
"""How many answers are kept."""

ROWS: dict[str, dict[str, Rule]] = {
    "spark": spark.ROWS,
    "hive": spark.ROWS,
    "duckdb": duckdb.ROWS,
    "postgres": postgres.ROWS,
    "tsql": tsql.ROWS,
    "snowflake": snowflake.ROWS,
    "bigquery": bigquery.ROWS,
    **servers.ROWS,
}
"""The rows that families add to the common ones."""


MORE_CONSTANTS: dict[str, frozenset[str]] = {
    "duckdb": duckdb.CONSTANTS,
    "postgres": postgres.CONSTANTS,
    "tsql": tsql.CONSTANTS,
    "snowflake": snowflake.CONSTANTS,
    **servers.CONSTANTS,
}
"""Operators whose type depends on the values of constants in one family."""


class Typing:
    """What a family knows of types."""

    def __init__(self, name: str) -> None:
        """Put the rows of a family together."""
        self.family: Family = family_of(name)
        self.rules: dict[str, Rule] = {**COMMON, **documented(name), **ROWS.get(name, {})}
        self.nulls = NULLS.get(name, GENERAL)
        self.lenient = name in LENIENT
        self.constants = CONSTANTS | MORE_CONSTANTS.get(name, frozenset())
        self.rowsets = ROWSETS.get(name, {})
        self.counting = COUNTING.get(name, frozenset())
        self.fits = name if name in FITS else ""
        self.known: dict[tuple[str, Types, Texts], str | None] = {}

    def result(self, op: str, types: Types, texts: Texts, otherwise: str) -> str | None:
        """The type that an operator gives; without a rule it is the one that is known beforehand."""
        rule = self.rules.get(op)
        if rule is None and self.family.nothing:
            return clickhouse_rules.kept(types, clickhouse_rules.bare(otherwise) or None)
        if rule is None:
            return self.family.results.get(otherwise, otherwise) or None
        key = (op, types, texts)
        if key in self.known:
            return self.known[key]
        if len(self.known) > MANY:
            self.known.clear()
        name = self.family.name
        spelled = tuple([own(kind, name) if kind is not None else None for kind in types])
        found = rule(self.family, spelled, texts)
        if found is not None and not self.family.sized and op not in postgres.KEPT:
            found = unsized(found)
        self.known[key] = found
        return found


_TYPINGS: dict[str, Typing] = {}


def typing_of(name: str) -> Typing:
    """What is known of the types of a family."""
    known = _TYPINGS.get(name)
    if known is None:
        known = _TYPINGS[name] = Typing(name)
    return known
