"""The jobs: a snapshot from files to report, the marts over all that is published, and retention."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from lineage_pipeline.defs.pruning import RETENTION
from lineage_pipeline.defs.specs import DEPS, PRODUCTS, asset_key
from lineage_pipeline.defs.targets import Todo

SNAPSHOT_JOB, MARTS_JOB, RETENTION_JOB = "snapshot_job", "marts_job", "retention_job"


def selected(todo: Todo) -> list[dg.AssetKey]:
    """Give the assets that are missing of a snapshot."""
    names = [*DEPS, "manifests"] if todo.snapshot else []
    names += ["changes", "waivers"] if todo.changes else []
    names += ["change_report"] if todo.report else []
    names += ["openlineage_events"] if todo.events else []
    return [asset_key(name) for name in names]


def all_jobs(marts: Sequence[dg.AssetsDefinition]) -> list[Any]:
    """Give the jobs; each runs in one process, so that one Spark session serves all its steps."""
    jobs = [
        dg.define_asset_job(
            SNAPSHOT_JOB,
            selection=dg.AssetSelection.assets(*(asset_key(name) for name in (*DEPS, *PRODUCTS))),
            executor_def=dg.in_process_executor,
            description="Analyse one snapshot, check it, publish it, compare it with its base.",
        ),
        dg.define_asset_job(
            RETENTION_JOB,
            selection=dg.AssetSelection.assets(RETENTION),
            executor_def=dg.in_process_executor,
            description="Remove snapshots that are too old or too many, and what old runs left behind.",
        ),
    ]
    if marts:
        jobs.append(
            dg.define_asset_job(
                MARTS_JOB,
                selection=dg.AssetSelection.assets(*marts),
                executor_def=dg.in_process_executor,
                description="Build staging and marts over all published snapshots.",
            )
        )
    return jobs
