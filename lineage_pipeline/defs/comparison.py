"""What follows from a published snapshot: its changes against its base, its events, its report."""

import time
from collections.abc import Iterator
from typing import Any, TypeAlias

import dagster as dg
import msgspec

from lineage_pipeline import __version__
from lineage_pipeline.defs.home import key_of, write_text
from lineage_pipeline.defs.metadata import materialised
from lineage_pipeline.defs.partitions import repository_of, snapshots
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.defs.specs import asset_key, specs
from lineage_pipeline.discover.gather import finding
from lineage_pipeline.engine.diff import Policy, diff
from lineage_pipeline.export import EXPORTERS, REPORTERS, Comparison, Naming, Subject
from lineage_pipeline.export.report import count_changes
from lineage_pipeline.settings import Settings
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import Change, Snapshot, Source, SqlFile

Results: TypeAlias = Iterator[Any]
ProjectParam: TypeAlias = dg.ResourceParam[Project]


@dg.multi_asset(name="diff", specs=specs(["changes"]), partitions_def=snapshots)
def changes(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Compare the snapshot with its base; without one there is nothing to compare."""
    started, head = time.monotonic(), context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    base = base_of(warehouse, head)
    if base is None:
        yield dg.MaterializeResult(asset_key("changes"), metadata={"base": "none"})
    elif not is_published(warehouse, base, settings):
        _report_base(store, settings, context, base)
        yield dg.MaterializeResult(asset_key("changes"), metadata={"base": f"{base} is not in the warehouse"})
    else:
        # Both sides are held here, whole; joins over Parquet take their place when a snapshot outgrows a driver.
        found = diff(warehouse.load(base), warehouse.load(head), policy_of(settings))
        run = warehouse.begin((base, head), context.run.run_id, diff_key(settings))
        run.write("changes", found)
        run.publish()
        _forget_base(store, settings, context)
        counts = {severity.value: count for severity, count in count_changes(found).items()}
        told = ", ".join(f"{count} {severity}" for severity, count in counts.items())
        project.tell(f"{head}: diff {time.monotonic() - started:.1f} s, {told}")
        yield materialised(run, "changes", time.monotonic() - started, {"base": base, **counts})


@dg.multi_asset(name="events", specs=specs(["openlineage_events"]), partitions_def=snapshots)
def events(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Write the snapshot as OpenLineage events."""
    snapshot = context.partition_key
    settings = project.settings_for(snapshot)
    file = project.home.events_of(snapshot)
    lines = list(EXPORTERS["openlineage"].write(subject_of(store.warehouse(settings), settings, snapshot)))
    write_text(file, "".join(lines))
    project.home.record(file, events_key(settings))
    project.tell(f"{snapshot}: {len(lines)} OpenLineage events")
    metadata = {"dagster/partition_row_count": len(lines), "path": dg.MetadataValue.path(str(file))}
    yield dg.MaterializeResult(asset_key("openlineage_events"), metadata=metadata)


@dg.multi_asset(name="report", specs=specs(["change_report"]), partitions_def=snapshots)
def change_report(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Write what changed for people and for machines."""
    head = context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    comparison = comparison_of(warehouse, head)
    if comparison is None:
        yield dg.MaterializeResult(asset_key("change_report"), metadata={"base": "none"})
        return
    for name in ("markdown", "json"):
        reporter = REPORTERS[name]
        file = project.home.report_of(comparison.base, head, reporter.suffix)
        write_text(file, reporter.write(comparison))
        project.home.record(file, diff_key(settings))
    shown = project.home.report_of(comparison.base, head, REPORTERS["markdown"].suffix)
    metadata = {"report": dg.MetadataValue.md(shown.read_text(encoding="utf-8")), "path": dg.MetadataValue.path(shown)}
    yield dg.MaterializeResult(asset_key("change_report"), metadata=metadata)


PRODUCTS = [changes, events, change_report]


def base_of(warehouse: Warehouse, head: str) -> str | None:
    """Give the key of the snapshot that a published one is compared with."""
    (row,) = from_arrow("snapshots", warehouse.read(head, "snapshots"), Snapshot)
    return f"{repository_of(head)}@{row.base}" if row.base else None


def comparison_of(warehouse: Warehouse, head: str) -> Comparison | None:
    """Read the published changes of a snapshot, if it has been compared."""
    base = base_of(warehouse, head)
    if base is None or warehouse.manifest((base, head)) is None:
        return None
    return Comparison(base, head, from_arrow("changes", warehouse.read((base, head), "changes"), Change))


def subject_of(warehouse: Warehouse, settings: Settings, snapshot: str) -> Subject:
    """Read a published snapshot as an exporter takes it."""
    (row,) = from_arrow("snapshots", warehouse.read(snapshot, "snapshots"), Snapshot)
    files = from_arrow("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    sources = from_arrow("sources", warehouse.read(snapshot, "sources"), Source)
    rendered = {source.source_hash: source.rendered for source in sources}
    texts = {file.path: rendered[file.source_hash] for file in files}
    configured = settings.openlineage
    naming = Naming(settings.namespaces(), configured.job_namespace, configured.producer)
    return Subject(warehouse.load(snapshot), row, files, texts, naming)


def is_published(warehouse: Warehouse, snapshot: str, settings: Settings) -> bool:
    """Say whether a snapshot is there as these settings make it."""
    manifest = warehouse.manifest(snapshot)
    return manifest is not None and manifest.analysis_key == settings.analysis_key()


def policy_of(settings: Settings) -> Policy:
    """Give the settings of `[diff]` as the engine takes them."""
    return Policy(**settings.diff.model_dump(mode="json"))


def diff_key(settings: Settings) -> str:
    """Name what bears on changes apart from the two snapshots."""
    return key_of(settings.analysis_key(), msgspec.to_builtins(policy_of(settings)))


def events_key(settings: Settings) -> str:
    """Name what bears on events apart from the snapshot."""
    return key_of(__version__, settings.analysis_key(), settings.namespaces(), settings.openlineage.model_dump())


def _report_base(store: StoreResource, settings: Settings, context: dg.AssetExecutionContext, base: str) -> None:
    """Publish the finding that there is no base: a comparison that could not be made is not one without changes."""
    missing = finding("BASE_MISSING", None, base=base, reason="it is not in the warehouse")
    context.log.warning(missing.message)
    run = store.begin(settings, context.partition_key, context.run.run_id)
    run.write("diagnostics", [missing], part=Stage.DIFF.value)
    run.publish()


def _forget_base(store: StoreResource, settings: Settings, context: dg.AssetExecutionContext) -> None:
    """Take back the finding that there was no base."""
    manifest = store.warehouse(settings).manifest(context.partition_key)
    files = manifest.tables["diagnostics"].files if manifest else ()
    if any(file.part == Stage.DIFF.value and file.rows for file in files):
        run = store.begin(settings, context.partition_key, context.run.run_id)
        run.write("diagnostics", [], part=Stage.DIFF.value)
        run.publish()
