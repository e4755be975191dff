"""What must hold for the rows of each table, as data, and the queries that prepare columns for it.

Keys, nulls and closed sets follow from the table definitions; `PROPERTIES` adds what only a table itself knows.
A prepared column says whether a row agrees with its neighbors or with another table. One query serves DuckDB (pandas
and Arrow frames) and Spark; `{name}` is a table of the same snapshot.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

from lineage_pipeline.model.enums import Level
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.tables import TABLES, Table

NAME_COLUMNS = ("name", "written", "rule", "code")


class TableCheck(msgspec.Struct, frozen=True):
    """A property: its name, the expectation that tests it, and the severity of its failure.

    Only a blocking check stops the run. A column that starts with `_` is added by the table's preparation.
    """

    name: str
    expectation: str
    arguments: dict[str, Any]
    severity: Level = Level.ERROR
    blocking: bool = True


def expect_true(name: str, column: str, severity: Level = Level.ERROR, blocking: bool = True) -> TableCheck:
    """Build the check that a prepared column is true in every row."""
    return TableCheck(
        name=name,
        expectation="ColumnValuesToBeInSet",
        arguments={"column": column, "value_set": [True]},
        severity=severity,
        blocking=blocking,
    )


def expect_minimum(column: str, minimum: int) -> TableCheck:
    """Build the check that a number is not below `minimum`."""
    return TableCheck(
        f"{column}_is_at_least_{minimum}", "ColumnValuesToBeBetween", {"column": column, "min_value": minimum}
    )


def expect_member(column: str, words: list[str]) -> TableCheck:
    """Build the check that a value belongs to its closed set."""
    return TableCheck(f"{column}_is_a_known_word", "ColumnValuesToBeInSet", {"column": column, "value_set": words})


def expect_not_null(column: str) -> TableCheck:
    """Build the check that a column always has a value."""
    return TableCheck(f"{column}_is_never_null", "ColumnValuesToNotBeNull", {"column": column})


REACH_COLUMNS = tuple(
    field for field in TABLES["column_reach"].row.__struct_fields__ if field.startswith(("direct_", "all_"))
)

PROPERTIES: dict[str, tuple[TableCheck, ...]] = {
    "sql_files": (expect_minimum("bytes", 0),),
    "statements": (
        expect_true("ordinals_are_contiguous_from_0", "_contiguous"),
        expect_true("parents_are_statements", "_parent_known"),
        expect_minimum("bytes", 0),
        expect_minimum("complexity", 0),
    ),
    "objects": (expect_minimum("level", 0),),
    "object_edges": (
        expect_true("from_ends_in_a_known_object", "_from_known"),
        expect_true("to_ends_in_a_known_object", "_to_known"),
    ),
    "columns": (
        expect_true("ordinals_are_contiguous_from_1", "_contiguous"),
        expect_true("objects_are_known", "_object_known"),
    ),
    "column_edges": (
        expect_true("from_ends_in_a_known_column", "_from_known"),
        expect_true("to_ends_in_a_known_column", "_to_known"),
    ),
    "column_reach": (
        expect_true("columns_are_known", "_column_known"),
        *(expect_minimum(column, 0) for column in REACH_COLUMNS),
    ),
    "diagnostics": (expect_member("code", sorted(CODES)),),
    "changes": (expect_true("roots_are_changes", "_root_known"),),
    "waivers": (
        TableCheck(
            "expires_is_a_day", "ColumnValuesToMatchRegex", {"column": "expires", "regex": r"^\d{4}-\d\d-\d\d$"}
        ),
    ),
}


def build_suite(table: Table) -> tuple[TableCheck, ...]:
    """Return the checks of a table: its key, its names, its closed sets, and its own properties."""
    info = inspect.type_info(table.row)
    assert isinstance(info, inspect.StructType)
    enums = {field.name: field.type.cls for field in info.fields if isinstance(field.type, inspect.EnumType)}
    optional = {field.name for field in info.fields if isinstance(field.type, inspect.UnionType)}
    named = [field.name for field in info.fields if field.name in (*table.key, *NAME_COLUMNS, *enums)]
    return (
        _expect_unique(table.key),
        *(expect_not_null(name) for name in named if name not in optional),
        *(expect_member(name, _enum_values(words)) for name, words in enums.items()),
        *PROPERTIES.get(table.name, ()),
    )


def _expect_unique(key: tuple[str, ...]) -> TableCheck:
    if len(key) == 1:
        return TableCheck("key_is_unique", "ColumnValuesToBeUnique", {"column": key[0]})
    columns = {"column_list": list(key), "ignore_row_if": "never"}
    return TableCheck("key_is_unique", "CompoundColumnsToBeUnique", columns)


def _enum_values(closed: type[Any]) -> list[str]:
    assert issubclass(closed, StrEnum)
    return [word.value for word in closed]


SUITES: dict[str, tuple[TableCheck, ...]] = {table.name: build_suite(table) for table in TABLES.values()}


def suite_columns(table: str) -> list[str]:
    """Return the columns that the suite of a table reads, without those that are prepared."""
    used = [name for check in SUITES[table] for name in _check_columns(check)]
    return [name for name in dict.fromkeys((*TABLES[table].key, *used)) if not name.startswith("_")]


def _check_columns(check: TableCheck) -> list[str]:
    listed: list[str] = check.arguments.get("column_list", [])
    return listed or [check.arguments["column"]]


DataFrame: TypeAlias = Any
"""A pandas or Spark DataFrame, or an Arrow table; Spark is recognized without importing it."""


class Preparation(msgspec.Struct, frozen=True):
    """A query that adds columns to a table, and the columns of other tables it reads."""

    sql: str
    needs: dict[str, tuple[str, ...]] = {}


# `?` feeds what was not resolved, statement-wide edges end in `*`, and an open object has more columns than are known.
EDGES_WITH_ENDS = """
with known as (select distinct object, name from {columns}),
owners as (select object, max(open) as is_open from {objects} group by object)
select
    edges.*,
    edges.from_object = '?'
        or source.name is not null
        or coalesce(producer.is_open, false)
        or (edges.from_column = '*' and producer.object is not null) as _from_known,
    target.name is not null
        or coalesce(consumer.is_open, false)
        or (edges.to_column = '*' and consumer.object is not null) as _to_known
from {column_edges} as edges
left join known as source on source.object = edges.from_object and source.name = edges.from_column
left join known as target on target.object = edges.to_object and target.name = edges.to_column
left join owners as producer on producer.object = edges.from_object
left join owners as consumer on consumer.object = edges.to_object
"""

OBJECT_EDGES_WITH_ENDS = """
with known as (select distinct object from {objects})
select
    edges.*,
    edges.from_object = '?' or producer.object is not null as _from_known,
    consumer.object is not null as _to_known
from {object_edges} as edges
left join known as producer on producer.object = edges.from_object
left join known as consumer on consumer.object = edges.to_object
"""

COLUMNS_IN_ORDER = """
with known as (select distinct object from {objects})
select
    own.*,
    min(own.ordinal) over (partition by own.object) = 1
        and max(own.ordinal) over (partition by own.object) = count(*) over (partition by own.object) as _contiguous,
    known.object is not null as _object_known
from {columns} as own
left join known on known.object = own.object
"""

STATEMENTS_IN_ORDER = """
with known as (select distinct path, ordinal from {statements})
select
    own.*,
    min(own.ordinal) over (partition by own.path) = 0
        and max(own.ordinal) over (partition by own.path) = count(*) over (partition by own.path) - 1 as _contiguous,
    own.parent is null or known.path is not null as _parent_known
from {statements} as own
left join known on known.path = own.path and known.ordinal = own.parent
"""

REACH_WITH_COLUMNS = """
with known as (select distinct object, ordinal, name from {columns})
select own.*, known.object is not null as _column_known
from {column_reach} as own
left join known on known.object = own.object and known.ordinal = own.ordinal and known.name = own.name
"""

CHANGES_WITH_ROOTS = """
with known as (select distinct id from {changes} where root)
select own.*, known.id is not null and (not own.root or own.root_id = own.id) as _root_known
from {changes} as own
left join known on known.id = own.root_id
"""

PREPARATIONS: dict[str, Preparation] = {
    "statements": Preparation(STATEMENTS_IN_ORDER, {"statements": ("parent",)}),
    "object_edges": Preparation(OBJECT_EDGES_WITH_ENDS, {"objects": ("object",)}),
    "columns": Preparation(COLUMNS_IN_ORDER, {"objects": ("object",)}),
    "column_edges": Preparation(EDGES_WITH_ENDS, {"columns": ("object", "name"), "objects": ("object", "open")}),
    "changes": Preparation(CHANGES_WITH_ROOTS, {"changes": ("root", "root_id")}),
    "column_reach": Preparation(REACH_WITH_COLUMNS, {"columns": ("object", "ordinal", "name")}),
}


def required_columns(table: str) -> dict[str, list[str]]:
    """Return which columns of which tables are needed to check `table`."""
    preparation = PREPARATIONS.get(table, Preparation(""))
    wanted = {table: suite_columns(table)}
    for other, names in preparation.needs.items():
        wanted[other] = list(dict.fromkeys((*wanted.get(other, []), *names)))
    return wanted


def prepare_table(table: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """Select the columns of a table's suite and add the prepared ones; returns a pandas or Spark frame."""
    narrow = {name: _select_columns(frames[name], wanted) for name, wanted in required_columns(table).items()}
    if table not in PREPARATIONS:
        return _to_pandas(narrow[table])
    sql = PREPARATIONS[table].sql
    if is_spark_frame(narrow[table]):
        return narrow[table].sparkSession.sql(sql, **narrow)
    return _run_query(sql, narrow)


def is_spark_frame(frame: DataFrame) -> bool:
    """Return whether a frame is a Spark DataFrame, by its session."""
    return hasattr(frame, "sparkSession")


def _select_columns(frame: DataFrame, names: list[str]) -> DataFrame:
    if is_spark_frame(frame):
        return frame.select(*names)
    return frame.select(names) if hasattr(frame, "to_pandas") else frame[names]


def _to_pandas(frame: DataFrame) -> DataFrame:
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def _run_query(sql: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    import duckdb

    with duckdb.connect() as connection:
        for name, frame in frames.items():
            connection.register(f"frame_{name}", frame)
        return connection.execute(sql.format(**{name: f"frame_{name}" for name in frames})).df()
