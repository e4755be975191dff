"""Scripts that change the same tables again and again, judged by DuckDB: what they leave behind is what it has."""

import random

import duckdb
import pytest

from lineage_pipeline.engine.graph.drops import dropped
from lineage_pipeline.pipeline import analyse
from lineage_pipeline.vocabulary.analysis import InputFile, Options
from lineage_pipeline.vocabulary.sets import Origin

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


def script(seed: int) -> tuple[str, duckdb.DuckDBPyConnection]:
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
def test_a_script_leaves_behind_what_the_engine_has(seed: int) -> None:
    text, engine = script(seed)
    lineage = analyse([InputFile("s.sql", text, Options(dialect="duckdb"))], reach=False)
    gone = dropped(lineage.object_statements)
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
