"""External assets: the watched repositories, each with a check that it can be read, and the analyzed SQL objects."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import dagster as dg
import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.specs import ASSET_OWNERS
from lineage_pipeline.discover.git.mirror import redact_address
from lineage_pipeline.discover.git.repository import select_refs
from lineage_pipeline.model.enums import EdgeType, ObjectKind
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Column, ColumnEdge, ObjectRow, Snapshot
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.stored_facts import StoredFacts
from lineage_pipeline.store.warehouse import Warehouse

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


OBJECT_PREFIX = "sql"
SHOWN_KINDS = frozenset(
    {ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL, ObjectKind.UNKNOWN}
)
"""Kinds that are shown; an object a repository only reads is unknown there, and may be another one's table."""

OWNER_PATTERN = re.compile(r"team:[\w-]+|[^@\s]+@[^@\s]+\.[^@\s]+")
"""What Dagster accepts as an owner."""


class ShownObject(msgspec.Struct):
    """What is shown of one object, merged over the repositories that know it."""

    row: ObjectRow
    repository: str
    deps: set[dg.AssetKey]
    columns: Sequence[Column]
    lineage: dict[str, list[dg.TableColumnDep]]


def build_object_specs(settings: Settings) -> list[dg.AssetSpec]:
    """Return the specs of the objects of each repository's newest snapshot; the defining repository wins."""
    if not settings.watch.assets:
        return []
    warehouse = Warehouse(settings.warehouse)
    found: dict[dg.AssetKey, ShownObject] = {}
    for snapshot in find_newest_snapshots(warehouse):
        for key, shown in _collect_objects(
            snapshot.repo, StoredFacts(warehouse.tables(f"{snapshot.repo}@{snapshot.commit}"))
        ):
            known = found.get(key)
            if known is None or (known.row.path is None and shown.row.path is not None):
                shown.deps |= known.deps if known else set()
                found[key] = shown
            else:
                known.deps |= shown.deps
    return [_object_spec(key, found[key]) for key in sorted(found)]


def find_newest_snapshots(warehouse: Warehouse) -> list[Snapshot]:
    """Return the newest snapshot of each repository, of its base ref where one is configured."""
    keys = [manifest.key[0] for manifest in warehouse.snapshots()]
    rows = [row for key in keys for row in arrow_to_rows("snapshots", warehouse.read(key, "snapshots"), Snapshot)]
    newest: dict[str, Snapshot] = {}
    for row in sorted(rows, key=lambda row: (not row.base_rule.startswith("merge-base:"), row.committed_at or "")):
        newest[row.repo] = row
    return [newest[name] for name in sorted(newest)]


def _collect_objects(repository: str, facts: StoredFacts) -> Iterable[tuple[dg.AssetKey, ShownObject]]:
    lasting = {row.object: row for row in facts.objects() if row.kind in SHOWN_KINDS and not row.temporary}
    keys = {name: dg.AssetKey([OBJECT_PREFIX, *_key_parts(row)]) for name, row in lasting.items()}
    columns: dict[str, list[Column]] = defaultdict(list)
    for column in facts.columns(list(lasting)):
        columns[column.object].append(column)
    shown = {
        name: ShownObject(row=row, repository=repository, deps=set(), columns=columns[name], lineage=defaultdict(list))
        for name, row in lasting.items()
    }
    for read in facts.object_edges():
        if read.from_object in keys and read.to_object in shown and read.from_object != read.to_object:
            shown[read.to_object].deps.add(keys[read.from_object])
    for edge in facts.edges_into(list(lasting)):
        if edge.from_object in keys and edge.from_object != edge.to_object:
            _add_edge(shown[edge.to_object], keys[edge.from_object], edge)
    return [(keys[name], one) for name, one in shown.items()]


def _add_edge(shown: ShownObject, source: dg.AssetKey, edge: ColumnEdge) -> None:
    shown.deps.add(source)
    dep = dg.TableColumnDep(source, edge.from_column)
    if edge.type is EdgeType.DIRECT and edge.to_column != "*" and dep not in shown.lineage[edge.to_column]:
        shown.lineage[edge.to_column].append(dep)


def _key_parts(row: ObjectRow) -> list[str]:
    return [part for part in (row.system, row.catalog, row.schema, row.name) if part]


def _object_spec(key: dg.AssetKey, shown: ShownObject) -> dg.AssetSpec:
    row = shown.row
    origin = f"{row.kind.value.capitalize()} of {shown.repository}" + (f", {row.path}:{row.line}" if row.path else "")
    return dg.AssetSpec(
        key,
        deps=sorted(shown.deps),
        description=f"{row.description}\n\n{origin}" if row.description else origin,
        group_name=re.sub(r"\W", "_", f"{OBJECT_PREFIX}_{shown.repository}"),
        kinds={"sql", "view" if "view" in row.kind.value else "table"},
        owners=[owner for owner in row.owners if OWNER_PATTERN.fullmatch(owner)],
        metadata={
            "dagster/column_schema": dg.TableSchema(columns=[_object_column(column) for column in shown.columns]),
            "dagster/column_lineage": dg.TableColumnLineage(dict(shown.lineage)),
            "dagster/table_name": ".".join(key.path[1:]),
            "owners": ", ".join(row.owners),
        },
    )


def _object_column(column: Column) -> dg.TableColumn:
    constraints = dg.TableColumnConstraints(nullable=column.nullable)
    return dg.TableColumn(column.name, column.type or "unknown", column.description, constraints)
