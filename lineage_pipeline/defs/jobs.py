"""The jobs: a snapshot from files to report, and the marts over all that is published."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from lineage_pipeline.defs.specs import DEPS, PRODUCTS, asset_key

SNAPSHOT_JOB, MARTS_JOB = "snapshot_job", "marts_job"


def all_jobs(marts: Sequence[dg.AssetsDefinition]) -> list[Any]:
    """Give the jobs; each runs in one process, so that one Spark session serves all its steps."""
    jobs = [
        dg.define_asset_job(
            SNAPSHOT_JOB,
            selection=dg.AssetSelection.assets(*(asset_key(name) for name in (*DEPS, *PRODUCTS))),
            executor_def=dg.in_process_executor,
            description="Analyse one snapshot, check it, publish it, compare it with its base.",
        )
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
