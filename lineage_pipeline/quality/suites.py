"""What must hold for the rows of each table, as data, and the queries that prepare columns for it.

Keys, nulls and closed sets follow from the table definitions; `PROPERTIES` adds what only a table itself knows.
A prepared column says whether a row agrees with its neighbors or with another table. Properties of a set (rows that
are missing, edges that were lost) are looked for in a frame of their own, which has a row for each thing that must be
there. One query serves DuckDB (pandas and Arrow frames) and Spark; `{name}` is a table of the same snapshot.
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

    Only a blocking check stops the run. A column that starts with `_` is added by a preparation: that of the table, or
    the one that `frame` names.
    """

    name: str
    expectation: str
    arguments: dict[str, Any]
    severity: Level = Level.ERROR
    blocking: bool = True
    frame: str = ""


def expect_true(name: str, column: str, *, frame: str = "", mostly: float = 1.0) -> TableCheck:
    """Build the check that a prepared column is true in every row, or at least in a share of the rows."""
    arguments: dict[str, Any] = {"column": column, "value_set": [True]}
    if mostly < 1:
        arguments["mostly"] = mostly
    return TableCheck(name=name, expectation="ColumnValuesToBeInSet", arguments=arguments, frame=frame)


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
        expect_true("files_are_known", "_file_known"),
        expect_true("files_have_statements", "_has_statements", frame="files", mostly=0.5),
        expect_true("bytes_are_within_their_file", "_within_file", frame="files"),
        expect_minimum("bytes", 0),
        expect_minimum("complexity", 0),
    ),
    "objects": (expect_minimum("level", 0),),
    "object_edges": (
        expect_true("from_ends_in_a_known_object", "_from_known"),
        expect_true("to_ends_in_a_known_object", "_to_known"),
        expect_true("to_is_written_by_what_reads_from", "_to_written"),
        expect_true("what_is_read_feeds_what_is_written", "_has_edge", frame="fed_objects", mostly=0.6),
    ),
    "object_statements": (
        expect_true("objects_are_known", "_object_known"),
        expect_true("statements_are_known", "_statement_known"),
        expect_true("statements_have_their_objects", "_has_objects", frame="named_statements"),
    ),
    "columns": (
        expect_true("ordinals_are_contiguous_from_1", "_contiguous"),
        expect_true("objects_are_known", "_object_known"),
    ),
    "column_edges": (
        expect_true("from_ends_in_a_known_column", "_from_known"),
        expect_true("to_ends_in_a_known_column", "_to_known"),
        expect_true("to_is_written_by_the_statement", "_to_written"),
        expect_true("statements_are_known", "_statement_known"),
        expect_true("type_fits_subtype", "_type_fits"),
        expect_true("writing_statements_have_edges", "_has_edges", frame="writing_statements", mostly=0.6),
    ),
    "facets": (expect_true("statements_are_known", "_statement_known"),),
    "column_reach": (
        expect_true("columns_are_known", "_column_known"),
        expect_true("every_column_is_counted", "_counted", frame="counted_columns"),
        expect_true("upstream_agrees_with_the_edges", "_upstream_agrees", frame="counted_columns"),
        expect_true("downstream_agrees_with_the_edges", "_downstream_agrees", frame="counted_columns"),
        expect_true("all_is_at_least_direct", "_all_agrees", frame="counted_columns"),
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
    """Return the columns that the suite of a table reads in its own rows, without those that are prepared."""
    used = [name for check in SUITES[table] if not check.frame for name in _check_columns(check)]
    return [name for name in dict.fromkeys((*TABLES[table].key, *used)) if not name.startswith("_")]


def _check_columns(check: TableCheck) -> list[str]:
    listed: list[str] = check.arguments.get("column_list", [])
    return listed or [check.arguments["column"]]


DataFrame: TypeAlias = Any
"""A pandas or Spark DataFrame, or an Arrow table; Spark is recognized without importing it."""


class Preparation(msgspec.Struct, frozen=True):
    """A query that adds columns to a table, or makes a frame of its own, and the columns of other tables it reads.

    `key` names a row of a frame of its own.
    """

    sql: str
    needs: dict[str, tuple[str, ...]] = {}
    key: tuple[str, ...] = ()


# A statement writes what its edges lead to; those of the statements inside a module may lead to its parameters.
# `?` feeds what was not resolved, statement-wide edges end in `*`, and an open object has more columns than are known.
EDGES_WITH_ENDS = """
with known as (select distinct object, name from {columns}),
owners as (
    select
        object,
        max(open) as is_open,
        max(case when kind in ('procedure', 'function', 'trigger') then 1 else 0 end) as is_module
    from {objects}
    group by object
),
written as (
    select distinct object, path, ordinal
    from {object_statements}
    where role in ('define', 'alter', 'write', 'call')
),
placed as (select distinct path, ordinal from {statements})
select
    edges.*,
    edges.from_object = '?'
        or source.name is not null
        or coalesce(producer.is_open, false)
        or (edges.from_column = '*' and producer.object is not null) as _from_known,
    target.name is not null
        or coalesce(consumer.is_open, false)
        or (edges.to_column = '*' and consumer.object is not null) as _to_known,
    written.object is not null or coalesce(consumer.is_module, 0) = 1 as _to_written,
    placed.path is not null as _statement_known,
    case
        when edges.type = 'DIRECT' then edges.subtype in ('IDENTITY', 'TRANSFORMATION', 'AGGREGATION')
        else edges.subtype not in ('IDENTITY', 'TRANSFORMATION', 'AGGREGATION')
    end as _type_fits
from {column_edges} as edges
left join known as source on source.object = edges.from_object and source.name = edges.from_column
left join known as target on target.object = edges.to_object and target.name = edges.to_column
left join owners as producer on producer.object = edges.from_object
left join owners as consumer on consumer.object = edges.to_object
left join written
    on written.object = edges.to_object and written.path = edges.path and written.ordinal = edges.statement
left join placed on placed.path = edges.path and placed.ordinal = edges.statement
"""

# A statement without edges copies columns only (LIKE, COPY), writes constants, or has a finding; temporary tables have
# their edges where a lasting object is filled from them.
STATEMENTS_WITH_EDGES = """
with lasting as (
    select distinct parts.path, parts.ordinal
    from {object_statements} as parts
    inner join {objects} as objects on objects.object = parts.object and not objects.temporary
    where parts.role in ('define', 'write')
),
reading as (select distinct path, ordinal from {object_statements} where role = 'read'),
fed as (select distinct path, statement from {column_edges})
select own.path, own.ordinal, fed.path is not null or count(*) over () < {few} as _has_edges
from {statements} as own
inner join lasting on lasting.path = own.path and lasting.ordinal = own.ordinal
inner join reading on reading.path = own.path and reading.ordinal = own.ordinal
left join fed on fed.path = own.path and fed.statement = own.ordinal
where own.status = 'analysed'
"""

OBJECT_EDGES_WITH_ENDS = """
with known as (
    select object, max(case when kind in ('procedure', 'function', 'trigger') then 1 else 0 end) as is_module
    from {objects}
    group by object
),
pairs as (
    select distinct near.object as from_object, written.object as to_object
    from {object_statements} as near
    inner join {object_statements} as written on written.path = near.path and written.ordinal = near.ordinal
    where written.role in ('define', 'alter', 'write')
)
select
    edges.*,
    edges.from_object = '?' or producer.object is not null as _from_known,
    consumer.object is not null as _to_known,
    edges.from_object = '?'
        or edges.kind = 'call'
        or coalesce(consumer.is_module, 0) = 1
        or pairs.to_object is not null as _to_written
from {object_edges} as edges
left join known as producer on producer.object = edges.from_object
left join known as consumer on consumer.object = edges.to_object
left join pairs on pairs.from_object = edges.from_object and pairs.to_object = edges.to_object
"""

# What a statement reads feeds what it writes.
OBJECTS_WITH_EDGES = """
with pairs as (
    select distinct reading.path, reading.ordinal, reading.object as from_object, written.object as to_object
    from {object_statements} as reading
    inner join {object_statements} as written on written.path = reading.path and written.ordinal = reading.ordinal
    where reading.role = 'read' and written.role in ('define', 'write') and reading.object <> written.object
),
joined as (select distinct from_object, to_object from {object_edges})
select pairs.*, joined.to_object is not null or count(*) over () < {few} as _has_edge
from pairs
left join joined on joined.from_object = pairs.from_object and joined.to_object = pairs.to_object
"""

OBJECT_STATEMENTS_WITH_ENDS = """
with known as (select distinct object from {objects}),
placed as (select distinct path, ordinal from {statements})
select
    own.*,
    known.object is not null as _object_known,
    placed.path is not null as _statement_known
from {object_statements} as own
left join known on known.object = own.object
left join placed on placed.path = own.path and placed.ordinal = own.ordinal
"""

STATEMENTS_WITH_OBJECTS = """
with part as (select distinct path, ordinal from {object_statements})
select own.path, own.ordinal, part.path is not null as _has_objects
from {statements} as own
left join part on part.path = own.path and part.ordinal = own.ordinal
where own.target is not null
"""

FACETS_WITH_STATEMENTS = """
with placed as (select distinct path, ordinal from {statements})
select own.*, placed.path is not null as _statement_known
from {facets} as own
left join placed on placed.path = own.path and placed.ordinal = own.statement
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
with known as (select distinct path, ordinal from {statements}),
files as (select distinct path from {sql_files})
select
    own.*,
    min(own.ordinal) over (partition by own.path) = 0
        and max(own.ordinal) over (partition by own.path) = count(*) over (partition by own.path) - 1 as _contiguous,
    own.parent is null or known.path is not null as _parent_known,
    files.path is not null as _file_known
from {statements} as own
left join known on known.path = own.path and known.ordinal = own.parent
left join files on files.path = own.path
"""

# What a template writes may be longer than the template; a file of nothing but remarks has no statement.
FILES_WITH_STATEMENTS = """
with counted as (select path, sum(bytes) as bytes from {statements} group by path)
select
    files.path,
    counted.path is not null or count(*) over () < {few} as _has_statements,
    files.templater <> '' or coalesce(counted.bytes, 0) <= files.bytes as _within_file
from {sql_files} as files
left join counted on counted.path = files.path
where files.status = 'analysed' and files.templater <> 'schema' and files.bytes > 0
"""

REACH_WITH_COLUMNS = """
with known as (select distinct object, ordinal, name from {columns})
select own.*, known.object is not null as _column_known
from {column_reach} as own
left join known on known.object = own.object and known.ordinal = own.ordinal and known.name = own.name
"""

# The reach of a column is counted from its edges: it is 0 where there are none, and never less than their number. Any
# column of an object may pass through a star over it.
COLUMNS_WITH_REACH = """
with direct as (
    select distinct from_object, from_column, to_object, to_column
    from {column_edges}
    where type = 'DIRECT' and not (from_object = to_object and from_column = to_column)
),
fed as (
    select to_object as object, to_column as name, sum(case when from_column = '*' then 0 else 1 end) as edges
    from direct
    group by to_object, to_column
),
feeding as (
    select from_object as object, from_column as name, sum(case when to_column = '*' then 0 else 1 end) as edges
    from direct
    group by from_object, from_column
),
starred as (select distinct from_object as object from direct where from_column = '*'),
filled as (select distinct to_object as object from direct where to_column = '*')
select
    known.object,
    known.ordinal,
    own.object is not null as _counted,
    own.object is null
        or (filled.object is not null or (own.direct_upstream_columns > 0) = (fed.edges is not null))
        and (not own.exact or own.direct_upstream_columns >= coalesce(fed.edges, 0)) as _upstream_agrees,
    own.object is null
        or (starred.object is not null or (own.direct_downstream_columns > 0) = (feeding.edges is not null))
        and (not own.exact or own.direct_downstream_columns >= coalesce(feeding.edges, 0)) as _downstream_agrees,
    own.object is null
        or not own.exact
        or own.all_upstream_columns >= own.direct_upstream_columns
        and own.all_downstream_columns >= own.direct_downstream_columns
        and own.direct_upstream_objects <= own.direct_upstream_columns
        and own.direct_downstream_objects <= own.direct_downstream_columns
        and own.direct_leaves <= own.direct_downstream_columns as _all_agrees
from {columns} as known
left join {column_reach} as own on own.object = known.object and own.ordinal = known.ordinal
left join fed on fed.object = known.object and fed.name = known.name
left join feeding on feeding.object = known.object and feeding.name = known.name
left join starred on starred.object = known.object
left join filled on filled.object = known.object
"""

CHANGES_WITH_ROOTS = """
with known as (select distinct id from {changes} where root)
select own.*, known.id is not null and (not own.root or own.root_id = own.id) as _root_known
from {changes} as own
left join known on known.id = own.root_id
"""

FEW_ROWS = 20
"""Below this, a share of the rows says nothing: one `CREATE TABLE t LIKE s` may be all that there is."""

PREPARATIONS: dict[str, Preparation] = {
    "statements": Preparation(STATEMENTS_IN_ORDER, {"statements": ("parent",), "sql_files": ("path",)}),
    "files": Preparation(
        FILES_WITH_STATEMENTS,
        {"sql_files": ("path", "bytes", "templater", "status"), "statements": ("path", "bytes")},
        ("path",),
    ),
    "object_edges": Preparation(
        OBJECT_EDGES_WITH_ENDS,
        {"objects": ("object", "kind"), "object_statements": ("object", "path", "ordinal", "role")},
    ),
    "fed_objects": Preparation(
        OBJECTS_WITH_EDGES,
        {"object_edges": ("from_object", "to_object"), "object_statements": ("object", "path", "ordinal", "role")},
        ("path", "ordinal", "from_object", "to_object"),
    ),
    "object_statements": Preparation(
        OBJECT_STATEMENTS_WITH_ENDS, {"objects": ("object",), "statements": ("path", "ordinal")}
    ),
    "named_statements": Preparation(
        STATEMENTS_WITH_OBJECTS,
        {"statements": ("path", "ordinal", "target"), "object_statements": ("path", "ordinal")},
        ("path", "ordinal"),
    ),
    "columns": Preparation(COLUMNS_IN_ORDER, {"objects": ("object",)}),
    "column_edges": Preparation(
        EDGES_WITH_ENDS,
        {
            "columns": ("object", "name"),
            "objects": ("object", "open", "kind"),
            "object_statements": ("object", "path", "ordinal", "role"),
            "statements": ("path", "ordinal"),
        },
    ),
    "writing_statements": Preparation(
        STATEMENTS_WITH_EDGES,
        {
            "statements": ("path", "ordinal", "status"),
            "objects": ("object", "temporary"),
            "object_statements": ("object", "path", "ordinal", "role"),
            "column_edges": ("path", "statement"),
        },
        ("path", "ordinal"),
    ),
    "facets": Preparation(FACETS_WITH_STATEMENTS, {"statements": ("path", "ordinal")}),
    "changes": Preparation(CHANGES_WITH_ROOTS, {"changes": ("root", "root_id")}),
    "column_reach": Preparation(REACH_WITH_COLUMNS, {"columns": ("object", "ordinal", "name")}),
    "counted_columns": Preparation(
        COLUMNS_WITH_REACH,
        {
            "columns": ("object", "ordinal", "name"),
            "column_edges": ("from_object", "from_column", "to_object", "to_column", "type"),
            "column_reach": ("object", "ordinal", "exact", *REACH_COLUMNS),
        },
        ("object", "ordinal"),
    ),
}
"""The preparations of tables by their names, and those of frames of their own."""


def list_frames(table: str) -> list[str]:
    """Return the names of the frames in which the suite of a table looks: the table itself, then others."""
    return list(dict.fromkeys((table, *(check.frame for check in SUITES[table] if check.frame))))


def required_columns(table: str) -> dict[str, list[str]]:
    """Return which columns of which tables are needed to check `table`."""
    wanted = {table: suite_columns(table)}
    for frame in list_frames(table):
        for other, names in PREPARATIONS.get(frame, Preparation("")).needs.items():
            wanted[other] = list(dict.fromkeys((*wanted.get(other, []), *names)))
    return wanted


def prepare_frames(table: str, frames: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Return the frames that the suite of a table looks at, pandas or Spark, with their prepared columns."""
    narrow = {name: _select_columns(frames[name], wanted) for name, wanted in required_columns(table).items()}
    return {frame: _prepare_frame(frame, narrow, is_spark_frame(narrow[table])) for frame in list_frames(table)}


def _prepare_frame(frame: str, narrow: Mapping[str, DataFrame], on_spark: bool) -> DataFrame:
    if frame not in PREPARATIONS:
        return _to_pandas(narrow[frame])
    preparation = PREPARATIONS[frame]
    sql = preparation.sql.replace("{few}", str(FEW_ROWS))
    tables = {name: given for name, given in narrow.items() if f"{{{name}}}" in sql}
    if on_spark:
        return next(iter(tables.values())).sparkSession.sql(sql, **tables)
    return _run_query(sql, tables)


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
