"""Assets that follow from a published snapshot: changes against its base, OpenLineage events, the change report."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import dagster as dg

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.assets.metadata import build_missing_result, build_product_result, build_table_result
from lineage_pipeline.defs.home import write_text_atomically
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.runs.published import (
    find_relaxations,
    hash_diff_inputs,
    hash_event_inputs,
    is_published,
    read_base_key,
    read_comparison,
    read_file_side,
    read_sources,
    read_subject,
    relink_contested,
    waive_snapshot_changes,
)
from lineage_pipeline.defs.specs import SPARK_POOL, build_specs, snapshot_partitions
from lineage_pipeline.diff_settings import build_policy
from lineage_pipeline.discover.discovery import build_file_finding
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.file_accounts import account_for_files, report_uncompared
from lineage_pipeline.engine.diff.suggestions import describe_changes
from lineage_pipeline.engine.diff.waivers import INLINE_MARK, WaivedChanges
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.export.documents.changes_json import count_by_severity
from lineage_pipeline.export.escaping import format_fenced
from lineage_pipeline.export.formats.lineage_formats import write_text_parts
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.tables import Change, Diagnostic, Waiver

MAX_EVENT_PREVIEW = 2_000
"""Characters of an event in a preview."""

LOCAL_DIFF_ROWS = 100_000
"""Rows of both sides together up to which one process is quicker than Spark."""

Results: TypeAlias = Iterator[Any]
ProjectParam: TypeAlias = dg.ResourceParam[Project]


@dg.multi_asset(
    name="diff", specs=build_specs(["changes", "waivers"]), partitions_def=snapshot_partitions, pool=SPARK_POOL
)
def changes(
    context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource, spark: SparkResource
) -> Results:
    """Compare the snapshot with its base; without one there is nothing to compare."""
    started, head = time.monotonic(), context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    base = read_base_key(warehouse, head)
    if base is None:
        yield from _missing_results("there is nothing to compare with")
    elif not is_published(warehouse, base, settings):
        _publish_missing_base(store, settings, context, base)
        yield from _missing_results(f"{base} is not in the warehouse")
    else:
        waived = _compare_snapshots(
            store, settings, lambda: spark.open(settings.spark), project.folder(head), (base, head)
        )
        found = waived.changes
        run = warehouse.begin((base, head), context.run.run_id, hash_diff_inputs(settings))
        run.write("changes", found)
        run.write("waivers", waived.waivers)
        run.publish()
        milder = find_relaxations(project.folder(head), base, head)
        _publish_findings(store, settings, context, (*milder, *waived.findings))
        counts = {severity.value: count for severity, count in count_by_severity(found).items()}
        listed = ", ".join(f"{count} {severity}" for severity, count in counts.items())
        project.tell(f"{head}: diff {time.monotonic() - started:.1f} s, {listed}")
        seconds = time.monotonic() - started
        yield build_table_result(run, "changes", seconds, {"base": base, **counts})
        yield build_table_result(run, "waivers", seconds, {"base": base, **count_waivers(waived.waivers)})


def _compare_snapshots(
    store: StoreResource, settings: Settings, open_session: Callable[[], Any], folder: Path, keys: tuple[str, str]
) -> WaivedChanges:
    """Compare two snapshots on Spark; few rows, and those that must be linked again, are compared here."""
    warehouse, policy, (base, head) = store.warehouse(settings), build_policy(settings), keys
    runs = [store.published(settings, key) for key in keys]
    files = read_file_side(warehouse, base), read_file_side(warehouse, head)

    def complete(changes: Sequence[Change]) -> tuple[Change, ...]:
        return describe_changes(*files, report_uncompared(account_for_files(*files), changes, policy))

    again = relink_contested(warehouse, settings, base, head)
    if again is not None:
        found = complete(diff(*again, policy))
        return waive_snapshot_changes(warehouse, folder, head, read_sources(warehouse, head), found)
    if sum(table.rows for run in runs for table in run.manifest.tables.values()) <= LOCAL_DIFF_ROWS:
        found = complete(diff(warehouse.load(base), warehouse.load(head), policy))
        return waive_snapshot_changes(warehouse, folder, head, read_sources(warehouse, head), found)
    from lineage_pipeline.spark.snapshot_diff import SnapshotPair, diff_snapshots, find_sources

    sides = SnapshotPair(open_session(), *runs)
    found = complete(diff_snapshots(sides, policy))
    return waive_snapshot_changes(warehouse, folder, head, find_sources(sides, INLINE_MARK), found)


def count_waivers(waivers: Sequence[Waiver]) -> dict[str, int]:
    """Count the waivers that are used, expired, and unused."""
    used, expired = sum(one.used for one in waivers), sum(one.expired for one in waivers)
    return {"used": used, "expired": expired, "unused": len(waivers) - used - expired}


def _missing_results(why: str) -> Results:
    for table in ("changes", "waivers"):
        yield build_missing_result(table, why)


@dg.multi_asset(
    name="events", specs=build_specs(["openlineage_events"]), partitions_def=snapshot_partitions, pool=SPARK_POOL
)
def events(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Write the snapshot as OpenLineage events."""
    started, snapshot = time.monotonic(), context.partition_key
    settings = project.settings_for(snapshot)
    file = project.home.events_of(snapshot)
    lines = list(write_text_parts("openlineage", read_subject(store.warehouse(settings), settings, snapshot)))
    write_text_atomically(file, "".join(lines))
    project.home.record(file, hash_event_inputs(settings))
    project.tell(f"{snapshot}: {len(lines)} OpenLineage events")
    first = format_fenced("json", lines[0][:MAX_EVENT_PREVIEW]) if lines else "no event"
    more = {"path": dg.MetadataValue.path(str(file))}
    yield build_product_result("openlineage_events", file.as_uri(), time.monotonic() - started, len(lines), first, more)


@dg.multi_asset(
    name="report", specs=build_specs(["change_report"]), partitions_def=snapshot_partitions, pool=SPARK_POOL
)
def change_report(context: dg.AssetExecutionContext, project: ProjectParam, store: StoreResource) -> Results:
    """Write what changed for people and for machines."""
    started, head = time.monotonic(), context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    comparison = read_comparison(warehouse, head)
    if comparison is None:
        yield build_product_result("change_report", "", 0, 0, "there is nothing to compare with")
        return
    for name in ("markdown", "json"):
        reporter = REPORTERS[name]
        file = project.home.report_of(comparison.base, head, reporter.suffix)
        write_text_atomically(file, reporter.write(comparison))
        project.home.record(file, hash_diff_inputs(settings))
    shown = project.home.report_of(comparison.base, head, REPORTERS["markdown"].suffix)
    text = shown.read_text(encoding="utf-8")
    more = {"base": comparison.base, "path": dg.MetadataValue.path(shown)}
    seconds = time.monotonic() - started
    yield build_product_result("change_report", shown.as_uri(), seconds, len(comparison.changes), text, more)


COMPARISON_ASSETS = [changes, events, change_report]


def _publish_missing_base(
    store: StoreResource, settings: Settings, context: dg.AssetExecutionContext, base: str
) -> None:
    """Publish the finding that there is no base: a comparison that failed is not one without changes."""
    missing = build_file_finding("BASE_MISSING", None, base=base, reason="it is not in the warehouse")
    context.log.warning(missing.message)
    _publish_findings(store, settings, context, [missing])


def _publish_findings(
    store: StoreResource, settings: Settings, context: dg.AssetExecutionContext, findings: Sequence[Diagnostic]
) -> None:
    """Publish the findings of the comparison, and replace those of an earlier one."""
    manifest = store.warehouse(settings).manifest(context.partition_key)
    files = manifest.tables["diagnostics"].files if manifest else ()
    if findings or any(file.part == Stage.DIFF.value and file.rows for file in files):
        run = store.begin(settings, context.partition_key, context.run.run_id)
        run.write("diagnostics", findings, part=Stage.DIFF.value)
        run.publish()
