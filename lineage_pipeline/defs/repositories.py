"""The watched repositories as external assets, each with the check whether it can be read."""

import dagster as dg

from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.specs import OWNERS
from lineage_pipeline.discover.refs import chosen_refs
from lineage_pipeline.discover.remotes import shown
from lineage_pipeline.settings import RepositorySettings, Settings
from lineage_pipeline.vocabulary.errors import LineageError

PREFIX, READABLE = "repositories", "can_be_read"


def repository_key(name: str) -> dg.AssetKey:
    """Give the key of a repository."""
    return dg.AssetKey([PREFIX, name])


def repository_specs(settings: Settings) -> list[dg.AssetSpec]:
    """Describe the repositories to Dagster."""
    return [_spec(row) for row in settings.repositories]


def _spec(row: RepositorySettings) -> dg.AssetSpec:
    watched = ", ".join(row.refs) or row.base_ref or "the branch that is checked out"
    return dg.AssetSpec(
        repository_key(row.name),
        description=f"A repository of SQL. Watched: {watched}; compared with: {row.base_ref or 'the first parent'}.",
        group_name=PREFIX,
        kinds={"git"},
        owners=OWNERS,
        metadata={"path": shown(row.path), "refs": watched, "base_ref": row.base_ref, "history": row.history},
    )


def repository_checks(settings: Settings) -> list[dg.AssetChecksDefinition]:
    """Make the check of each repository; the sensor evaluates it, too, whenever something has changed."""
    return [_check(row.name) for row in settings.repositories]


def _check(name: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=repository_key(name),
        name=READABLE,
        description="The repository can be fetched and its refs can be read.",
    )
    def readable(project: dg.ResourceParam[Project]) -> dg.AssetCheckResult:
        from lineage_pipeline.defs.opening import fetched, named

        row = named(project.settings, name)
        try:
            refs = chosen_refs(fetched(project.settings, row), row.refs, row.base_ref) if row else {}
        except LineageError as error:
            return dg.AssetCheckResult(passed=False, description=str(error))
        return dg.AssetCheckResult(passed=True, metadata={"refs": dg.MetadataValue.json(refs)})

    return readable
