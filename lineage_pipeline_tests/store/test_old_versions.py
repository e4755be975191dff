"""A warehouse that an earlier version wrote is read whole or refused in one sentence, and never misread."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.lineage_file import LineageFileTables, write_lineage_file
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.old_warehouses import analyze_discovery, discover_small_example, write_old_warehouse
from lineage_pipeline_tests.support.paths import FIXTURES

KEPT = sorted(FIXTURES.glob("warehouse-*"))


@pytest.mark.parametrize("root", KEPT, ids=lambda root: root.name)
def test_a_kept_warehouse_is_read_whole(root: Path) -> None:
    warehouse = Warehouse(root)
    (manifest,) = warehouse.snapshots()
    lineage = warehouse.load(manifest.key[0])
    assert len(lineage.objects) == 12
    assert {edge.type for edge in lineage.column_edges} == {"DIRECT", "INDIRECT"}
    assert len(lineage.columns) == warehouse.read(manifest.key[0], "columns").num_rows


def test_there_is_a_kept_warehouse() -> None:
    assert "warehouse-0.1.0" in {root.name for root in KEPT}


def test_a_rebuilt_warehouse_gives_what_the_engine_gives(tmp_path: Path) -> None:
    key = write_old_warehouse(tmp_path)
    assert Warehouse(tmp_path).load(key) == analyze_discovery(*discover_small_example())


def test_a_file_of_another_layout_is_refused(tmp_path: Path) -> None:
    key = write_old_warehouse(tmp_path)
    (file,) = tmp_path.glob("columns/**/*.parquet")
    before = file.stat().st_size
    pq.write_table(pq.read_table(file).drop_columns(["name"]), file)
    (manifest,) = (tmp_path / "_manifests").glob("*.json")
    claimed = manifest.read_text().replace(f'"bytes": {before}', f'"bytes": {file.stat().st_size}')
    manifest.write_text(claimed)
    with pytest.raises(LineageError, match="columns has no column name: it was written by another version"):
        Warehouse(tmp_path).load(key)


def test_a_lineage_file_of_a_newer_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.lineage"
    write_lineage_file(file, "shop@1", {"columns": ()})
    assert LineageFileTables(file).key == ("shop@1",)
    monkeypatch.setattr("lineage_pipeline.store.lineage_file.SCHEMA_VERSION", 0)
    with pytest.raises(LineageError, match="was written by a newer version"):
        LineageFileTables(file)
