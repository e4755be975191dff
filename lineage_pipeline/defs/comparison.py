"""What follows from a published snapshot: its changes against its base, its events, its report."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import dagster as dg

from lineage_pipeline.defs.home import write_text
from lineage_pipeline.defs.metadata import materialised
from lineage_pipeline.defs.partitions import snapshots
from lineage_pipeline.defs.published import (
    base_of,
    comparison_of,
    diff_key,
    events_key,
    is_published,
    settled,
    subject_of,
    waived_changes,
)
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.defs.specs import asset_key, specs
from lineage_pipeline.discover.gather import finding
from lineage_pipeline.engine.diff import diff
from lineage_pipeline.export import EXPORTERS, REPORTERS
from lineage_pipeline.export.report import count_changes
from lineage_pipeline.settings import Settings
from lineage_pipeline.settings.judging import policy_of
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import Diagnostic

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
        before, after = settled(warehouse, settings, base, head)
        waived = waived_changes(warehouse, project.folder(head), head, after, diff(before, after, policy_of(settings)))
        found = waived.changes
        run = warehouse.begin((base, head), context.run.run_id, diff_key(settings))
        run.write("changes", found)
        run.publish()
        _tell_findings(store, settings, context, waived.findings)
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
    metadata: dict[str, Any] = {"dagster/partition_row_count": len(lines), "path": dg.MetadataValue.path(str(file))}
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
    metadata: dict[str, Any] = {
        "report": dg.MetadataValue.md(shown.read_text(encoding="utf-8")),
        "path": dg.MetadataValue.path(shown),
    }
    yield dg.MaterializeResult(asset_key("change_report"), metadata=metadata)


PRODUCTS = [changes, events, change_report]


def _report_base(store: StoreResource, settings: Settings, context: dg.AssetExecutionContext, base: str) -> None:
    """Publish the finding that there is no base: a comparison that could not be made is not one without changes."""
    missing = finding("BASE_MISSING", None, base=base, reason="it is not in the warehouse")
    context.log.warning(missing.message)
    _tell_findings(store, settings, context, [missing])


def _tell_findings(
    store: StoreResource, settings: Settings, context: dg.AssetExecutionContext, findings: Sequence[Diagnostic]
) -> None:
    """Publish what is to be said of the comparison, and take back what was said before."""
    manifest = store.warehouse(settings).manifest(context.partition_key)
    files = manifest.tables["diagnostics"].files if manifest else ()
    if findings or any(file.part == Stage.DIFF.value and file.rows for file in files):
        run = store.begin(settings, context.partition_key, context.run.run_id)
        run.write("diagnostics", findings, part=Stage.DIFF.value)
        run.publish()
