"""Warehouses that earlier versions wrote, so that later versions prove that they can read or rebuild them.

`python -m lineage_pipeline_tests.support.old_warehouses` writes the one of the present version; commit it with the
release.
"""

from pathlib import Path

import lineage_pipeline
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.paths import FIXTURES, ROOT

EXAMPLE = ROOT / "sql_assets" / "marketing"
DISCOVERED_TABLES = {"snapshots", "sources", "sql_files"}


def discover_small_example() -> tuple[Discovery, Settings]:
    """The small example and its settings."""
    settings = load_settings(EXAMPLE, {}, {})
    key = compute_analysis_key(settings)
    return discover_folder(EXAMPLE / "base", settings, name="marketing", analysis_key=key), settings


def analyze_discovery(discovery: Discovery, settings: Settings) -> LineageTables:
    """The lineage that the present version gives."""
    return build_lineage(build_input_files(discovery, settings))


def write_old_warehouse(root: Path) -> str:
    """Write the example as a published snapshot, and return its key."""
    discovery, settings = discover_small_example()
    lineage = analyze_discovery(discovery, settings)
    run = Warehouse(root).begin(discovery.key, "kept", compute_analysis_key(settings))
    run.write("snapshots", [discovery.snapshot])
    run.write("sources", discovery.sources)
    run.write("sql_files", discovery.files)
    for name, table in TABLES.items():
        if name not in DISCOVERED_TABLES and hasattr(lineage, name):
            run.write(table.name, getattr(lineage, name))
    run.publish()
    return discovery.key


if __name__ == "__main__":
    print(write_old_warehouse(FIXTURES / f"warehouse-{lineage_pipeline.__version__}"))
