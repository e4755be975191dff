"""Scripts that alter the same tables repeatedly, judged by DuckDB: we end with the columns that it has."""

import random

import duckdb
import pytest

from lineage_pipeline.engine.graph.script_scopes import find_dropped
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.model.enums import Origin
from lineage_pipeline.pipeline import build_lineage

TABLES = ("t", "u", "w")
COLUMNS = "abcdefg"
STEPS = (
    "create table {table} ({listed})",
    "create table if not exists {table} ({listed})",
    "create table {table} as select * from {source}",
    "create or replace table {table} as select *, 1 as n{number} from {source}",
    "create or replace temp table held as select *, 1 as h{number} from {source}",
    "create table s{number} as select * from {source}",
    "create table s{number} as select {columns} from {source}",
    "insert into {source} select {columns} from {source}",
    "update {source} set {column} = {column}",
    "alter table {source} add column {fresh} int",
    "alter table {source} drop column {column}",
    "alter table {source} rename column {column} to {fresh}",
    "alter table {lasting} rename to {table}",
    "drop table {source}",
)
ALARMS = {"UNKNOWN_COLUMN", "UNKNOWN_TABLE", "INSERT_ARITY_MISMATCH", "DEPENDENCY_CYCLE", "UNSUPPORTED_SYNTAX"}


def make_script(seed: int) -> tuple[str, duckdb.DuckDBPyConnection]:
    """Give a script of steps that DuckDB takes, and the database that it makes."""
    chosen, engine = random.Random(seed), duckdb.connect()
    engine.execute("create table t (a int, b varchar)")
    kept = ["create table t (a int, b varchar)"]
    for number in range(40):
        tables = [name for (name,) in engine.execute("select table_name from duckdb_tables() order by 1").fetchall()]
        source = chosen.choice(tables) if tables else "t"
        found = engine.execute("select column_name from duckdb_columns() where table_name = ?", [source]).fetchall()
        columns = [name for (name,) in found] or ["a"]
        step = chosen.choice(STEPS).format(
            table=chosen.choice(TABLES),
            source=source,
            lasting=source if source != "held" else "t",
            column=chosen.choice(columns),
            columns=", ".join(columns),
            fresh=chosen.choice(COLUMNS),
            listed=", ".join(f"{name} int" for name in chosen.sample(COLUMNS, chosen.randint(1, 4))),
            number=number,
        )
        try:
            engine.execute(step)
        except duckdb.Error:
            continue
        kept.append(step)
    return ";\n".join(kept), engine


@pytest.mark.parametrize("seed", range(40))
def test_a_script_ends_with_the_columns_that_duckdb_has(seed: int) -> None:
    text, engine = make_script(seed)
    lineage = build_lineage([InputFile("s.sql", text, Options(dialect="duckdb"))], reach=False)
    gone = find_dropped(lineage.object_statements)
    ours: dict[str, list[str]] = {}
    for column in lineage.columns:
        if column.origin is Origin.IMPLIED and column.object not in gone and not column.object.startswith('"'):
            ours.setdefault(column.object, []).append(column.name)
    theirs: dict[str, list[str]] = {}
    for table, name in engine.execute(
        "select table_name, column_name from duckdb_columns() where not internal and database_name = 'memory'"
        " order by table_name, column_index"
    ).fetchall():
        theirs.setdefault(table, []).append(name)
    assert ours == theirs, text
    assert [row for row in lineage.diagnostics if row.code in ALARMS] == [], text


def find_columns(dialect: str, **scripts: str) -> list[tuple[str | None, str]]:
    """The alarms of some files, in the order of their names."""
    files = [InputFile(f"{name.replace('__', '/')}.sql", text, Options(dialect)) for name, text in scripts.items()]
    return [
        (row.path, row.message) for row in build_lineage(files).diagnostics if row.code in ALARMS - {"UNKNOWN_TABLE"}
    ]


@pytest.mark.parametrize(
    ("values", "alarm"),
    [
        ("1, 2", ["t takes 4 columns, 2 are given"]),
        ("1, 2, 3", []),
        ("1, 2, 3, 4", []),
        ("1, 2, 3, 4, 5", ["t takes 4 columns, 5 are given"]),
    ],
)
def test_an_insert_fits_a_table_before_or_after_another_file_adds_a_column(values: str, alarm: list[str]) -> None:
    made, insert, added = (
        "create table t (a int, b int, c int)",
        f"insert into t values ({values})",
        "alter table t add d int",
    )
    told = [("v2.sql", text) for text in alarm]
    assert find_columns("tsql", v1=made, v2=insert, v3=added) == told
    assert find_columns("tsql", v1=made, v2=insert, v1b=added) == told


def test_an_insert_after_an_added_column_in_its_own_file_must_have_all_columns() -> None:
    script = "create table t (a int); alter table t add b int; insert into t values (1)"
    assert find_columns("tsql", a=script, b="alter table t add c int") == [("a.sql", "t takes 2 columns, 1 are given")]


def test_a_synonym_of_one_folder_does_not_hide_the_table_of_another() -> None:
    scripts = {
        "a__create": "create table countries (id int, name varchar2(9));\nalter table countries add primary key (id);",
        "a__fill": "insert into countries values (1, 'x');",
        "b__synonym": "create synonym countries for a.countries;\ngrant select on a.countries to public;",
        "c__create": "create table countries (id int, name varchar2(9), region int);",
    }
    assert find_columns("oracle", **scripts) == []
