"""All definitions in one piece, for the settings of the working folder or for those of a run."""

import warnings

import dagster as dg

from lineage_pipeline.defs.alerting import check_alerts_sensor
from lineage_pipeline.defs.automation import marts_sensor, schedules, with_freshness
from lineage_pipeline.defs.checks import CHECKS
from lineage_pipeline.defs.comparison import PRODUCTS
from lineage_pipeline.defs.external import object_specs
from lineage_pipeline.defs.jobs import all_jobs
from lineage_pipeline.defs.marts import mart_assets
from lineage_pipeline.defs.pruning import retention
from lineage_pipeline.defs.repositories import repository_checks, repository_specs
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.sensor import repositories_sensor
from lineage_pipeline.defs.stages import STAGES
from lineage_pipeline.defs.verdicts import VERDICTS


def compose(project: Project) -> dg.Definitions:
    """Put assets, checks, jobs and resources together."""
    settings, marts = project.settings, mart_assets()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # references to code are new in Dagster
        own = dg.with_source_code_references([*STAGES, *PRODUCTS, *with_freshness([retention])])
    return dg.Definitions(
        assets=[
            *own,
            *marts,
            *repository_specs(settings),
            *object_specs(settings),
        ],
        asset_checks=[*CHECKS, *VERDICTS, *repository_checks(settings)],
        jobs=all_jobs(marts),
        sensors=[repositories_sensor(settings), check_alerts_sensor, *([marts_sensor()] if marts else [])],
        schedules=schedules(settings),
        resources={
            "project": dg.ResourceDefinition.hardcoded_resource(project, "the settings"),
            "store": StoreResource(),
            "spark": SparkResource(),
        },
        executor=dg.in_process_executor,
    )
