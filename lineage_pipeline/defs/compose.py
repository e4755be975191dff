"""All definitions in one piece, for the settings of the working folder or for those of a run."""

import dagster as dg

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


def compose(project: Project) -> dg.Definitions:
    """Put assets, checks, jobs and resources together."""
    settings, marts = project.settings, mart_assets()
    return dg.Definitions(
        assets=[
            *STAGES,
            *PRODUCTS,
            *marts,
            *with_freshness([retention]),
            *repository_specs(settings),
            *object_specs(settings),
        ],
        asset_checks=[*CHECKS, *repository_checks(settings)],
        jobs=all_jobs(marts),
        sensors=[repositories_sensor(settings), *([marts_sensor()] if marts else [])],
        schedules=schedules(settings),
        resources={
            "project": dg.ResourceDefinition.hardcoded_resource(project, "the settings"),
            "store": StoreResource(),
            "spark": SparkResource(),
        },
        executor=dg.in_process_executor,
    )
