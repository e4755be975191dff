"""A warehouse of four commits and one diff for the tests of the marts, on DuckDB and on Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lineage_pipeline.model.enums import Level, ObjectKind, Role, Severity, Status
from lineage_pipeline.model.tables import (
    Change,
    Column,
    ColumnReach,
    Consumer,
    Diagnostic,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    Snapshot,
    Span,
    SqlFile,
    StatementRef,
    StatementRow,
    Waiver,
)
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.dbt_builds import make_core_edge, make_row, publish_tables, run_dbt

ANALYSIS_KEY = "engine 1"
SPARK_DATABASES = ("lineage", "staging", "marts")


def make_snapshot_rows(number: int, parent: int | None, **fields: Any) -> list[Any]:
    parents = () if parent is None else (str(parent),)
    when = f"2026-03-0{number}T09:00:00Z"
    own = {
        "author": f"author {number}",
        "base": parents[0] if parents else None,
        "analysis_key": ANALYSIS_KEY,
        **fields,
    }
    return [make_row(Snapshot, repo="shop", commit=str(number), parents=parents, committed_at=when, files=1, **own)]


def column_tags(name: str) -> tuple[str, ...]:
    return () if name == "hash" else ("pii",)


def make_revision(columns: str, fingerprint: str, **extra: list[Any]) -> dict[str, list[Any]]:
    """The tables of a view `core` over the table `raw`, with some of its columns."""
    names = columns.split()
    return {
        "sql_files": [make_row(SqlFile, path="a.sql", dialect="duckdb", status=Status.ANALYSED, owners=("web",))],
        "statements": [
            make_row(
                StatementRow,
                path="a.sql",
                kind="CREATE VIEW",
                fingerprint=fingerprint,
                status=Status.ANALYSED,
                bytes=80,
                features=("positional insert", "star", "dynamic"),
                span=Span(1, 1, 4, 9, 0, 80),
            )
        ],
        "objects": [
            make_row(ObjectRow, object="raw", name="raw", kind=ObjectKind.TABLE),
            make_row(ObjectRow, object="core", name="core", kind=ObjectKind.VIEW, owners=("web", "shop")),
        ],
        "object_statements": [make_row(ObjectStatement, object="core", path="a.sql", role=Role.DEFINE)],
        "object_edges": [
            make_row(ObjectEdge, from_object="raw", to_object="core", statements=(StatementRef("a.sql", 0),)),
            make_row(ObjectEdge, from_object="core", to_object="core"),
        ],
        "columns": [
            make_row(Column, object="raw", ordinal=1, name="id", type="INT", tags=("pii",)),
            make_row(Column, object="raw", ordinal=2, name="hint", type="TEXT"),
            *(
                make_row(Column, object="core", ordinal=n, name=name, tags=column_tags(name))
                for n, name in enumerate(names, 1)
            ),
        ],
        "column_edges": [make_core_edge("raw", "id", name, masking=name == "hash") for name in names],
        "column_reach": [
            make_row(ColumnReach, object="raw", ordinal=1, name="id", all_downstream_columns=len(names), exact=True),
            make_row(ColumnReach, object="raw", ordinal=2, name="hint", exact=True),
        ],
        **extra,
    }


def publish_shop_history(folder: Path) -> Warehouse:
    """Four commits, the third with another analysis key than those before it, and a diff."""
    warehouse = Warehouse(folder / "warehouse")
    finding = make_row(Diagnostic, id="f", code="PARSE_ERROR", severity=Level.ERROR, path="a.sql", line=3)
    publish_tables(
        warehouse,
        "shop@1",
        snapshots=make_snapshot_rows(1, None, analysis_key="engine 0"),
        **make_revision("old", "f0"),
    )
    publish_tables(warehouse, "shop@2", snapshots=make_snapshot_rows(2, 1), **make_revision("id hash", "f1"))
    publish_tables(warehouse, "shop@3", snapshots=make_snapshot_rows(3, 2), **make_revision("id hash", "f1"))
    publish_tables(
        warehouse, "shop@4", snapshots=make_snapshot_rows(4, 3), **make_revision("id name", "f2", diagnostics=[finding])
    )
    diff = warehouse.begin(("shop@3", "shop@4"), "r1")
    readers = (Consumer("x", None, None, None, ()), Consumer("y", None, None, None, ()))
    removed = {"rule": "COL001", "object": "core", "column": "hash", "effective": Severity.BREAKING}
    rows = [
        make_row(Change, id="1", root=True, consumers=readers, **removed),
        make_row(Change, id="2", root=False, root_id="1", **removed),
        make_row(Change, id="3", root=True, waiver="agreed", **removed),
    ]
    diff.write("changes", rows)
    said = {"rule": "COL001", "object": "core", "owner": "web", "expires": "2026-12-31"}
    waivers = [make_row(Waiver, id="agreed", used=True, **said), make_row(Waiver, id="late", expired=True, **said)]
    diff.write("waivers", waivers)
    diff.publish()
    _drop_stored_column(folder, warehouse, "shop@1", "sql_files", "position")
    return warehouse


def _drop_stored_column(folder: Path, warehouse: Warehouse, key: str, table: str, column: str) -> None:
    """Make the files of a table those of a version that did not know a column yet."""
    manifest = warehouse.manifest(key)
    assert manifest is not None
    for file in manifest.tables[table].files:
        path = folder / "warehouse" / file.path
        content = pq.ParquetFile(path).read()
        assert column in content.column_names
        pq.write_table(content.drop_columns([column]), path)


@contextmanager
def build_marts_on_spark(folder: Path, warehouse: Warehouse) -> Iterator[Any]:
    """Build the same models as tables of the Spark session that this process shares."""
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.spark.session import get_session

    running = get_session(load_settings(folder, {}, {}).spark)
    strict = running.conf.get("spark.sql.ansi.enabled") or "true"  # dbt turns it off, and others share the session
    for database in SPARK_DATABASES:
        running.sql(f"create database {database} location '{folder / database}'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINEAGE_DBT_TARGET", "spark")
        built = run_dbt(folder, warehouse)
    assert (built.failed, built.message) == (set(), "None")
    running.conf.set("spark.sql.ansi.enabled", strict)
    running.conf.unset("spark.sql.parquet.mergeSchema")  # the views remember it
    yield running
    for database in SPARK_DATABASES:
        running.sql(f"drop database {database} cascade")
