"""All definitions in one piece, for the settings of the working folder or for those of a run."""

import dagster as dg

from lineage_pipeline.defs.checks import CHECKS
from lineage_pipeline.defs.comparison import PRODUCTS
from lineage_pipeline.defs.jobs import all_jobs
from lineage_pipeline.defs.marts import mart_assets
from lineage_pipeline.defs.resources import Project, SparkResource, StoreResource
from lineage_pipeline.defs.stages import STAGES


def compose(project: Project) -> dg.Definitions:
    """Put assets, checks, jobs and resources together."""
    marts = mart_assets()
    return dg.Definitions(
        assets=[*STAGES, *PRODUCTS, *marts],
        asset_checks=CHECKS,
        jobs=all_jobs(marts),
        resources={
            "project": dg.ResourceDefinition.hardcoded_resource(project, "the settings"),
            "store": StoreResource(),
            "spark": SparkResource(),
        },
        executor=dg.in_process_executor,
    )
