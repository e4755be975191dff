"""The stages of a snapshot, from files to columns; each writes all its tables, the last act shows them to readers."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import dagster as dg

from lineage_pipeline.defs.keys import commit_of
from lineage_pipeline.defs.metadata import materialised, produced, row_count
from lineage_pipeline.defs.partitions import SPARK, snapshots
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.specs import specs, tables_of
from lineage_pipeline.discover.gather import Gathering
from lineage_pipeline.discover.git import refuse_partial
from lineage_pipeline.discover.rendered import SCHEMA
from lineage_pipeline.discover.schemas.found import with_found
from lineage_pipeline.store.manifests import manifest_path
from lineage_pipeline.store.run import Run
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import Diagnostic, Source, SqlFile

Results: TypeAlias = Iterator[Any]
ProjectParam: TypeAlias = dg.ResourceParam[Project]


@dg.multi_asset(name="discovery", specs=specs(tables_of(Stage.DISCOVERY)), partitions_def=snapshots, pool=SPARK)
def discovery(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Read the repository at the commit: files, and each distinct content once."""
    started = time.monotonic()
    run = _begin(context, project, store)
    gathering = discover(project, context.partition_key)
    run.write("sources", gathering.sources())  # in chunks, as they are read
    found = gathering.done()
    refuse_partial(found)
    if found.key != context.partition_key:
        raise LineageError(f"{project.folder(context.partition_key)} has changed: it is now {found.key}")
    run.write("snapshots", [found.snapshot])
    run.write("sql_files", found.files)
    imports = project.settings_for(context.partition_key).imports()
    run.write("diagnostics", (*found.diagnostics, *imports.findings), part=Stage.DISCOVERY.value)
    yield from _told(project, run, Stage.DISCOVERY, started)


def discover(project: Project, snapshot: str) -> Gathering:
    """Prepare to read the files of a partition; a folder without git must still be what its key says."""
    from lineage_pipeline.discover.folder import gather_folder
    from lineage_pipeline.discover.git import gather_revision

    repository, folder, rules = project.repository(snapshot), project.folder(snapshot), project.settings_for(snapshot)
    if not commit_of(snapshot).startswith("tree-"):
        return gather_revision(folder, commit_of(snapshot), rules, name=repository.name, base_ref=repository.base_ref)
    return gather_folder(folder, rules, name=repository.name)


@dg.multi_asset(name="parsing", specs=specs(tables_of(Stage.PARSING)), partitions_def=snapshots, pool=SPARK)
def parsing(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Compile what is new, resolve names, and write every statement."""
    from lineage_pipeline.spark.stages import write_statements

    yield from _on_spark(context, project, store, spark, Stage.PARSING, write_statements)


@dg.multi_asset(name="object_graph", specs=specs(tables_of(Stage.OBJECT_GRAPH)), partitions_def=snapshots, pool=SPARK)
def object_graph(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Write who defines, writes and reads each object."""
    from lineage_pipeline.spark.stages import write_object_graph

    yield from _on_spark(context, project, store, spark, Stage.OBJECT_GRAPH, write_object_graph)


@dg.multi_asset(
    name="schema_registry", specs=specs(tables_of(Stage.SCHEMA_REGISTRY)), partitions_def=snapshots, pool=SPARK
)
def schema_registry(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Work out the columns of every object, in order of need."""
    from lineage_pipeline.spark.stages import write_schemas

    yield from _on_spark(context, project, store, spark, Stage.SCHEMA_REGISTRY, write_schemas)


@dg.multi_asset(name="column_graph", specs=specs(tables_of(Stage.COLUMN_GRAPH)), partitions_def=snapshots, pool=SPARK)
def column_graph(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Write which column feeds which, and how far each one reaches."""
    from lineage_pipeline.spark.stages import write_column_graph

    yield from _on_spark(context, project, store, spark, Stage.COLUMN_GRAPH, write_column_graph)


@dg.multi_asset(name="findings", specs=specs(["diagnostics"]), partitions_def=snapshots, pool=SPARK)
def findings(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Unite what the stages found; each has written its own part."""
    started = time.monotonic()
    run = _begin(context, project, store)
    levels = Counter(finding.severity.value for finding in run.rows(Diagnostic))
    yield materialised(run, "diagnostics", time.monotonic() - started, dict(levels))


@dg.multi_asset(name="publishing", specs=specs(["manifests"]), partitions_def=snapshots, pool=SPARK)
def publishing(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Show the snapshot to all readers, whole; a blocking check that failed keeps this from happening."""
    started = time.monotonic()
    manifest = _begin(context, project, store).publish()
    rows = {table: stored.rows for table, stored in sorted(manifest.tables.items())}
    project.tell(f"{context.partition_key}: published, {sum(rows.values())} rows in {len(rows)} tables")
    settings = project.settings_for(context.partition_key)
    uri = store.files(settings).address(manifest_path(manifest.key))
    shown = "\n".join(["| table | rows |", "|---|---|", *(f"| {table} | {count} |" for table, count in rows.items())])
    more = {"run": manifest.run, **rows}
    yield produced("manifests", uri, time.monotonic() - started, sum(rows.values()), shown, more)


STAGES = [discovery, parsing, object_graph, schema_registry, column_graph, findings, publishing]


def _begin(context: dg.AssetExecutionContext, project: Project, store: StoreResource) -> Run:
    return store.begin(project.settings_for(context.partition_key), context.partition_key, context.run.run_id)


def _on_spark(
    context: dg.AssetExecutionContext,
    project: Project,
    store: StoreResource,
    spark: SparkResource,
    stage: Stage,
    write: Callable[[Any], None],
) -> Results:
    """Let a stage write its tables on Spark, and tell of each."""
    from lineage_pipeline.spark.work import Work

    started = time.monotonic()
    settings = project.settings_for(context.partition_key)
    run = _begin(context, project, store)
    imported = with_found(settings.imports(), run.rows(SqlFile), _schema_sources(run), settings).schemas
    write(Work(run, store.files(settings), settings, lambda: spark.open(settings.spark), imported))
    yield from _told(project, run, stage, started)


def _schema_sources(run: Run) -> Sequence[Source]:
    """Read the sources, but only where a file of the snapshot describes tables: they may be many."""
    described = any(file.templater == SCHEMA for file in run.rows(SqlFile))
    return run.rows(Source) if described else ()


def _told(project: Project, run: Run, stage: Stage, started: float) -> Results:
    seconds = time.monotonic() - started
    tables = tables_of(stage)
    rows = ", ".join(f"{row_count(run, table)} {table}" for table in tables)
    project.tell(f"{run.key[0]}: {stage.value} {seconds:.1f} s, {rows}")
    for table in tables:
        yield materialised(run, table, seconds)
