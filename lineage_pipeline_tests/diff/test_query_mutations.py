"""No edit of a statement is silent: every single edit of its tree is a change, or listed as harmless."""

import logging
from collections.abc import Iterator

import pytest

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.paths import FIXTURES
from lineage_pipeline_tests.support.query_mutations import mutate_query

QUERIES = FIXTURES / "mutations.sql"

TABLES = """
create table t (id int not null, n int, m int, x int, y timestamp, s varchar(20), js {0}, arr {1}, p varchar(9));
create table u (id int not null, n int, m int, x int, y timestamp);
create table w (id int, x int, day varchar(9));
"""

TYPES = {
    "postgres": ("jsonb", "int[]"),
    "tsql": ("varchar(99)", "varchar(9)"),
    "snowflake": ("variant", "array"),
    "bigquery": ("json", "array<int64>"),
    "spark": ("string", "array<int>"),
    "duckdb": ("json", "int[]"),
}

SAME = frozenset(
    "Column.table Table.alias Lateral.alias Unnest.alias Pivot.alias Table.hints CTE.materialized Lateral.view"
    " Create.replace Create.exists Lateral.cross_apply"
    " Create.no_schema_binding Create.refresh Unnest.offset TableSample.method"
    " JSONExtract.only_json_types JSONExtractScalar.only_json_types Insert.this Join.kind Insert.by_name"
    " ToNumber.scale".split()
)
"""Edits that leave rows and values as they are: aliases, hints, other words for the same, and what nobody reads."""

NONSENSE = frozenset(
    "Create.unique Create.clustered Table.ordinality Lateral.ordinality Column.join_mark Window.first Count.this"
    " Insert.exists Insert.expression LimitOptions.rows Update.expressions Version.kind Alias.alias Union.by_name"
    " Column.this Columns.unpack Table.only EQ.kind Select.expressions PropertyEQ.this Table.partition".split()
)
"""Edits after which no engine takes the statement, or none that has the table or clause there."""


def read_queries() -> Iterator[tuple[str, str]]:
    dialect = ""
    for line in QUERIES.read_text().splitlines():
        if line.startswith("-- dialect: "):
            dialect = line.removeprefix("-- dialect: ")
        elif line:
            yield dialect, line.rstrip(";")


def analyze_statement(dialect: str, sql: str) -> LineageTables:
    tables = TABLES.format(*TYPES[dialect])
    return build_lineage([InputFile("a.sql", f"{tables}{sql};", Options(dialect))], reach=False)


@pytest.mark.parametrize(("dialect", "sql"), read_queries(), ids=lambda text: text[:40])
def test_no_edit_of_a_statement_is_silent(dialect: str, sql: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "sqlglot")
    base = analyze_statement(dialect, sql)
    silent = [
        f"{what}: {text}"
        for what, text in mutate_query(sql, dialect)
        if what not in SAME | NONSENSE and not diff(base, analyze_statement(dialect, text))
    ]
    assert silent == []


def test_the_edits_are_many_and_the_harmless_ones_are_among_them() -> None:
    touched = {what for dialect, sql in read_queries() for what, _ in mutate_query(sql, dialect)}
    assert len(touched) > 100
    assert touched >= SAME | NONSENSE, sorted((SAME | NONSENSE) - touched)
