"""The suites name the broken property of a table and the rows that break it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from lineage_pipeline.model.enums import (
    Confidence,
    EdgeKind,
    EdgeType,
    Level,
    ObjectKind,
    Origin,
    Role,
    Scope,
    Severity,
    Stage,
    Status,
    Subtype,
)
from lineage_pipeline.model.tables import (
    TABLES,
    Change,
    Column,
    ColumnEdge,
    ColumnReach,
    Diagnostic,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    SqlFile,
    StatementRow,
    Waiver,
)
from lineage_pipeline.quality.checks import CheckResult, check_table
from lineage_pipeline.quality.suites import SUITES, required_columns, suite_columns
from lineage_pipeline.store.row_conversion import rows_to_arrow
from lineage_pipeline.store.table_schemas import address_columns, arrow_schema

OBJECT = ObjectRow(
    "raw", "", "", "", "raw", "raw", ObjectKind.TABLE, Origin.IMPORTED, 0, False, False, None, None, (), ()
)
COLUMN = Column("raw", 1, "id", "id", "INT", False, Origin.IMPORTED, False, None, None, (), None)
EDGE = ColumnEdge(
    *("a.sql", 0, "raw", "id", None, "core", "id", EdgeType.DIRECT, Subtype.IDENTITY),
    *(False, False, False, "id", None, None, (), ()),
)
STATEMENT = StatementRow("a.sql", 0, None, "SELECT", None, (), (), "select", "f", None, 6, Status.ANALYSED, 0, ())
REACH = ColumnReach("raw", 1, "id", 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, True)
FILE = SqlFile("a.sql", "", "postgres", "h", 100, "utf-8", "", Status.ANALYSED, ())
CHANGE = Change(
    id="1",
    rule="COL001",
    object="raw",
    column="id",
    intrinsic=Severity.BREAKING,
    effective=Severity.NON_BREAKING,
    confidence=Confidence.CERTAIN,
    scope=Scope.INTERFACE,
    root=True,
    root_id="1",
    consumers=(),
    before="id INT",
    after=None,
    path="a.sql",
    line=1,
    fingerprint="f",
    waiver=None,
)
WAIVER = Waiver(
    id="w", rule="COL*", object="raw.*", reason="agreed", owner="a@example.org", expires="2026-12-31", path="w.toml"
)
FINDING = Diagnostic("1", "PARSE_ERROR", Level.ERROR, "no", "a.sql", 1, 1, None, Stage.PARSING)


def make_change_row(row: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(row, **fields)


OBJECTS = [
    OBJECT,
    make_change_row(OBJECT, object="core", name="core", open=False),
    make_change_row(OBJECT, object="open", open=True),
]
COLUMNS = [COLUMN, make_change_row(COLUMN, ordinal=2, name="name"), make_change_row(COLUMN, object="core")]

SOUND: dict[str, list[Any]] = {
    "sql_files": [make_change_row(FILE, path=f"{name}.sql") for name in "abc"],
    "object_statements": [
        ObjectStatement("core", "a.sql", 0, Role.WRITE),
        ObjectStatement("raw", "a.sql", 0, Role.READ),
    ],
    "objects": OBJECTS,
    "columns": COLUMNS,
    "statements": [
        STATEMENT,
        make_change_row(STATEMENT, ordinal=1, parent=0),
        make_change_row(STATEMENT, path="b.sql"),
    ],
    "object_edges": [ObjectEdge("raw", "core", EdgeKind.READ, ()), ObjectEdge("?", "core", EdgeKind.READ, ())],
    "column_edges": [
        EDGE,
        make_change_row(EDGE, from_path="street"),
        make_change_row(EDGE, from_object="?", from_column="mystery"),
        make_change_row(EDGE, to_column="*", type=EdgeType.INDIRECT, subtype=Subtype.FILTER),
        make_change_row(EDGE, from_object="open", from_column="anything"),
    ],
    "column_reach": [
        REACH,
        ColumnReach("raw", 2, "name", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, True),
        ColumnReach("core", 1, "id", 3, 3, 1, 0, 0, 0, 0, 3, 3, 0, 0, True),
    ],
    "diagnostics": [FINDING],
}

# table, the rows that are added to the sound ones, and the properties that they break
BROKEN: tuple[tuple[str, list[Any], set[str]], ...] = (
    ("objects", [OBJECT], {"key_is_unique"}),
    ("objects", [make_change_row(OBJECT, object="x", level=-1)], {"level_is_at_least_0"}),
    ("columns", [make_change_row(COLUMN, ordinal=4, name="late")], {"ordinals_are_contiguous_from_1"}),
    ("columns", [make_change_row(COLUMN, object="core", ordinal=0)], {"ordinals_are_contiguous_from_1"}),
    ("columns", [make_change_row(COLUMN, object="nowhere")], {"objects_are_known"}),
    ("statements", [make_change_row(STATEMENT, ordinal=3)], {"ordinals_are_contiguous_from_0"}),
    ("statements", [make_change_row(STATEMENT, path="c.sql", parent=7)], {"parents_are_statements"}),
    ("statements", [make_change_row(STATEMENT, path="c.sql", bytes=-1)], {"bytes_is_at_least_0"}),
    ("statements", [make_change_row(STATEMENT, path="c.sql", status="lost")], {"status_is_a_known_word"}),
    (
        "object_edges",
        [ObjectEdge("nowhere", "core", EdgeKind.READ, ())],
        {"from_ends_in_a_known_object", "to_is_written_by_what_reads_from"},
    ),
    (
        "object_edges",
        [ObjectEdge("raw", "?", EdgeKind.WRITE, ())],
        {"to_ends_in_a_known_object", "to_is_written_by_what_reads_from"},
    ),
    ("object_edges", [ObjectEdge("core", "raw", EdgeKind.READ, ())], {"to_is_written_by_what_reads_from"}),
    ("object_statements", [ObjectStatement("core", "a.sql", 7, Role.READ)], {"statements_are_known"}),
    ("column_edges", [EDGE], {"key_is_unique"}),
    ("column_edges", [make_change_row(EDGE, from_column="no")], {"from_ends_in_a_known_column"}),
    (
        "column_edges",
        [make_change_row(EDGE, to_object="no", to_column="*")],
        {"to_ends_in_a_known_column", "to_is_written_by_the_statement"},
    ),
    ("column_edges", [make_change_row(EDGE, subtype="MAGIC")], {"subtype_is_a_known_word", "type_fits_subtype"}),
    ("column_edges", [make_change_row(EDGE, subtype=Subtype.FILTER)], {"type_fits_subtype"}),
    ("column_edges", [make_change_row(EDGE, path="z.sql")], {"statements_are_known", "to_is_written_by_the_statement"}),
    (
        "column_reach",
        [make_change_row(REACH, all_upstream_columns=-1)],
        {"key_is_unique", "all_upstream_columns_is_at_least_0", "all_is_at_least_direct"},
    ),
    ("column_reach", [make_change_row(REACH, ordinal=9)], {"columns_are_known"}),
    ("diagnostics", [make_change_row(FINDING, id="2", code="OOPS")], {"code_is_a_known_word"}),
    ("changes", [CHANGE, make_change_row(CHANGE, id="2", root=False, root_id="1")], set()),
    ("changes", [CHANGE, make_change_row(CHANGE, id="2", root=False, root_id="3")], {"roots_are_changes"}),
    ("changes", [CHANGE, make_change_row(CHANGE, id="2", root_id="1")], {"roots_are_changes"}),
    ("waivers", [WAIVER], set()),
    ("waivers", [make_change_row(WAIVER, expires="soon")], {"expires_is_a_day"}),
)


def make_frame(table: str, rows: Sequence[Any]) -> pa.Table:
    return (
        rows_to_arrow(table, ["a@1"] * len(address_columns(table)), rows) if rows else arrow_schema(table).empty_table()
    )


def run_suite(table: str, extra: Sequence[Any] = ()) -> tuple[CheckResult, ...]:
    frames = {name: make_frame(name, SOUND.get(name, ())) for name in TABLES}
    return check_table(table, {**frames, table: make_frame(table, [*SOUND.get(table, ()), *extra])})


@pytest.mark.pipeline
@pytest.mark.parametrize("table", TABLES)
def test_a_sound_table_passes_every_check(table: str) -> None:
    results = run_suite(table)
    assert [result.check for result in results] == [row.name for row in SUITES[table]]
    assert [result for result in results if not result.passed] == []


@pytest.mark.pipeline
@pytest.mark.parametrize(
    ("table", "extra", "expected"),
    BROKEN,
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value)[:60],
)
def test_a_broken_row_breaks_its_property_and_no_other(table: str, extra: list[Any], expected: set[str]) -> None:
    assert {result.check for result in run_suite(table, extra) if not result.passed} == expected


@pytest.mark.pipeline
def test_a_failure_says_how_many_rows_and_shows_some() -> None:
    extra = [make_change_row(EDGE, from_path=str(number), from_column="no") for number in range(7)]
    (failure,) = (result for result in run_suite("column_edges", extra) if not result.passed)
    assert (failure.table, failure.severity, failure.blocking) == ("column_edges", Level.ERROR, True)
    assert (failure.unexpected, failure.observed) == (7, "fails in 7 of 12 rows")
    sample = json.loads(failure.sample)
    assert len(sample) == 5
    assert sample[0]["from_column"] == "no"


@pytest.mark.pipeline
def test_a_null_is_found_in_a_foreign_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    names = suite_columns("constraints")
    rows = pandas.DataFrame([dict.fromkeys(names, "x"), dict.fromkeys(names, None)])
    failed = {result.check for result in check_table("constraints", {"constraints": rows}) if not result.passed}
    assert failed == {"object_is_never_null", "id_is_never_null"}


@pytest.mark.parametrize("table", TABLES)
def test_a_suite_looks_only_at_columns_that_exist(table: str) -> None:
    for name, wanted in required_columns(table).items():
        assert set(wanted) <= set(TABLES[name].row.__struct_fields__)
    names = [row.name for row in SUITES[table]]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)


def test_the_suites_can_be_read_without_great_expectations() -> None:
    program = "import sys, lineage_pipeline.quality.checks as c; sys.exit('great_expectations' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
