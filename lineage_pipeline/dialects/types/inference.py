"""Type inference of one family: common rules, documented functions and its own rules, with a cache."""

from lineage_pipeline.dialects.types import (
    bigquery,
    clickhouse,
    clickhouse_widening,
    duckdb,
    postgres,
    snowflake,
    spark,
    tsql,
)
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.coercion import FITS, NULL_ON_FAILURE, strip_size
from lineage_pipeline.dialects.types.common_rules import COMMON_RULES, CONSTANT_DEPENDENT_OPERATORS, split_names
from lineage_pipeline.dialects.types.documented_functions import documented_rules
from lineage_pipeline.dialects.types.families import TypeFamily, find_type_family, normalize_type
from lineage_pipeline.dialects.types.mysql import MYSQL_RULES
from lineage_pipeline.dialects.types.nullability import FAMILY_NULL_RULES, GENERAL_NULL_RULES
from lineage_pipeline.dialects.types.oracle import ORACLE_RULES
from lineage_pipeline.dialects.types.redshift import REDSHIFT_RULES
from lineage_pipeline.dialects.types.table_function_types import COUNTING_FUNCTIONS, TABLE_FUNCTION_TYPES
from lineage_pipeline.dialects.types.trino import TRINO_RULES

SERVER_RULES: dict[str, dict[str, TypeRule]] = {
    "oracle": ORACLE_RULES,
    "mysql": MYSQL_RULES,
    "redshift": REDSHIFT_RULES,
    "trino": TRINO_RULES,
    "clickhouse": clickhouse.CLICKHOUSE_RULES,
}
"""Rules of the families Oracle, MySQL, Redshift, Trino and ClickHouse."""

SERVER_CONSTANT_OPERATORS: dict[str, frozenset[str]] = {
    "mysql": split_names("DATEADD DATESUB TIMESTAMPADD TSORDSADD TRUNC"),
    "clickhouse": clickhouse.CLICKHOUSE_CONSTANT_OPERATORS,
}
"""Operators of these families whose type also depends on the values of constants."""


MAX_CACHED_RESULTS = 20_000
"""How many results are cached."""

FAMILY_RULES: dict[str, dict[str, TypeRule]] = {
    "spark": spark.SPARK_RULES,
    "hive": spark.SPARK_RULES,
    "duckdb": duckdb.DUCKDB_RULES,
    "postgres": postgres.POSTGRES_RULES,
    "tsql": tsql.TSQL_RULES,
    "snowflake": snowflake.SNOWFLAKE_RULES,
    "bigquery": bigquery.BIGQUERY_RULES,
    **SERVER_RULES,
}
"""Rules that families add to the common ones."""


FAMILY_CONSTANT_OPERATORS: dict[str, frozenset[str]] = {
    "duckdb": duckdb.DUCKDB_CONSTANT_OPERATORS,
    "postgres": postgres.POSTGRES_CONSTANT_OPERATORS,
    "tsql": tsql.TSQL_CONSTANT_OPERATORS,
    "snowflake": snowflake.SNOWFLAKE_CONSTANT_OPERATORS,
    **SERVER_CONSTANT_OPERATORS,
}
"""Operators whose type depends on the values of constants in one family."""


class TypeInference:
    """Result types of operators and functions in one family."""

    def __init__(self, name: str) -> None:
        """Collect the rules of a family."""
        self.family: TypeFamily = find_type_family(name)
        self.rules: dict[str, TypeRule] = {**COMMON_RULES, **documented_rules(name), **FAMILY_RULES.get(name, {})}
        self.nulls = FAMILY_NULL_RULES.get(name, GENERAL_NULL_RULES)
        self.lenient = name in NULL_ON_FAILURE
        self.constants = CONSTANT_DEPENDENT_OPERATORS | FAMILY_CONSTANT_OPERATORS.get(name, frozenset())
        self.rowsets = TABLE_FUNCTION_TYPES.get(name, {})
        self.counting = COUNTING_FUNCTIONS.get(name, frozenset())
        self.fits = name if name in FITS else ""
        self.known: dict[tuple[str, ArgumentTypes, ConstantTexts], str | None] = {}

    def infer_result(self, op: str, types: ArgumentTypes, texts: ConstantTexts, otherwise: str) -> str | None:
        """Return the result type of an operator; without a rule it is the parser's."""
        rule = self.rules.get(op)
        if rule is None and self.family.nothing:
            return clickhouse_widening.propagate_nullability(types, clickhouse_widening.unwrap_type(otherwise) or None)
        if rule is None:
            return self.family.results.get(otherwise, otherwise) or None
        key = (op, types, texts)
        if key in self.known:
            return self.known[key]
        if len(self.known) > MAX_CACHED_RESULTS:
            self.known.clear()
        name = self.family.name
        spelled = tuple([normalize_type(kind, name) if kind is not None else None for kind in types])
        found = rule(self.family, spelled, texts)
        if found is not None and not self.family.sized and op not in postgres.SIZE_PRESERVING_OPERATORS:
            found = strip_size(found)
        self.known[key] = found
        return found


_INFERENCES: dict[str, TypeInference] = {}


def inference_for(name: str) -> TypeInference:
    """Return the type inference of a family, cached."""
    known = _INFERENCES.get(name)
    if known is None:
        known = _INFERENCES[name] = TypeInference(name)
    return known
