"""The dbt project as assets: staging and marts over the published files, in a DuckDB file that is swapped in whole.

The graph of models comes from dbt's manifest, which is made before a run and before the UI starts. Importing this
module starts nothing: where there is no manifest yet, the models are left out and one sentence says so.
"""

import sys
import uuid
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets

from lineage_pipeline.defs.dbt import MANIFEST, PROJECT, environment, marts_key
from lineage_pipeline.defs.home import Home
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.store.warehouse import Warehouse

MISSING = "the dbt models are not shown yet: `lineage run` or `lineage ui` prepares them"


class Translator(DagsterDbtTranslator):
    """Shows models in groups of their layers."""

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str | None:
        """Name the group after the folder: staging or marts."""
        return str(dbt_resource_props["fqn"][1])


def mart_assets() -> list[dg.AssetsDefinition]:
    """Give the models as assets, once dbt's manifest is there."""
    if not MANIFEST.is_file():
        warnings.warn(MISSING, stacklevel=2)
        return []

    @dbt_assets(manifest=MANIFEST, dagster_dbt_translator=Translator(), name="dbt_models", pool="marts")
    def dbt_models(
        context: dg.AssetExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
    ) -> Iterator[Any]:
        with project.hush(), project.home.alone("marts"):
            yield from build_marts(context, store.warehouse(project.settings), project.home)

    return [dbt_models]


def build_marts(context: dg.AssetExecutionContext, warehouse: Warehouse, home: Home) -> Iterator[Any]:
    """Build all models into a new file, and put it in place when every one of them and every test held."""
    warehouse.list_published(home.listing)
    draft = home.marts.with_name(f".{home.marts.stem}_{uuid.uuid4().hex}.duckdb")
    program = Path(sys.executable).with_name("dbt")
    dbt = DbtCliResource(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=str(program))
    try:
        with environment(LINEAGE_MARTS=str(draft), LINEAGE_FILES=str(home.listing)):
            yield from dbt.cli(["build"], context=context, target_path=home.folder / "dbt").stream()
        draft.replace(home.marts)
        home.record(home.marts, marts_key(home.listing.read_bytes()))
    finally:
        for leftover in (draft, draft.with_name(f"{draft.name}.wal")):
            leftover.unlink(missing_ok=True)
