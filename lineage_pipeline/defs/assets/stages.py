"""The stages of a snapshot as assets, from files to columns; the last one publishes all tables."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import dagster as dg

from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.defs.assets.metadata import build_product_result, build_table_result, count_rows
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.snapshot_keys import BASE_TAG, extract_commit
from lineage_pipeline.defs.specs import SPARK_POOL, build_specs, list_stage_tables, snapshot_partitions
from lineage_pipeline.discover.discovery import DiscoveryReader
from lineage_pipeline.discover.git.repository import refuse_missing_contents
from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
from lineage_pipeline.export.dialect_use import format_dialects, list_dialects
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, Diagnostic, Source, SqlFile
from lineage_pipeline.store.manifest_files import manifest_path
from lineage_pipeline.store.run import WarehouseRun

Results: TypeAlias = Iterator[Any]
ProjectParam: TypeAlias = dg.ResourceParam[Project]


@dg.multi_asset(
    name="discovery",
    specs=build_specs(list_stage_tables(Stage.DISCOVERY)),
    partitions_def=snapshot_partitions,
    pool=SPARK_POOL,
)
def discovery(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Read the repository at the commit: files, and each distinct content once."""
    started = time.monotonic()
    run = _begin_run(context, project, store)
    gathering = open_discovery(project, context.partition_key, context.run.tags.get(BASE_TAG, ""))
    run.write("sources", gathering.sources())  # in chunks, as they are read
    found = gathering.done()
    refuse_missing_contents(found)
    if found.key != context.partition_key:
        raise LineageError(f"{project.folder(context.partition_key)} has changed: it is now {found.key}")
    for line in format_dialects(list_dialects(found.files)):
        project.tell(line)
    run.write("snapshots", [found.snapshot])
    run.write("sql_files", found.files)
    imports = import_configured_schemas(project.settings_for(context.partition_key))
    run.write("diagnostics", (*found.diagnostics, *imports.findings), part=Stage.DISCOVERY.value)
    yield from _report_tables(project, run, Stage.DISCOVERY, started)


def open_discovery(project: Project, snapshot: str, base: str = "") -> DiscoveryReader:
    """Prepare to read the files of a partition; a folder without git must still match its key."""
    from lineage_pipeline.discover.folder import open_folder
    from lineage_pipeline.discover.git.repository import BaseChoice, open_revision

    repository, folder, rules = project.repository(snapshot), project.folder(snapshot), project.settings_for(snapshot)
    key = compute_analysis_key(rules)
    if not extract_commit(snapshot).startswith("tree-"):
        return open_revision(
            folder,
            extract_commit(snapshot),
            rules,
            name=repository.name,
            base=BaseChoice(repository.base_ref, base),
            analysis_key=key,
        )
    return open_folder(folder, rules, name=repository.name, analysis_key=key)


@dg.multi_asset(
    name="parsing",
    specs=build_specs(list_stage_tables(Stage.PARSING)),
    partitions_def=snapshot_partitions,
    pool=SPARK_POOL,
)
def parsing(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Compile what is new, resolve names, and write every statement."""
    from lineage_pipeline.spark.stages import write_statements

    yield from _run_on_spark(context, project, store, spark, Stage.PARSING, write_statements)


@dg.multi_asset(
    name="object_graph",
    specs=build_specs(list_stage_tables(Stage.OBJECT_GRAPH)),
    partitions_def=snapshot_partitions,
    pool=SPARK_POOL,
)
def object_graph(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Write who defines, writes and reads each object."""
    from lineage_pipeline.spark.stages import write_object_graph

    yield from _run_on_spark(context, project, store, spark, Stage.OBJECT_GRAPH, write_object_graph)


@dg.multi_asset(
    name="schema_registry",
    specs=build_specs(list_stage_tables(Stage.SCHEMA_REGISTRY)),
    partitions_def=snapshot_partitions,
    pool=SPARK_POOL,
)
def schema_registry(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Work out the columns of every object, in order of need."""
    from lineage_pipeline.spark.stages import write_schemas

    yield from _run_on_spark(context, project, store, spark, Stage.SCHEMA_REGISTRY, write_schemas)


@dg.multi_asset(
    name="column_graph",
    specs=build_specs(list_stage_tables(Stage.COLUMN_GRAPH)),
    partitions_def=snapshot_partitions,
    pool=SPARK_POOL,
)
def column_graph(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Write which column feeds which, and how far each one reaches."""
    from lineage_pipeline.spark.stages import write_column_graph

    yield from _run_on_spark(context, project, store, spark, Stage.COLUMN_GRAPH, write_column_graph)


@dg.multi_asset(
    name="findings", specs=build_specs(["diagnostics"]), partitions_def=snapshot_partitions, pool=SPARK_POOL
)
def findings(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Unite what the stages found; each has written its own part."""
    started = time.monotonic()
    run = _begin_run(context, project, store)
    levels = Counter(finding.severity.value for finding in run.rows(Diagnostic))
    yield build_table_result(run, "diagnostics", time.monotonic() - started, dict(levels))


@dg.multi_asset(
    name="publishing", specs=build_specs(["manifests"]), partitions_def=snapshot_partitions, pool=SPARK_POOL
)
def publishing(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Show the snapshot to all readers, whole; a blocking check that failed keeps this from happening."""
    started = time.monotonic()
    manifest = _begin_run(context, project, store).publish()
    rows = {table: stored.rows for table, stored in sorted(manifest.tables.items())}
    project.tell(f"{context.partition_key}: published, {sum(rows.values())} rows in {len(rows)} tables")
    settings = project.settings_for(context.partition_key)
    uri = store.files(settings).address(manifest_path(manifest.key))
    shown = "\n".join(["| table | rows |", "|---|---|", *(f"| {table} | {count} |" for table, count in rows.items())])
    more = {"run": manifest.run, **rows}
    yield build_product_result("manifests", uri, time.monotonic() - started, sum(rows.values()), shown, more)


STAGE_ASSETS = [discovery, parsing, object_graph, schema_registry, column_graph, findings, publishing]


def _begin_run(context: dg.AssetExecutionContext, project: Project, store: StoreResource) -> WarehouseRun:
    return store.begin(project.settings_for(context.partition_key), context.partition_key, context.run.run_id)


def _run_on_spark(
    context: dg.AssetExecutionContext,
    project: Project,
    store: StoreResource,
    spark: SparkResource,
    stage: Stage,
    write: Callable[[Any], None],
) -> Results:
    """Let a stage write its tables on Spark, and yield their results."""
    from lineage_pipeline.spark.workspace import Workspace

    started = time.monotonic()
    settings = project.settings_for(context.partition_key)
    run = _begin_run(context, project, store)
    imported = add_project_schemas(
        import_configured_schemas(settings), run.rows(SqlFile), _read_schema_sources(run), settings
    ).schemas
    write(Workspace(run, store.files(settings), settings, lambda: spark.open(settings.spark), imported))
    yield from _report_tables(project, run, stage, started)


def _read_schema_sources(run: WarehouseRun) -> Sequence[Source]:
    """Read the sources, only if a file of the snapshot describes tables: they may be many."""
    described = any(file.templater == SCHEMA_TEMPLATER for file in run.rows(SqlFile))
    return run.rows(Source) if described else ()


def _report_tables(project: Project, run: WarehouseRun, stage: Stage, started: float) -> Results:
    seconds = time.monotonic() - started
    tables = list_stage_tables(stage)
    rows = ", ".join(f"{count_rows(run, table)} {table}" for table in tables)
    project.tell(f"{run.key[0]}: {stage.value} {seconds:.1f} s, {rows}")
    for table in tables:
        yield build_table_result(run, table, seconds)
