"""The dbt project as assets: staging and marts over the published files, in a DuckDB file that is swapped in whole.

The graph of models comes from dbt's manifest, which is made before a run and before the UI starts. Importing this
module starts nothing: where there is no manifest yet, the models are left out and one sentence says so.
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
from lineage_pipeline.defs.dbt import MANIFEST, PROJECT, environment, marts_key
from lineage_pipeline.defs.home import Home
from lineage_pipeline.defs.metadata import PREVIEW_ROWS, preview
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.defs.specs import OWNERS
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.sets import EdgeType

MISSING = "the dbt models are not shown yet: `lineage run` or `lineage ui` prepares them"


class Translator(DagsterDbtTranslator):
    """Shows models in groups of their layers, with their owners and their files."""

    def get_owners(self, dbt_resource_props: Mapping[str, Any]) -> Sequence[str]:
        """Name who answers for the models."""
        return OWNERS

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add where a model is written."""
        file = PROJECT / str(dbt_resource_props["original_file_path"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)
            written = dg.LocalFileCodeReference(file_path=str(file), line_number=1, label=file.name)
            references = {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[written])}
        return {**super().get_metadata(dbt_resource_props), **references}

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


def _described(events: Iterator[Any], draft: Path, home: Home) -> Iterator[Any]:
    """Give the events of dbt, models with what can be said of them; DuckDB lets nobody in before dbt has left."""
    told: list[Any] = []
    try:
        told.extend(events)
    except DagsterDbtCliRuntimeError:
        yield from told
        raise
    lineage = mart_lineage()
    with duckdb.connect(str(draft), read_only=True) as connection:
        for event in told:
            yield _with_facts(event, connection, lineage, home) if isinstance(event, dg.Output) else event


def _with_facts(
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
            "preview": dg.MetadataValue.md(preview(first)),
        }
    )


def mart_lineage() -> dict[str, dg.TableColumnLineage]:
    """Work out where the columns of the models come from, with our own engine, by schema and name."""
    found: dict[str, dict[str, list[dg.TableColumnDep]]] = {}
    for edge in scan(PROJECT, dialect="duckdb").lineage.column_edges:
        if edge.type is EdgeType.DIRECT and edge.from_object != "?":
            target, source = (".".join(name.split(".")[-2:]) for name in (edge.to_object, edge.from_object))
            dep = dg.TableColumnDep(dg.AssetKey(source.split(".")), edge.from_column)
            deps = found.setdefault(target, {}).setdefault(edge.to_column, [])
            deps += [] if dep in deps else [dep]
    return {target: dg.TableColumnLineage(columns) for target, columns in found.items()}


def build_marts(context: dg.AssetExecutionContext, warehouse: Warehouse, home: Home) -> Iterator[Any]:
    """Build all models into a new file, and put it in place when every one of them and every test held."""
    warehouse.list_published(home.listing)
    for left in home.marts.parent.glob(f".{home.marts.stem}_*.duckdb*"):  # nobody else builds while we do
        left.unlink(missing_ok=True)
    draft = home.marts.with_name(f".{home.marts.stem}_{uuid.uuid4().hex}.duckdb")
    program = Path(sys.executable).with_name("dbt")
    dbt = DbtCliResource(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=str(program))
    try:
        with environment(LINEAGE_MARTS=str(draft), LINEAGE_FILES=str(home.listing)):
            yield from _described(
                dbt.cli(["build"], context=context, target_path=home.folder / "dbt").stream(), draft, home
            )
        draft.replace(home.marts)
        home.record(home.marts, marts_key(home.listing.read_bytes()))
    finally:
        for leftover in (draft, draft.with_name(f"{draft.name}.wal")):
            leftover.unlink(missing_ok=True)
