"""What happens without being asked: marts behind whatever is published, and retention each night."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import msgspec

from lineage_pipeline.defs.dbt import marts_key
from lineage_pipeline.defs.home import Home
from lineage_pipeline.defs.jobs import MARTS_JOB, RETENTION_JOB
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.runs import KnownRuns
from lineage_pipeline.defs.watching import State, ask_after
from lineage_pipeline.settings import Settings
from lineage_pipeline.store.warehouse import Warehouse

FRESH = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=50), warn_window=timedelta(hours=26))
"""Every night retention runs: one night missed is a warning, two are an error."""

PATIENCE = 900
"""How many seconds the marts wait for runs to end that are about to publish more, and after a failure."""

LONGEST = 86_400
"""How many seconds the marts wait at most after failures."""

MARTS = "lineage/marts"
"""The tag of a run that says of what it builds the marts."""


def marts_sensor() -> dg.SensorDefinition:
    """Make the sensor that has the marts built when they show something else than what is published.

    An automation condition would lose what is published in the moment between its request and the run; this compares.
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
        key = marts_key(msgspec.json.encode(published, order="sorted") + b"\n")
        if home.is_made(home.marts, key):
            return dg.SkipReason("the marts show what is published")
        if not any(len(files) > 1 for files in published.values()):
            return dg.SkipReason("nothing is published")
        runs = KnownRuns(context.instance)
        if runs.busy() and _age(home) < PATIENCE:
            return dg.SkipReason("the marts wait for runs that are about to publish more")
        return _asked(runs, key)

    return compare


def _asked(runs: KnownRuns, key: str) -> dg.RunRequest | dg.SkipReason:
    """Ask for the marts of what is published, again where it was published before; what fails is tried ever later."""
    state, free = ask_after(runs, key)
    if state is State.OPEN:
        return dg.SkipReason("the marts are being built")
    failures, at = runs.failures(MARTS, key)
    due = at + min(PATIENCE * 2 ** (failures - 1), LONGEST) if failures else 0.0
    if time.time() < due:
        moment = datetime.fromtimestamp(due, UTC).isoformat(timespec="seconds")
        return dg.SkipReason(f"the marts could not be built {failures} times; they are tried again at {moment}")
    return dg.RunRequest(run_key=free, tags={MARTS: key})


def _age(home: Home) -> float:
    return time.time() - home.marts.stat().st_mtime if home.marts.exists() else PATIENCE


def with_freshness(assets: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """Say how old assets may be."""
    return [asset.map_asset_specs(lambda spec: spec.replace_attributes(freshness_policy=FRESH)) for asset in assets]


def schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """Give the schedule of the nightly work."""
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
