"""What the YAML beside models says of them: descriptions, columns, settings, sources, exposures and groups."""

import posixpath
from collections.abc import Mapping
from typing import Any

from lineage_pipeline.discover.dbt.documents import Documents, entries, mapping
from lineage_pipeline.discover.dbt.project import Project
from lineage_pipeline.discover.templating.protocol import Library

Entry = Mapping[str, Any]

LISTS = {"model": "models", "seed": "seeds", "snapshot": "snapshots", "analysis": "analyses"}


class Properties:
    """All that the YAML of one package says, by kind and name."""

    def __init__(self, project: Project, library: Library, documents: Documents) -> None:
        """Read every YAML file in the folders of a package."""
        self.entries: dict[tuple[str, str], tuple[Entry, str]] = {}
        self.sources: dict[tuple[str, str], tuple[Entry, Entry, str]] = {}
        self.exposures: list[tuple[Entry, str]] = []
        self.groups: dict[str, Entry] = {}
        folders = tuple(f"{folder}/" for kind in LISTS for folder in project.folders(kind))
        for path in library.paths():
            if path.startswith(folders) and posixpath.splitext(path)[1] in (".yml", ".yaml"):
                self._take(documents.read(path), path)

    def _take(self, document: Mapping[str, Any], path: str) -> None:
        for kind, key in LISTS.items():
            for entry in entries(document, key):
                self.entries[kind, entry["name"]] = (entry, path)
        for source in entries(document, "sources"):
            for table in entries(source, "tables"):
                self.sources[source["name"], table["name"]] = (source, table, path)
        self.exposures.extend((entry, path) for entry in entries(document, "exposures"))
        self.groups |= {entry["name"]: entry for entry in entries(document, "groups")}

    def of(self, kind: str, name: str) -> Entry:
        """Give what is said of a model, seed or snapshot."""
        return self.entries.get((kind, name), ({}, ""))[0]


def settings_of(entry: Entry) -> dict[str, Any]:
    """Give the settings that an entry makes, those at its top included."""
    found = {key.replace("_hook", "-hook"): value for key, value in mapping(entry.get("config")).items()}
    for key in ("tags", "meta", "quoting", "loaded_at_field", "group"):
        if key in entry and key not in found:
            found[key] = entry[key]
    return found
