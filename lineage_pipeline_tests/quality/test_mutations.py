"""Damage to the tables of a real snapshot is noticed: every mutation makes a blocking check fail."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from lineage_pipeline.quality.checks import check_table
from lineage_pipeline.quality.suites import SUITES, required_columns
from lineage_pipeline_tests.support.example_run import run_example

pytestmark = [pytest.mark.slow, pytest.mark.pipeline, pytest.mark.spark, pytest.mark.xdist_group("spark")]

MUTATIONS: Mapping[str, Mapping[str, str]] = {
    "sql_files": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(path) % 2 = 0",
        "one row lost": "select * from t where path <> (select min(path) from t)",
        "a row twice": "select * from t union all select * from t where path = (select min(path) from t)",
        "other paths": "select * replace (path || '.old' as path) from t",
        "one byte a file": "select * replace (1 as bytes) from t",
        "no bytes below zero": "select * replace (-bytes as bytes) from t",
        "an unknown status": "select * replace ('done' as status) from t",
    },
    "statements": {
        "all rows lost": "select * from t where false",
        "half of the files lost": "select * from t where hash(path) % 2 = 0",
        "half of the rows lost": "select * from t where hash(path, ordinal) % 2 = 0",
        "first rows lost": "select * from t where ordinal > 0",
        "rows twice": "select * from t union all select * from t where ordinal = 0",
        "ordinals from one": "select * replace (ordinal + 1 as ordinal) from t",
        "other paths": "select * replace (path || '.old' as path) from t",
        "absurd bytes": "select * replace (bytes * 1000 as bytes) from t",
        "bytes below zero": "select * replace (-1 as bytes) from t",
        "parents that are none": "select * replace (coalesce(parent, 0) + 1000 as parent) from t",
        "an unknown status": "select * replace ('fine' as status) from t",
    },
    "objects": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(object) % 2 = 0",
        "one row lost": "select * from t where object <> (select max(from_object) from column_edges)",
        "a row twice": "select * from t union all select * from t where object = (select min(object) from t)",
        "other names": "select * replace (object || '_x' as object) from t",
        "an unknown kind": "select * replace ('thing' as kind) from t",
        "levels below zero": "select * replace (-1 as level) from t",
    },
    "object_statements": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(object, path, ordinal) % 2 = 0",
        "no writers": "select * from t where role not in ('write', 'define')",
        "all of them readers": "select * replace ('read' as role) from t",
        "rows twice": "select * from t union all select * from t",
        "other paths": "select * replace (path || '.old' as path) from t",
        "other ordinals": "select * replace (ordinal + 1000 as ordinal) from t",
        "other objects": "select * replace (object || '_x' as object) from t",
        "an unknown role": "select * replace ('looks at' as role) from t",
    },
    "object_edges": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(from_object, to_object) % 2 = 0",
        "from and to swapped": "select * replace (to_object as from_object, from_object as to_object) from t",
        "rows twice": "select * from t union all select * from t",
        "an unknown kind": "select * replace ('flow' as kind) from t",
        "to what nobody knows": "select * replace ('nowhere' as to_object) from t",
        "from what nobody knows": "select * replace ('nowhere' as from_object) from t",
    },
    "columns": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(object, name) % 2 = 0",
        "last columns lost": "select * from t qualify ordinal < max(ordinal) over (partition by object)",
        "first columns lost": "select * from t where ordinal > 1",
        "ordinals from zero": "select * replace (ordinal - 1 as ordinal) from t",
        "rows twice": "select * from t union all select * from t",
        "other names": "select * replace (name || '_x' as name) from t",
        "other objects": "select * replace (object || '_x' as object) from t",
    },
    "column_edges": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(from_column, to_object, to_column) % 2 = 0",
        "a tenth of the rows lost": "select * from t where hash(from_column, to_object, to_column) % 10 > 0",
        "edges of one object lost": "select * from t where to_object <> (select min(to_object) from t)",
        "edges by value lost": "select * from t where type = 'INDIRECT'",
        "from and to swapped": (
            "select * replace (to_object as from_object, to_column as from_column, "
            "from_object as to_object, from_column as to_column) from t"
        ),
        "columns swapped": "select * replace (to_column as from_column, from_column as to_column) from t",
        "all of them INDIRECT": "select * replace ('INDIRECT' as type) from t",
        "all of them INDIRECT filters": "select * replace ('INDIRECT' as type, 'FILTER' as subtype) from t",
        "all of them DIRECT": "select * replace ('DIRECT' as type) from t",
        "all of them DIRECT and alike": "select * replace ('DIRECT' as type, 'IDENTITY' as subtype) from t",
        "rows twice": "select * from t union all select * from t",
        "files that do not exist": "select * replace (path || '.old' as path) from t",
        "statements that do not exist": "select * replace (statement + 1000 as statement) from t",
        "sources that nobody knows": "select * replace ('nowhere' as from_object) from t where to_column <> '*'",
        "columns that nobody knows": "select * replace ('nothing' as to_column) from t",
        "an unknown subtype": "select * replace ('MAGIC' as subtype) from t",
        "all sources unresolved": "select * replace ('?' as from_object) from t",
    },
    "facets": {
        "files that do not exist": "select * replace (path || '.old' as path) from t",
        "statements that do not exist": "select * replace (statement + 1000 as statement) from t",
        "rows twice": "select * from t union all select * from t",
        "no object": "select * replace (null as object) from t",
    },
    "column_reach": {
        "all rows lost": "select * from t where false",
        "half of the rows lost": "select * from t where hash(object, name) % 2 = 0",
        "one row lost": "select * from t where (object, ordinal) <> (select (min(object), 1) from t)",
        "nothing reaches anything": (
            "select * replace (0 as direct_upstream_columns, 0 as direct_downstream_columns, "
            "0 as all_upstream_columns, 0 as all_downstream_columns) from t"
        ),
        "nothing upstream": "select * replace (0 as direct_upstream_columns) from t",
        "nothing downstream": "select * replace (0 as direct_downstream_columns) from t",
        "everything reaches something": (
            "select * replace (direct_upstream_columns + 1 as direct_upstream_columns, "
            "all_upstream_columns + 1 as all_upstream_columns) from t"
        ),
        "up and down swapped": (
            "select * replace (direct_downstream_columns as direct_upstream_columns, "
            "direct_upstream_columns as direct_downstream_columns) from t"
        ),
        "more by value than at all": "select * replace (0 as all_downstream_columns) from t",
        "columns of others": "select * replace (lead(name, 1, name) over (order by object, ordinal) as name) from t",
        "counts below zero": "select * replace (-1 as direct_leaves) from t",
        "rows twice": "select * from t union all select * from t",
    },
}  # fmt: skip
"""What is done to each table `t`, in SQL; other tables of the snapshot can be read, too."""


@cache
def load_tables() -> dict[str, pa.Table]:
    """The tables of a snapshot of the example."""
    example = run_example()
    stored = example.warehouse.tables(example.snapshots[1])
    names = {name for table in SUITES for name in required_columns(table)} - {"changes", "waivers"}
    files = {name: [file.read() for file in stored.open(name)] for name in names}
    return {name: pa.concat_tables(parts, promote_options="permissive") for name, parts in files.items()}


def mutate(table: str, sql: str) -> dict[str, Any]:
    """The tables after the mutation of one."""
    tables = load_tables()
    with duckdb.connect() as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        connection.register("t", tables[table])
        return {**tables, table: connection.execute(sql).to_arrow_table()}


def list_failures(tables: Mapping[str, Any], changed: str = "") -> list[str]:
    """The blocking checks that fail among those that look at the changed table."""
    suites = [table for table in SUITES if table not in ("changes", "waivers")]
    looking = [table for table in suites if not changed or changed in required_columns(table)]
    for table in sorted(looking, key=changed.__ne__):  # the table's own suite is the first to ask
        failed = [
            f"{table}: {result.check}" for result in check_table(table, tables) if not result.passed and result.blocking
        ]
        if failed:
            return failed
    return []


def test_the_tables_are_sound_as_they_are() -> None:
    assert list_failures(load_tables()) == []


@pytest.mark.parametrize(
    ("table", "mutation"), [(table, name) for table, mutations in MUTATIONS.items() for name in mutations]
)
def test_damage_to_a_table_is_noticed(table: str, mutation: str) -> None:
    assert list_failures(mutate(table, MUTATIONS[table][mutation]), table) != []
