"""All Dagster definitions, for the settings of the working folder or for those of a run."""

import warnings

import dagster as dg

from lineage_pipeline.defs.assets.comparison import COMPARISON_ASSETS
from lineage_pipeline.defs.assets.external_assets import (
    build_object_specs,
    build_repository_checks,
    build_repository_specs,
)
from lineage_pipeline.defs.assets.marts import build_mart_assets
from lineage_pipeline.defs.assets.retention import retention
from lineage_pipeline.defs.assets.stages import STAGE_ASSETS
from lineage_pipeline.defs.checks.diff_checks import DIFF_CHECKS
from lineage_pipeline.defs.checks.table_checks import TABLE_CHECKS
from lineage_pipeline.defs.jobs import build_jobs
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.sensors.automation import add_freshness, build_schedules, marts_sensor
from lineage_pipeline.defs.sensors.check_alerts import check_alerts_sensor
from lineage_pipeline.defs.sensors.repository_sensor import repositories_sensor


def compose_definitions(project: Project) -> dg.Definitions:
    """Combine assets, checks, jobs, sensors, schedules and resources."""
    settings, marts = project.settings, build_mart_assets()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # references to code are new in Dagster
        own = dg.with_source_code_references([*STAGE_ASSETS, *COMPARISON_ASSETS, *add_freshness([retention])])
    return dg.Definitions(
        assets=[
            *own,
            *marts,
            *build_repository_specs(settings),
            *build_object_specs(settings),
        ],
        asset_checks=[*TABLE_CHECKS, *DIFF_CHECKS, *build_repository_checks(settings)],
        jobs=build_jobs(marts),
        sensors=[repositories_sensor(settings), check_alerts_sensor, *([marts_sensor()] if marts else [])],
        schedules=build_schedules(settings),
        resources={
            "project": dg.ResourceDefinition.hardcoded_resource(project, "the settings"),
            "store": StoreResource(),
            "spark": SparkResource(),
        },
        executor=dg.in_process_executor,
    )
