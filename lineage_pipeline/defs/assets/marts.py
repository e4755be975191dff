"""The dbt models as assets: staging and marts over the published files, in a DuckDB file that is replaced as a whole.

The graph of models comes from dbt's manifest, which is made before a run and before the UI starts. Importing this
module starts nothing: without a manifest, the models are left out with a warning.
"""

import sys
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets
from dagster_dbt.errors import DagsterDbtCliRuntimeError

from lineage_pipeline.api import scan
from lineage_pipeline.defs.assets.metadata import PREVIEW_ROWS, render_preview
from lineage_pipeline.defs.dbt_project import DBT_MANIFEST, DBT_PROJECT, hash_marts_inputs, set_environment
from lineage_pipeline.defs.home import Home
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.defs.specs import ASSET_OWNERS
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.store.warehouse import Warehouse

MISSING_MANIFEST = "the dbt models are not shown yet: `lineage run` or `lineage ui` prepares them"


class MartTranslator(DagsterDbtTranslator):
    """Groups models by layer, and adds their owners and files."""

    def get_owners(self, dbt_resource_props: Mapping[str, Any]) -> Sequence[str]:
        """Return the owners of the models."""
        return ASSET_OWNERS

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add the file of a model."""
        file = DBT_PROJECT / str(dbt_resource_props["original_file_path"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)
            written = dg.LocalFileCodeReference(file_path=str(file), line_number=1, label=file.name)
            references = {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[written])}
        return {**super().get_metadata(dbt_resource_props), **references}

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str | None:
        """Return the group, named after the folder: staging or marts."""
        return str(dbt_resource_props["fqn"][1])


def build_mart_assets() -> list[dg.AssetsDefinition]:
    """Return the models as assets, if dbt's manifest exists."""
    if not DBT_MANIFEST.is_file():
        warnings.warn(MISSING_MANIFEST, stacklevel=2)
        return []

    @dbt_assets(manifest=DBT_MANIFEST, dagster_dbt_translator=MartTranslator(), name="dbt_models", pool="marts")
    def dbt_models(
        context: dg.AssetExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
    ) -> Iterator[Any]:
        with project.hush(), project.home.alone("marts"):
            yield from build_marts(context, store.warehouse(project.settings), project.home)

    return [dbt_models]


def _add_model_facts(events: Iterator[Any], draft: Path, home: Home) -> Iterator[Any]:
    """Yield the events of dbt, models with their metadata; DuckDB cannot be opened before dbt has closed it."""
    kept: list[Any] = []
    try:
        kept.extend(events)
    except DagsterDbtCliRuntimeError:
        yield from kept
        raise
    lineage = analyze_marts()
    with duckdb.connect(str(draft), read_only=True) as connection:
        for event in kept:
            yield _add_metadata(event, connection, lineage, home) if isinstance(event, dg.Output) else event


def _add_metadata(
    event: "dg.Output[Any]", connection: duckdb.DuckDBPyConnection, lineage: Mapping[str, Any], home: Home
) -> "dg.Output[Any]":
    schema, _, name = event.output_name.partition("__")
    relation = f'"{schema}"."{name}"'
    columns = connection.execute(f"describe {relation}").fetchall()
    # DuckDB wants every result fetched to its end before the next question.
    [(rows,)] = connection.execute(f"select count(*) from {relation}").fetchall()
    first = connection.sql(f"from {relation} limit {PREVIEW_ROWS}").to_arrow_table()
    fields = [dg.TableColumn(str(row[0]), type=str(row[1])) for row in columns]
    return event.with_metadata(
        {
            **event.metadata,
            "dagster/row_count": rows,
            "dagster/column_schema": dg.TableSchema(columns=fields),
            "dagster/column_lineage": lineage.get(f"{schema}.{name}", dg.TableColumnLineage({})),
            "dagster/table_name": f"{schema}.{name}",
            "dagster/uri": home.marts.absolute().as_uri(),
            "preview": dg.MetadataValue.md(render_preview(first)),
        }
    )


def analyze_marts() -> dict[str, dg.TableColumnLineage]:
    """Analyze the column lineage of the models with our own engine, by schema and name."""
    found: dict[str, dict[str, list[dg.TableColumnDep]]] = {}
    for edge in scan(DBT_PROJECT, dialect="duckdb").lineage.column_edges:
        if edge.type is EdgeType.DIRECT and edge.from_object != "?":
            target, source = (".".join(name.split(".")[-2:]) for name in (edge.to_object, edge.from_object))
            dep = dg.TableColumnDep(dg.AssetKey(source.split(".")), edge.from_column)
            deps = found.setdefault(target, {}).setdefault(edge.to_column, [])
            deps += [] if dep in deps else [dep]
    return {target: dg.TableColumnLineage(columns) for target, columns in found.items()}


def build_marts(context: dg.AssetExecutionContext, warehouse: Warehouse, home: Home) -> Iterator[Any]:
    """Build all models into a new file, and move it in place when all models and tests succeeded."""
    warehouse.write_published_files(home.listing)
    for left in home.marts.parent.glob(f".{home.marts.stem}_*.duckdb*"):  # nobody else builds while we do
        left.unlink(missing_ok=True)
    draft = home.marts.with_name(f".{home.marts.stem}_{uuid.uuid4().hex}.duckdb")
    program = Path(sys.executable).with_name("dbt")
    dbt = DbtCliResource(project_dir=str(DBT_PROJECT), profiles_dir=str(DBT_PROJECT), dbt_executable=str(program))
    try:
        with set_environment(LINEAGE_MARTS=str(draft), LINEAGE_FILES=str(home.listing)):
            yield from _add_model_facts(
                dbt.cli(["build"], context=context, target_path=home.folder / "dbt").stream(), draft, home
            )
        draft.replace(home.marts)
        home.record(home.marts, hash_marts_inputs(home.listing.read_bytes()))
    finally:
        for leftover in (draft, draft.with_name(f"{draft.name}.wal")):
            leftover.unlink(missing_ok=True)
