"""Retention through Dagster: an asset that says each night what went, and the same for the command line."""

import time
from collections.abc import Callable, Collection

import dagster as dg

from lineage_pipeline.defs.partitions import SNAPSHOTS, SPARK
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.retention import Pruned, prune
from lineage_pipeline.defs.run import open_instance
from lineage_pipeline.defs.runs import KnownRuns
from lineage_pipeline.defs.specs import CODE_VERSION, OWNERS
from lineage_pipeline.export.reports.escapes import code
from lineage_pipeline.settings import Settings
from lineage_pipeline.store.files import Files

RETENTION = dg.AssetKey(["operations", "retention"])

MOST_SHOWN = 20
"""Snapshots that a preview lists."""


@dg.asset(
    key=RETENTION,
    group_name="operations",
    kinds={"parquet"},
    owners=OWNERS,
    pool=SPARK,
    code_version=CODE_VERSION,
    description="What was removed last: snapshots by age and number, files of old runs, caches.",
)
def retention(context: dg.AssetExecutionContext, project: dg.ResourceParam[Project]) -> dg.MaterializeResult[None]:
    """Remove what [retention] says."""
    started = time.monotonic()
    busy = KnownRuns(context.instance).busy()
    pruned = prune(project.settings, project.settings_for, _forgetter(context.instance), busy=busy)
    for problem in pruned.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "dagster/uri": Files(project.settings.warehouse).address("").rstrip("/"),
            "seconds": round(time.monotonic() - started, 2),
            "snapshots": len(pruned.snapshots),
            "files": pruned.files,
            "cached_files": pruned.caches,
            "removed": dg.MetadataValue.json(list(pruned.snapshots)),
            "problems": dg.MetadataValue.json(list(pruned.problems)),
            "preview": dg.MetadataValue.md(_preview(pruned)),
        }
    )


def _preview(pruned: Pruned) -> str:
    """List what went, and what was left alone and why."""
    gone = [f"- removed {code(key)}" for key in pruned.snapshots[:MOST_SHOWN]]
    more = len(pruned.snapshots) - len(gone)
    rest = [f"- and {more} more"] if more else []
    return "\n".join([*gone, *rest, *(f"- {code(problem)}" for problem in pruned.problems)]) or "nothing was removed"


def prune_project(settings: Settings, *, dry: bool = False) -> Pruned:
    """Remove what the settings say, and tell the project's own Dagster instance."""
    project = Project.over(settings)
    if dry:
        return prune(settings, project.settings_for, lambda _: None, dry=True)
    with open_instance(settings) as instance:
        busy = KnownRuns(instance).busy()
        return prune(settings, project.settings_for, _forgetter(instance), busy=busy)


def _forgetter(instance: dg.DagsterInstance) -> Callable[[Collection[str]], None]:
    """Give what drops the partitions of snapshots."""

    def forget(snapshots: Collection[str]) -> None:
        for key in sorted(set(snapshots) & set(instance.get_dynamic_partitions(SNAPSHOTS))):
            instance.delete_dynamic_partition(SNAPSHOTS, key)

    return forget
