"""Nullability: which operators and functions may return null; whatever has no row may."""

import msgspec

from lineage_pipeline.dialects.types.common_rules import split_names


class NullRules(msgspec.Struct, frozen=True):
    """When the result of each operator may be null, in one family; an operator without a row always may be."""

    never: frozenset[str]
    """Operators whose result is never null: COUNT."""
    where_all: frozenset[str]
    """Operators whose result is null only where every argument is: COALESCE."""
    where_any: frozenset[str]
    """Operators whose result is null only where an argument is, or a conversion fails: UPPER."""
    by_argument: dict[str, tuple[int, ...]] = {}
    """Operators whose result is null only where one of these arguments, by position, is."""
    reads: dict[str, str] = {}
    """Operators of `where_any` that convert their first argument to this type, which may fail and give null."""
    formatted: frozenset[str] = frozenset()
    """Operators of `reads` whose conversion cannot give null where a second argument is the format."""
    fails_on: dict[str, frozenset[str]] = {}
    """Operators of `where_any` that give null for some values of a first argument of these types."""
    parts: dict[str, dict[str, str]] = {}
    """Operators of `where_any` that convert their second argument to the type that the unit in the first needs."""
    converts: frozenset[str] = frozenset()
    """Operators of `where_any` that may have to convert any of their arguments."""
    of_spans: frozenset[str] = frozenset()
    """Operators that belong to `where_any` only where their first argument is an interval."""
    recursion: bool = False
    """Every column of a recursive CTE may be null."""


_NEVER_NULL = split_names(
    "COUNT COUNT_BIG COUNTIF APPROXDISTINCT ROWNUMBER RANK DENSERANK NTILE IS EXISTS GROUPING NULLSAFEEQ NULLSAFENEQ "
    "ZEROIFNULL"
)
NULL_IF_ALL = split_names("COALESCE IFNULL NVL ISNULL")
"""Operators whose result is null only where every argument is, in every engine."""
_EXTREMES = split_names("GREATEST LEAST")
"""The largest or smallest argument: null where any argument is, but for engines that pass over nulls."""
_NULL_IF_ANY = split_names(
    "ADD SUB MUL AND OR NOT NEG EQ NEQ GT GTE LT LTE LIKE ILIKE UPPER LOWER TRIM CONCAT ABS ROUND DATEDIFF "
    "DATEADD DATESUB SUBSTRING LENGTH REPLACE YEAR MONTH DAY CEIL FLOOR EXTRACT DATETRUNC TIMESTRTOTIME "
    "TSORDSTODATE TIMESTAMPTRUNC DPIPE"
)
WRAPPER_FUNCTIONS: dict[str, tuple[int, ...]] = dict.fromkeys(
    "FILTER DISTINCT ORDER WITHINGROUP IGNORENULLS RESPECTNULLS LIMIT PAREN".split(), (0,)
)
"""Operators around an aggregate or a value, whose result is null where that is."""

GENERAL_NULL_RULES = NullRules(
    never=_NEVER_NULL, where_all=NULL_IF_ALL, where_any=_NULL_IF_ANY | _EXTREMES, by_argument=WRAPPER_FUNCTIONS
)
"""What holds in most engines."""

NULL_SKIPPING_RULES = NullRules(
    never=_NEVER_NULL, where_all=NULL_IF_ALL | _EXTREMES, where_any=_NULL_IF_ANY, by_argument=WRAPPER_FUNCTIONS
)
"""What holds where GREATEST and LEAST pass over nulls (PostgreSQL, Redshift, DuckDB, SQL Server, ClickHouse)."""
