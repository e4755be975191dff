"""Retention through Dagster: an asset that says each night what went, and the same for the command line."""

from collections.abc import Callable, Collection

import dagster as dg

from lineage_pipeline.defs.partitions import SNAPSHOTS
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.retention import Pruned, prune
from lineage_pipeline.defs.run import open_instance
from lineage_pipeline.defs.runs import KnownRuns
from lineage_pipeline.defs.specs import OWNERS
from lineage_pipeline.settings import Settings

RETENTION = dg.AssetKey(["operations", "retention"])


@dg.asset(
    key=RETENTION,
    group_name="operations",
    kinds={"parquet"},
    owners=OWNERS,
    pool="spark",
    description="What was removed last: snapshots by age and number, files of old runs, caches.",
)
def retention(context: dg.AssetExecutionContext, project: dg.ResourceParam[Project]) -> dg.MaterializeResult[None]:
    """Remove what [retention] says."""
    caches = not KnownRuns(context.instance).are_busy()
    pruned = prune(project.settings, project.settings_for, _forgetter(context.instance), caches=caches)
    for problem in pruned.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "snapshots": len(pruned.snapshots),
            "files": pruned.files,
            "cached_files": pruned.caches,
            "removed": dg.MetadataValue.json(list(pruned.snapshots)),
            "problems": dg.MetadataValue.json(list(pruned.problems)),
        }
    )


def prune_project(settings: Settings, *, dry: bool = False) -> Pruned:
    """Remove what the settings say, and tell the project's own Dagster instance."""
    project = Project.over(settings)
    if dry:
        return prune(settings, project.settings_for, lambda _: None, dry=True)
    with open_instance(settings) as instance:
        caches = not KnownRuns(instance).are_busy()
        return prune(settings, project.settings_for, _forgetter(instance), caches=caches)


def _forgetter(instance: dg.DagsterInstance) -> Callable[[Collection[str]], None]:
    """Give what drops the partitions of snapshots."""

    def forget(snapshots: Collection[str]) -> None:
        for key in sorted(set(snapshots) & set(instance.get_dynamic_partitions(SNAPSHOTS))):
            instance.delete_dynamic_partition(SNAPSHOTS, key)

    return forget
