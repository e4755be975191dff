"""The jobs: one snapshot from files to report, the marts over all that is published, and retention."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from lineage_pipeline.defs.assets.retention import RETENTION_KEY
from lineage_pipeline.defs.runs.targets import MissingOutputs
from lineage_pipeline.defs.specs import PRODUCTS, TABLE_DEPS, make_asset_key

SNAPSHOT_JOB, MARTS_JOB, RETENTION_JOB = "snapshot_job", "marts_job", "retention_job"


def select_missing_assets(todo: MissingOutputs) -> list[dg.AssetKey]:
    """Return the assets that are missing of a snapshot."""
    names = [*TABLE_DEPS, "manifests"] if todo.snapshot else []
    names += ["changes", "waivers"] if todo.changes else []
    names += ["change_report"] if todo.report else []
    names += ["openlineage_events"] if todo.events else []
    return [make_asset_key(name) for name in names]


def build_jobs(marts: Sequence[dg.AssetsDefinition]) -> list[Any]:
    """Return the jobs; each runs in one process, so that all its steps share one Spark session."""
    jobs = [
        dg.define_asset_job(
            SNAPSHOT_JOB,
            selection=dg.AssetSelection.assets(*(make_asset_key(name) for name in (*TABLE_DEPS, *PRODUCTS))),
            executor_def=dg.in_process_executor,
            description="Analyze one snapshot, check it, publish it, compare it with its base.",
        ),
        dg.define_asset_job(
            RETENTION_JOB,
            selection=dg.AssetSelection.assets(RETENTION_KEY),
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
