"""`graph` as templates see it: the nodes and sources of a project, described as far as its files tell."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lineage_pipeline.discover.dbt.documents import entries

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import Session

KEYS = ("nodes", "sources", "exposures", "metrics", "groups", "semantic_models", "saved_queries")


class Graph(Mapping[str, Any]):
    """What a project makes, by kind; nothing is described before a template asks."""

    def __init__(self, session: "Session") -> None:
        """Take the session."""
        self._session = session
        self._known: dict[str, dict[str, Any]] = {}

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Give the things of a kind by their unique names."""
        if key not in KEYS:
            raise KeyError(key)
        if key not in self._known:
            self._known[key] = {}  # what asks while things are described finds none
            self._known[key] = dict(self._described(key))
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        """Name the kinds."""
        return iter(KEYS)

    def __len__(self) -> int:
        """Count the kinds."""
        return len(KEYS)

    def _described(self, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        session = self._session
        if key == "nodes":
            for node in [node for found in session.nodes.models.values() for node in found]:
                if session.config(node).get("enabled") is not False:
                    session.naming.of(node)
                    told = session.naming.described(node)
                    yield told["unique_id"], told
        elif key == "sources":
            for name, table in session.nodes.sources:
                told = self._source(name, table)
                yield told["unique_id"], told
        elif key == "exposures":
            for entry, path in session.nodes.exposures:
                unique = f"exposure.{session.project.name}.{entry['name']}"
                yield unique, {**entry, "unique_id": unique, "resource_type": "exposure", "original_file_path": path}

    def _source(self, name: str, table: str) -> dict[str, Any]:
        found, relation = self._session.nodes.sources[name, table], self._session.source(name, table)
        settings = found.settings
        return {
            "name": table,
            "source_name": name,
            "identifier": relation.identifier,
            "schema": relation.schema,
            "database": relation.database,
            "relation_name": str(relation),
            "resource_type": "source",
            "package_name": found.package,
            "original_file_path": found.path,
            "path": found.path,
            "fqn": [found.package, name, table],
            "unique_id": f"source.{found.package}.{name}.{table}",
            "config": {"enabled": True, **settings},
            "tags": settings.get("tags") or [],
            "meta": settings.get("meta") or {},
            "columns": {str(column["name"]): dict(column) for column in entries(found.table, "columns")},
            "description": found.table.get("description") or "",
            "source_description": found.source.get("description") or "",
            "loader": found.source.get("loader") or "",
        }
