"""What follows from a published snapshot: its changes against its base, its events, its report."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import dagster as dg

from lineage_pipeline.defs.home import write_text
from lineage_pipeline.defs.metadata import materialised, produced, unmade
from lineage_pipeline.defs.partitions import SPARK, snapshots
from lineage_pipeline.defs.published import (
    base_of,
    comparison_of,
    contested_pair,
    diff_key,
    events_key,
    is_published,
    relaxations,
    sources_of,
    subject_of,
    waived_changes,
)
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.specs import specs
from lineage_pipeline.discover.gather import finding
from lineage_pipeline.engine.diff import diff
from lineage_pipeline.engine.diff.inline import MARK
from lineage_pipeline.engine.diff.waivers import Waived
from lineage_pipeline.export import EXPORTERS, REPORTERS
from lineage_pipeline.export.report import count_changes
from lineage_pipeline.export.reports.escapes import fenced
from lineage_pipeline.settings import Settings
from lineage_pipeline.settings.judging import policy_of
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import Diagnostic
from lineage_pipeline.vocabulary.waivers import Waiver

MOST_SHOWN = 2_000
"""Characters of an event that a preview shows."""

FEW = 100_000
"""Rows of both sides together up to which one process compares them sooner than Spark begins."""

Results: TypeAlias = Iterator[Any]
ProjectParam: TypeAlias = dg.ResourceParam[Project]


@dg.multi_asset(name="diff", specs=specs(["changes", "waivers"]), partitions_def=snapshots, pool=SPARK)
def changes(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Compare the snapshot with its base; without one there is nothing to compare."""
    started, head = time.monotonic(), context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    base = base_of(warehouse, head)
    if base is None:
        yield from _nothing("there is nothing to compare with")
    elif not is_published(warehouse, base, settings):
        _report_base(store, settings, context, base)
        yield from _nothing(f"{base} is not in the warehouse")
    else:
        waived = _compared(store, settings, lambda: spark.open(settings.spark), project.folder(head), (base, head))
        found = waived.changes
        run = warehouse.begin((base, head), context.run.run_id, diff_key(settings))
        run.write("changes", found)
        run.write("waivers", waived.waivers)
        run.publish()
        milder = relaxations(project.folder(head), base, head)
        _tell_findings(store, settings, context, (*milder, *waived.findings))
        counts = {severity.value: count for severity, count in count_changes(found).items()}
        told = ", ".join(f"{count} {severity}" for severity, count in counts.items())
        project.tell(f"{head}: diff {time.monotonic() - started:.1f} s, {told}")
        seconds = time.monotonic() - started
        yield materialised(run, "changes", seconds, {"base": base, **counts})
        yield materialised(run, "waivers", seconds, {"base": base, **waiver_counts(waived.waivers)})


def _compared(
    store: StoreResource, settings: Settings, open_session: Callable[[], Any], folder: Path, keys: tuple[str, str]
) -> Waived:
    """Compare two snapshots on Spark; few rows, and those that have to be linked again, are compared here."""
    warehouse, policy, (base, head) = store.warehouse(settings), policy_of(settings), keys
    runs = [store.published(settings, key) for key in keys]
    again = contested_pair(warehouse, settings, base, head)
    if again is not None:
        return waived_changes(warehouse, folder, head, sources_of(warehouse, head), diff(*again, policy))
    if sum(table.rows for run in runs for table in run.manifest.tables.values()) <= FEW:
        found = diff(warehouse.load(base), warehouse.load(head), policy)
        return waived_changes(warehouse, folder, head, sources_of(warehouse, head), found)
    from lineage_pipeline.spark.changes import Sides, compare, sources_with

    sides = Sides(open_session(), *runs)
    return waived_changes(warehouse, folder, head, sources_with(sides, MARK), compare(sides, policy))


def waiver_counts(waivers: Sequence[Waiver]) -> dict[str, int]:
    """Count the waivers that hold something, those that ran out, and those that nothing needs."""
    used, expired = sum(one.used for one in waivers), sum(one.expired for one in waivers)
    return {"used": used, "expired": expired, "unused": len(waivers) - used - expired}


def _nothing(why: str) -> Results:
    for table in ("changes", "waivers"):
        yield unmade(table, why)


@dg.multi_asset(name="events", specs=specs(["openlineage_events"]), partitions_def=snapshots, pool=SPARK)
def events(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Write the snapshot as OpenLineage events."""
    started, snapshot = time.monotonic(), context.partition_key
    settings = project.settings_for(snapshot)
    file = project.home.events_of(snapshot)
    lines = list(EXPORTERS["openlineage"].write(subject_of(store.warehouse(settings), settings, snapshot)))
    write_text(file, "".join(lines))
    project.home.record(file, events_key(settings))
    project.tell(f"{snapshot}: {len(lines)} OpenLineage events")
    first = fenced("json", lines[0][:MOST_SHOWN]) if lines else "no event"
    more = {"path": dg.MetadataValue.path(str(file))}
    yield produced("openlineage_events", file.as_uri(), time.monotonic() - started, len(lines), first, more)


@dg.multi_asset(name="report", specs=specs(["change_report"]), partitions_def=snapshots, pool=SPARK)
def change_report(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Write what changed for people and for machines."""
    started, head = time.monotonic(), context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    comparison = comparison_of(warehouse, head)
    if comparison is None:
        yield produced("change_report", "", 0, 0, "there is nothing to compare with")
        return
    for name in ("markdown", "json"):
        reporter = REPORTERS[name]
        file = project.home.report_of(comparison.base, head, reporter.suffix)
        write_text(file, reporter.write(comparison))
        project.home.record(file, diff_key(settings))
    shown = project.home.report_of(comparison.base, head, REPORTERS["markdown"].suffix)
    text = shown.read_text(encoding="utf-8")
    more = {"base": comparison.base, "path": dg.MetadataValue.path(shown)}
    seconds = time.monotonic() - started
    yield produced("change_report", shown.as_uri(), seconds, len(comparison.changes), text, more)


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
