"""The marts show what is published, all of it and nothing else; the dbt project follows the vocabulary."""

import importlib.util
import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import inspect

from lineage_pipeline.model.enums import EdgeType, ObjectKind, Subtype
from lineage_pipeline.model.tables import TABLES, Change, Column, ColumnEdge, ObjectRow, Snapshot, Span, StatementRow
from lineage_pipeline.model.waivers import Waiver
from lineage_pipeline.store.run import required_tables
from lineage_pipeline.store.table_schemas import row_fields
from lineage_pipeline.store.warehouse import Warehouse

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "dbt_project"


class Built(NamedTuple):
    """What a run of dbt left behind."""

    failed: set[str]
    marts: Path
    target: Path
    message: str

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(self.marts), read_only=True) as connection:
            rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
            return rows


def plain(row: type[msgspec.Struct], **fields: Any) -> Any:
    """Make a row whose other fields are empty."""
    blanks = {field.name: blank(field.type) for field in row_fields(row)}
    return row(**{**blanks, **fields})


def blank(kind: inspect.Type) -> Any:
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


def edge(from_object: str, from_column: str, to_column: str, **fields: Any) -> Any:
    ends = {"from_object": from_object, "from_column": from_column, "to_object": "core", "to_column": to_column}
    return plain(ColumnEdge, path="a.sql", type=EdgeType.DIRECT, subtype=Subtype.IDENTITY, **ends, **fields)


SHOP: dict[str, list[Any]] = {
    "snapshots": [plain(Snapshot, repo="acme/shop", commit="1")],
    "statements": [plain(StatementRow, path="a.sql", kind="CREATE VIEW", span=Span(1, 1, 4, 9, 0, 80))],
    "objects": [
        plain(ObjectRow, object="raw", kind=ObjectKind.TABLE),
        plain(ObjectRow, object="core", kind=ObjectKind.VIEW),
        plain(ObjectRow, object="feed", kind=ObjectKind.EXTERNAL, open=True),
    ],
    "columns": [
        plain(Column, object="raw", ordinal=1, name="id", type="INT"),
        plain(Column, object="core", ordinal=1, name="id", type="BIGINT"),
    ],
    "column_edges": [
        edge("raw", "id", "id", expression="o.id", span=Span(2, 8, 2, 12, 30, 34)),
        edge("?", "mystery", "*"),
        edge("feed", "anything", "id"),
    ],
}


def fill(warehouse: Warehouse, snapshot: str, **tables: list[Any]) -> None:
    write(warehouse, snapshot, **tables).publish()


def write(warehouse: Warehouse, snapshot: str, **tables: list[Any]) -> Any:
    run = warehouse.begin(snapshot, "r1")
    for table in required_tables((snapshot,)):
        run.write(table, {**SHOP, **tables}.get(table, ()))
    return run


def build(
    folder: Path, warehouse: Warehouse, *extra: str, name: str = "warehouse.duckdb", command: str = "build"
) -> Built:
    """Run `dbt build` in this process, on a new DuckDB file."""
    dbt = pytest.importorskip("dbt.cli.main")
    connections = pytest.importorskip("dbt.adapters.duckdb.connections")
    warehouse.write_published_files(folder / "files.json")
    options = ["--project-dir", PROJECT, "--profiles-dir", PROJECT, "--target-path", folder / "target"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINEAGE_FILES", str(folder / "files.json"))
        patch.setenv("LINEAGE_MARTS", str(folder / name))
        patch.setenv("DBT_LOG_PATH", str(folder / "logs"))
        outcome = dbt.dbtRunner().invoke(["--quiet", command, *map(str, options), *extra])
    connections.DuckDBConnectionManager.close_all_connections()  # else the file stays open for this process to write
    results = outcome.result.results if outcome.result else []
    failed = {result.node.name for result in results if result.status in ("fail", "error")}
    return Built(failed, folder / name, folder / "target", str(outcome.exception))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Two published snapshots, a diff, and a run that is not published."""
    folder = tmp_path_factory.mktemp("shop")
    warehouse = Warehouse(folder / "it's a warehouse")
    fill(warehouse, "acme/shop@1")
    fill(warehouse, "acme/shop@2", snapshots=[plain(Snapshot, repo="acme/shop", commit="2")])
    write(warehouse, "acme/shop@3")
    diff = warehouse.begin(("acme/shop@1", "acme/shop@2"), "r1")
    diff.write("changes", [plain(Change, id="1", column="id")])
    diff.write("waivers", [plain(Waiver, id="1", expires="2026-12-31")])
    diff.publish()
    yield build(folder, warehouse)


def generator() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("generate_dbt", ROOT / "scripts" / "generate_dbt.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sources_and_staging_follow_the_vocabulary() -> None:
    wanted = generator().generate()
    written = {
        path.relative_to(PROJECT): path.read_text(encoding="utf-8") for path in (PROJECT / "models/staging").iterdir()
    }
    assert written == wanted, "run `.venv/bin/python scripts/generate_dbt.py`"


@pytest.mark.pipeline
def test_every_model_is_built_and_every_test_passes(shop: Built) -> None:
    assert (shop.failed, shop.message) == (set(), "None")
    schemas = shop.query("select distinct table_schema from information_schema.tables order by 1")
    assert schemas == [("lineage",), ("marts",), ("staging",)]


@pytest.mark.pipeline
def test_an_edge_is_shown_with_what_is_known_of_its_ends(shop: Built) -> None:
    rows = shop.query(
        "select from_object, from_object_kind, from_column, from_data_type, to_column, to_data_type, statement_kind,"
        " line, is_resolved, is_statement_wide from marts.column_lineage where commit = '2' order by from_object"
    )
    assert rows == [
        ("?", None, "mystery", None, "*", None, "CREATE VIEW", 1, False, True),
        ("feed", "external", "anything", None, "id", "BIGINT", "CREATE VIEW", 1, True, False),
        ("raw", "table", "id", "INT", "id", "BIGINT", "CREATE VIEW", 2, True, False),
    ]


@pytest.mark.pipeline
def test_only_published_snapshots_are_shown(shop: Built) -> None:
    assert shop.query("select distinct snapshot, repo from marts.column_lineage order by 1") == [
        ("acme/shop@1", "acme/shop"),
        ("acme/shop@2", "acme/shop"),
    ]
    assert shop.query("select base, head, column_name from staging.stg_lineage__changes") == [
        ("acme/shop@1", "acme/shop@2", "id")
    ]


@pytest.mark.pipeline
def test_each_source_is_the_asset_of_the_same_name(shop: Built) -> None:
    manifest = json.loads((shop.target / "manifest.json").read_text(encoding="utf-8"))
    keys = {node["name"]: node["meta"]["dagster"]["asset_key"] for node in manifest["sources"].values()}
    assert keys == {table: ["lineage", table] for table in TABLES}
    assert all(column["description"] for node in manifest["nodes"].values() for column in node["columns"].values())


@pytest.mark.pipeline
def test_an_empty_warehouse_gives_empty_marts(tmp_path: Path) -> None:
    built = build(tmp_path, Warehouse(tmp_path / "warehouse"))
    assert (built.failed, built.message) == (set(), "None")
    assert built.query("select count(*) from marts.column_lineage") == [(0,)]


@pytest.mark.pipeline
def test_dangling_edges_and_doubled_keys_fail(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    columns = [*SHOP["columns"], SHOP["columns"][0]]
    fill(warehouse, "acme/shop@1", columns=columns, column_edges=[edge("raw", "nowhere", "id")])
    assert build(tmp_path, warehouse).failed == {"assert_no_edge_is_dangling", "columns_have_their_key"}


@pytest.mark.pipeline
def test_without_a_list_of_files_dbt_says_what_is_missing(tmp_path: Path) -> None:
    built = build(tmp_path, Warehouse(tmp_path / "warehouse"), "--vars", "{lineage_files: ''}")
    assert "LINEAGE_FILES must name the list of published files" in built.message


@pytest.mark.pipeline
def test_a_file_named_like_a_schema_is_refused(tmp_path: Path) -> None:
    built = build(tmp_path, Warehouse(tmp_path / "warehouse"), name="marts.duckdb")
    assert "DuckDB cannot tell the file marts from the schema" in built.message
