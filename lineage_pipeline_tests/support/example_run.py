"""The example warehouse, materialized once per process: Dagster, Spark, Great Expectations and dbt."""

import atexit
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.discover.example.repository import ExampleRepository, build_example
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.summary import RunSummary
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.paths import ROOT


@dataclass(frozen=True)
class ExampleRun:
    """The settings, the summary and the progress lines of the run."""

    example: ExampleRepository
    settings: Settings
    summary: RunSummary
    told: tuple[str, ...]

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(self.settings.warehouse)

    @property
    def snapshots(self) -> tuple[str, str]:
        return f"example@{self.example.base}", f"example@{self.example.head}"


@cache
def run_example() -> ExampleRun:
    """Run the example, in a folder with a space in its name that is deleted with the process."""
    from lineage_pipeline.defs.runs.materialize import materialize_revisions

    folder = tempfile.TemporaryDirectory(prefix="lineage example ")
    atexit.register(folder.cleanup)
    example = build_example(ROOT / "sql_assets", Path(folder.name, ".lineage/example"))
    settings = load_settings(Path(folder.name), {}, {}).for_repository(example.path, {}, {})
    told: list[str] = []
    summary = materialize_revisions(settings, example.path, [example.base, example.head], told.append)
    return ExampleRun(example, settings, summary, tuple(told))


def canonical_rows(lineage: LineageTables) -> dict[str, list[bytes]]:
    """The rows of every table in an order that depends on nothing but the rows."""
    tables: dict[str, tuple[Any, ...]] = {name: getattr(lineage, name) for name in lineage.__struct_fields__}
    return {name: sorted(map(msgspec.json.encode, rows)) for name, rows in tables.items()}
