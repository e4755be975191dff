"""Automation: the sensor that builds marts after publication, the nightly schedule, and freshness."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.dbt_project import hash_marts_inputs
from lineage_pipeline.defs.home import Home
from lineage_pipeline.defs.jobs import MARTS_JOB, RETENTION_JOB
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.run_states import InstanceRuns, RunState, find_run_key
from lineage_pipeline.store.warehouse import Warehouse

NIGHTLY_FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=50), warn_window=timedelta(hours=26))
"""Retention runs every night: one missed night is a warning, two are an error."""

MARTS_WAIT_SECONDS = 900
"""Seconds to wait for open runs that will publish more, and after a first failure."""

MAX_WAIT_SECONDS = 86_400
"""The longest wait after repeated failures, in seconds."""

MARTS_TAG = "lineage/marts"
"""The run tag with the key of what the marts are built from."""


def marts_sensor() -> dg.SensorDefinition:
    """Build the sensor that requests the marts when they differ from what is published.

    An automation condition would miss what is published between its request and the run; this compares.
    """

    @dg.sensor(
        name="marts_sensor",
        job_name=MARTS_JOB,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Builds the marts when they show something else than what is published.",
    )
    def compare(context: dg.SensorEvaluationContext, project: dg.ResourceParam[Project]) -> Any:
        current = project.anew()
        home, published = current.home, Warehouse(current.settings.warehouse).published_files()
        key = hash_marts_inputs(msgspec.json.encode(published, order="sorted") + b"\n")
        if home.is_made(home.marts, key):
            return dg.SkipReason("the marts show what is published")
        if not any(len(files) > 1 for files in published.values()):
            return dg.SkipReason("nothing is published")
        runs = InstanceRuns(context.instance)
        if runs.busy() and _marts_age(home) < MARTS_WAIT_SECONDS:
            return dg.SkipReason("the marts wait for runs that are about to publish more")
        return _request_marts(runs, key)

    return compare


def _request_marts(runs: InstanceRuns, key: str) -> dg.RunRequest | dg.SkipReason:
    """Request the marts of what is published; after failures, wait longer each time."""
    state, free = find_run_key(runs, key)
    if state is RunState.OPEN:
        return dg.SkipReason("the marts are being built")
    failures, at = runs.failures(MARTS_TAG, key)
    due = at + min(MARTS_WAIT_SECONDS * 2 ** (failures - 1), MAX_WAIT_SECONDS) if failures else 0.0
    if time.time() < due:
        moment = datetime.fromtimestamp(due, UTC).isoformat(timespec="seconds")
        return dg.SkipReason(f"the marts could not be built {failures} times; they are tried again at {moment}")
    return dg.RunRequest(run_key=free, tags={MARTS_TAG: key})


def _marts_age(home: Home) -> float:
    return time.time() - home.marts.stat().st_mtime if home.marts.exists() else MARTS_WAIT_SECONDS


def add_freshness(assets: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """Add the freshness policy to assets."""
    return [
        asset.map_asset_specs(lambda spec: spec.replace_attributes(freshness_policy=NIGHTLY_FRESHNESS))
        for asset in assets
    ]


def build_schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """Return the nightly schedule."""
    return [
        dg.ScheduleDefinition(
            name="nightly_schedule",
            job_name=RETENTION_JOB,
            cron_schedule=settings.retention.schedule,
            execution_timezone=settings.retention.timezone,
            default_status=dg.DefaultScheduleStatus.RUNNING,
            description="Removes what [retention] says and what old runs left behind; the marts follow.",
        )
    ]
