"""The watched repositories as external assets, each with a check that it can be read."""

import dagster as dg

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.specs import ASSET_OWNERS
from lineage_pipeline.discover.git.mirror import redact_address
from lineage_pipeline.discover.git.refs import select_refs
from lineage_pipeline.model.errors import LineageError

REPOSITORY_PREFIX, READABLE_CHECK = "repositories", "can_be_read"


def make_repository_key(name: str) -> dg.AssetKey:
    """Return the asset key of a repository."""
    return dg.AssetKey([REPOSITORY_PREFIX, name])


def build_repository_specs(settings: Settings) -> list[dg.AssetSpec]:
    """Return the asset specs of the watched repositories."""
    return [_repository_spec(row) for row in settings.repositories]


def _repository_spec(row: RepositorySettings) -> dg.AssetSpec:
    watched = ", ".join(row.refs) or row.base_ref or "the branch that is checked out"
    return dg.AssetSpec(
        make_repository_key(row.name),
        description=f"A repository of SQL. Watched: {watched}; compared with: {row.base_ref or 'the first parent'}.",
        group_name=REPOSITORY_PREFIX,
        kinds={"git"},
        owners=ASSET_OWNERS,
        metadata={"path": redact_address(row.path), "refs": watched, "base_ref": row.base_ref, "history": row.history},
    )


def build_repository_checks(settings: Settings) -> list[dg.AssetChecksDefinition]:
    """Return the check of each repository; the sensor also evaluates it when something has changed."""
    return [_readable_check(row.name) for row in settings.repositories]


def _readable_check(name: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=make_repository_key(name),
        name=READABLE_CHECK,
        description="The repository can be fetched and its refs can be read.",
    )
    def readable(project: dg.ResourceParam[Project]) -> dg.AssetCheckResult:
        from lineage_pipeline.defs.runs.watched_repositories import fetch_repository, find_repository

        row = find_repository(project.settings, name)
        try:
            refs = select_refs(fetch_repository(project.settings, row), row.refs, row.base_ref) if row else {}
        except LineageError as error:
            return dg.AssetCheckResult(passed=False, description=str(error))
        return dg.AssetCheckResult(passed=True, metadata={"refs": dg.MetadataValue.json(refs)})

    return readable
