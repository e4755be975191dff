"""Warehouses that earlier versions wrote, kept so that later ones prove that they can read or rebuild them.

`python -m lineage_pipeline_tests.kept` writes the one of the present version; commit it with the release.
"""

from pathlib import Path

import lineage_pipeline
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline.store.warehouse import Warehouse

FIXTURES = Path(__file__).parent / "fixtures"
EXAMPLE = Path(__file__).parent.parent / "sql_assets" / "marketing"
DISCOVERED = {"snapshots", "sources", "sql_files"}


def example() -> tuple[Discovery, Settings]:
    """The small example and its settings."""
    settings = load_settings(EXAMPLE, {}, {})
    return discover_folder(EXAMPLE / "base", settings, name="marketing"), settings


def lineage_of(discovery: Discovery, settings: Settings) -> LineageTables:
    """What the present version makes of it."""
    return build_lineage(build_input_files(discovery, settings))


def keep(root: Path) -> str:
    """Write the example as a published snapshot and return its key."""
    discovery, settings = example()
    lineage = lineage_of(discovery, settings)
    run = Warehouse(root).begin(discovery.key, "kept", settings.analysis_key())
    run.write("snapshots", [discovery.snapshot])
    run.write("sources", discovery.sources)
    run.write("sql_files", discovery.files)
    for name, table in TABLES.items():
        if name not in DISCOVERED and hasattr(lineage, name):
            run.write(table.name, getattr(lineage, name))
    run.publish()
    return discovery.key


if __name__ == "__main__":
    print(keep(FIXTURES / f"warehouse-{lineage_pipeline.__version__}"))
