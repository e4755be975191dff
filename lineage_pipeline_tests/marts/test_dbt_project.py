"""The marts show exactly what is published; the dbt project follows the table definitions."""

import importlib.util
import json
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage_pipeline.model.tables import TABLES, Change, Snapshot, Waiver
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.dbt_builds import (
    DBT_PROJECT,
    ROOT,
    SHOP_TABLES,
    DbtBuild,
    make_core_edge,
    make_row,
    publish_tables,
    run_dbt,
    write_tables,
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DbtBuild]:
    """Two published snapshots, a diff, and a run that is not published."""
    folder = tmp_path_factory.mktemp("shop")
    warehouse = Warehouse(folder / "it's a warehouse")
    publish_tables(warehouse, "acme/shop@1")
    publish_tables(warehouse, "acme/shop@2", snapshots=[make_row(Snapshot, repo="acme/shop", commit="2")])
    write_tables(warehouse, "acme/shop@3")
    diff = warehouse.begin(("acme/shop@1", "acme/shop@2"), "r1")
    diff.write("changes", [make_row(Change, id="1", column="id")])
    diff.write("waivers", [make_row(Waiver, id="1", expires="2026-12-31")])
    diff.publish()
    yield run_dbt(folder, warehouse)


def load_generator() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("generate_dbt", ROOT / "scripts" / "generate_dbt.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sources_and_staging_follow_the_table_definitions() -> None:
    wanted = load_generator().generate()
    written = {
        path.relative_to(DBT_PROJECT): path.read_text(encoding="utf-8")
        for path in (DBT_PROJECT / "models/staging").iterdir()
    }
    assert written == wanted, "run `.venv/bin/python scripts/generate_dbt.py`"


@pytest.mark.pipeline
def test_every_model_is_built_and_every_test_passes(shop: DbtBuild) -> None:
    assert (shop.failed, shop.message) == (set(), "None")
    schemas = shop.query("select distinct table_schema from information_schema.tables order by 1")
    assert schemas == [("lineage",), ("marts",), ("staging",)]


@pytest.mark.pipeline
def test_an_edge_is_shown_with_what_is_known_of_its_ends(shop: DbtBuild) -> None:
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
def test_only_published_snapshots_are_shown(shop: DbtBuild) -> None:
    assert shop.query("select distinct snapshot, repo from marts.column_lineage order by 1") == [
        ("acme/shop@1", "acme/shop"),
        ("acme/shop@2", "acme/shop"),
    ]
    assert shop.query("select base, head, column_name from staging.stg_lineage__changes") == [
        ("acme/shop@1", "acme/shop@2", "id")
    ]


@pytest.mark.pipeline
def test_each_source_is_the_asset_of_the_same_name(shop: DbtBuild) -> None:
    manifest = json.loads((shop.target / "manifest.json").read_text(encoding="utf-8"))
    keys = {node["name"]: node["meta"]["dagster"]["asset_key"] for node in manifest["sources"].values()}
    assert keys == {table: ["lineage", table] for table in TABLES}
    assert all(column["description"] for node in manifest["nodes"].values() for column in node["columns"].values())


@pytest.mark.pipeline
def test_an_empty_warehouse_gives_empty_marts(tmp_path: Path) -> None:
    built = run_dbt(tmp_path, Warehouse(tmp_path / "warehouse"))
    assert (built.failed, built.message) == (set(), "None")
    assert built.query("select count(*) from marts.column_lineage") == [(0,)]


@pytest.mark.pipeline
def test_dangling_edges_and_doubled_keys_fail(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse")
    columns = [*SHOP_TABLES["columns"], SHOP_TABLES["columns"][0]]
    publish_tables(warehouse, "acme/shop@1", columns=columns, column_edges=[make_core_edge("raw", "nowhere", "id")])
    assert run_dbt(tmp_path, warehouse).failed == {"assert_no_edge_is_dangling", "columns_have_their_key"}


@pytest.mark.pipeline
def test_without_a_list_of_files_dbt_says_what_is_missing(tmp_path: Path) -> None:
    built = run_dbt(tmp_path, Warehouse(tmp_path / "warehouse"), "--vars", "{lineage_files: ''}")
    assert "LINEAGE_FILES must name the list of published files" in built.message


@pytest.mark.pipeline
def test_a_file_named_like_a_schema_is_refused(tmp_path: Path) -> None:
    built = run_dbt(tmp_path, Warehouse(tmp_path / "warehouse"), name="marts.duckdb")
    assert "DuckDB cannot tell the file marts from the schema" in built.message
