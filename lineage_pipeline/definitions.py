"""The code location that Dagster loads."""

from lineage_pipeline.defs.compose import compose_definitions
from lineage_pipeline.defs.resources import Project

defs = compose_definitions(Project())
