"""Published snapshots from hand-made rows, and `dbt build` over them in this process."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import inspect

from lineage_pipeline.model.enums import EdgeType, ObjectKind, Subtype
from lineage_pipeline.model.tables import Column, ColumnEdge, ObjectRow, Snapshot, Span, StatementRow
from lineage_pipeline.store.run import required_tables
from lineage_pipeline.store.table_schemas import row_fields
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.paths import TESTS

ROOT = TESTS.parent
DBT_PROJECT = ROOT / "dbt_project"


class DbtBuild(NamedTuple):
    """The result of a dbt run."""

    failed: set[str]
    marts: Path
    target: Path
    message: str

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(self.marts), read_only=True) as connection:
            rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
            return rows


def make_row(row: type[msgspec.Struct], **fields: Any) -> Any:
    """Make a row whose other fields are empty."""
    blanks = {field.name: make_blank(field.type) for field in row_fields(row)}
    return row(**{**blanks, **fields})


def make_blank(kind: inspect.Type) -> Any:
    match kind:
        case inspect.UnionType():
            return None
        case inspect.EnumType():
            return next(iter(kind.cls))
        case inspect.VarTupleType():
            return ()
        case inspect.IntType():
            return 0
        case inspect.BoolType():
            return False
        case _:
            return ""


def make_core_edge(from_object: str, from_column: str, to_column: str, **fields: Any) -> Any:
    ends = {"from_object": from_object, "from_column": from_column, "to_object": "core", "to_column": to_column}
    return make_row(ColumnEdge, path="a.sql", type=EdgeType.DIRECT, subtype=Subtype.IDENTITY, **ends, **fields)


SHOP_TABLES: dict[str, list[Any]] = {
    "snapshots": [make_row(Snapshot, repo="acme/shop", commit="1")],
    "statements": [make_row(StatementRow, path="a.sql", kind="CREATE VIEW", span=Span(1, 1, 4, 9, 0, 80))],
    "objects": [
        make_row(ObjectRow, object="raw", kind=ObjectKind.TABLE),
        make_row(ObjectRow, object="core", kind=ObjectKind.VIEW),
        make_row(ObjectRow, object="feed", kind=ObjectKind.EXTERNAL, open=True),
    ],
    "columns": [
        make_row(Column, object="raw", ordinal=1, name="id", type="INT"),
        make_row(Column, object="core", ordinal=1, name="id", type="BIGINT"),
    ],
    "column_edges": [
        make_core_edge("raw", "id", "id", expression="o.id", span=Span(2, 8, 2, 12, 30, 34)),
        make_core_edge("?", "mystery", "*"),
        make_core_edge("feed", "anything", "id"),
    ],
}


def publish_tables(warehouse: Warehouse, snapshot: str, **tables: list[Any]) -> None:
    write_tables(warehouse, snapshot, **tables).publish()


def write_tables(warehouse: Warehouse, snapshot: str, **tables: list[Any]) -> Any:
    run = warehouse.begin(snapshot, "r1")
    for table in required_tables((snapshot,)):
        run.write(table, {**SHOP_TABLES, **tables}.get(table, ()))
    return run


def run_dbt(
    folder: Path, warehouse: Warehouse, *extra: str, name: str = "warehouse.duckdb", command: str = "build"
) -> DbtBuild:
    """Run `dbt build` in this process, on a new DuckDB file."""
    dbt = pytest.importorskip("dbt.cli.main")
    connections = pytest.importorskip("dbt.adapters.duckdb.connections")
    warehouse.write_published_files(folder / "files.json")
    options = ["--project-dir", DBT_PROJECT, "--profiles-dir", DBT_PROJECT, "--target-path", folder / "target"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINEAGE_FILES", str(folder / "files.json"))
        patch.setenv("LINEAGE_MARTS", str(folder / name))
        patch.setenv("DBT_LOG_PATH", str(folder / "logs"))
        outcome = dbt.dbtRunner().invoke(["--quiet", command, *map(str, options), *extra])
    connections.DuckDBConnectionManager.close_all_connections()  # else the file stays open for this process to write
    results = outcome.result.results if outcome.result else []
    failed = {result.node.name for result in results if result.status in ("fail", "error")}
    return DbtBuild(failed, folder / name, folder / "target", str(outcome.exception))
