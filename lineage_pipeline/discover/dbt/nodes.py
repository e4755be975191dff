"""The nodes of a dbt project: models, seeds, snapshots and sources by name, and their YAML properties."""

import posixpath
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.project import DbtProject, classify_path, merge_settings, with_packages
from lineage_pipeline.discover.dbt.yaml_files import YamlFiles, as_mapping, named_entries
from lineage_pipeline.discover.templating.protocol import Library

PropertyEntry = Mapping[str, Any]

PROPERTY_LISTS = {"model": "models", "seed": "seeds", "snapshot": "snapshots", "analysis": "analyses"}


class NodeProperties:
    """The YAML properties of one package, by kind and name."""

    def __init__(self, project: DbtProject, library: Library, documents: YamlFiles) -> None:
        """Read every YAML file in the folders of a package."""
        self.entries: dict[tuple[str, str], tuple[PropertyEntry, str]] = {}
        self.sources: dict[tuple[str, str], tuple[PropertyEntry, PropertyEntry, str]] = {}
        self.exposures: list[tuple[PropertyEntry, str]] = []
        self.groups: dict[str, PropertyEntry] = {}
        folders = tuple(f"{folder}/" for kind in PROPERTY_LISTS for folder in project.folders(kind))
        for path in library.paths():
            if path.startswith(folders) and posixpath.splitext(path)[1] in (".yml", ".yaml"):
                self._add_document(documents.read(path), path)

    def _add_document(self, document: Mapping[str, Any], path: str) -> None:
        for kind, key in PROPERTY_LISTS.items():
            for entry in named_entries(document, key):
                self.entries[kind, entry["name"]] = (entry, path)
        for source in named_entries(document, "sources"):
            for table in named_entries(source, "tables"):
                self.sources[source["name"], table["name"]] = (source, table, path)
        self.exposures.extend((entry, path) for entry in named_entries(document, "exposures"))
        self.groups |= {entry["name"]: entry for entry in named_entries(document, "groups")}

    def of(self, kind: str, name: str) -> PropertyEntry:
        """Return the properties of a model, seed or snapshot."""
        return self.entries.get((kind, name), ({}, ""))[0]


def entry_settings(entry: PropertyEntry) -> dict[str, Any]:
    """Return the settings of an entry: its `config`, and settings at its top level."""
    found = {key.replace("_hook", "-hook"): value for key, value in as_mapping(entry.get("config")).items()}
    for key in ("tags", "meta", "quoting", "loaded_at_field", "group"):
        if key in entry and key not in found:
            found[key] = entry[key]
    return found


SNAPSHOT_TAG = re.compile(r"\{%-?\+?\s*snapshot\s+(\w+)\s*[-+]?%\}")
ENDSNAPSHOT_TAG = re.compile(r"\{%-?\+?\s*endsnapshot\s*[-+]?%\}")
NODE_SUFFIXES = {"model": (".sql", ".py"), "seed": (".csv",), "snapshot": (".sql",)}


class DbtNode(msgspec.Struct, frozen=True, eq=False):
    """A model, seed or snapshot: its package and file, its properties and settings."""

    kind: str
    name: str
    package: str
    path: str
    folders: tuple[str, ...] = ()
    version: str = ""
    entry: PropertyEntry = {}
    settings: Mapping[str, Any] = {}

    @property
    def fqn(self) -> tuple[str, ...]:
        """Return the fully qualified name by which the project configures it."""
        return (self.package, *self.folders, self.name)


class SourceTable(msgspec.Struct, frozen=True):
    """A table of a source, with the properties of both."""

    package: str
    source: PropertyEntry
    table: PropertyEntry
    path: str

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings of the source overridden by those of the table."""
        return merge_settings(entry_settings(self.source), entry_settings(self.table))

    def part(self, key: str, default: str = "") -> str:
        """Return a part of the name as the table, or else its source, sets it."""
        return str(self.table.get(key) or self.source.get(key) or default)


class DbtNodes:
    """All nodes of a project and its packages."""

    def __init__(self, project: DbtProject, library: Library, documents: YamlFiles) -> None:
        """List the nodes by the files of the project and its packages."""
        self.project = project
        self.models: dict[str, list[DbtNode]] = {}
        self.by_path: dict[str, list[DbtNode]] = {}
        self.sources: dict[tuple[str, str], SourceTable] = {}
        self.exposures: list[tuple[PropertyEntry, str]] = []
        self.groups: dict[str, PropertyEntry] = {}
        for package in with_packages(project):
            self._add_package(package, library, NodeProperties(package, library, documents))

    def _add_package(self, package: DbtProject, library: Library, properties: NodeProperties) -> None:
        versions, places = _versioned_files(properties), package.places()
        for path in library.paths():
            kind, folders = classify_path(places, path)
            if path.endswith(NODE_SUFFIXES.get(kind, ("\0",))):
                for name in _node_names(kind, path, library):
                    self._add(self._node(package, (kind, name, path), folders, properties, versions))
        for (kind, name), (entry, path) in properties.entries.items():
            if kind == "snapshot" and "relation" in entry:
                self._add(self._node(package, (kind, name, path), classify_path(places, path)[1], properties, versions))
        for (source, table), (above, entry, path) in properties.sources.items():
            self.sources.setdefault((source, table), SourceTable(package.name, above, entry, path))
        self.groups |= properties.groups
        if package.name == self.project.name:
            self.exposures = properties.exposures

    def _node(
        self,
        package: DbtProject,
        named: tuple[str, str, str],
        folders: tuple[str, ...],
        properties: NodeProperties,
        versions: Mapping[str, tuple[str, Mapping[str, Any]]],
    ) -> DbtNode:
        kind, name, path = named
        known, version = versions.get(name, (name, {})) if kind == "model" else (name, {})
        entry = properties.of(kind, known)
        fqn = (package.name, *folders, name)
        settings = package.configured(kind, fqn)
        if package.name != self.project.name:
            settings = merge_settings(settings, self.project.configured(kind, fqn))
        for said in (entry, version):
            settings = merge_settings(settings, entry_settings(said))
        number = str(version.get("v", "")) if version else ""
        return DbtNode(
            kind=kind,
            name=known,
            package=package.name,
            path=path,
            folders=folders,
            version=number,
            entry={**entry, **version} if version else entry,
            settings=settings,
        )

    def _add(self, node: DbtNode) -> None:
        self.models.setdefault(node.name, []).append(node)
        self.by_path.setdefault(node.path, []).append(node)

    def find(self, name: str, package: str = "", version: str = "", near: str = "") -> DbtNode | None:
        """Resolve a `ref`: the latest version, in the named package or else the nearest one."""
        found = [node for node in self.models.get(name, ()) if not package or node.package == package]
        if version:
            found = [node for node in found if node.version == version]
        order = (near, self.project.name)
        found.sort(key=lambda node: order.index(node.package) if node.package in order else len(order))
        same = [node for node in found if node.package == found[0].package]
        return max(same, key=_version_order, default=None)


def _version_order(node: DbtNode) -> tuple[bool, int, str]:
    """Sort key of versions: the latest by declaration, then the highest."""
    latest = str(node.entry.get("latest_version") or "")
    number = int(node.version[:9]) if node.version.isdecimal() else -1
    return bool(latest) and node.version == latest, number, node.version


def _node_names(kind: str, path: str, library: Library) -> list[str]:
    if kind == "snapshot":
        return SNAPSHOT_TAG.findall(library.read(path) or "")
    return [posixpath.splitext(posixpath.basename(path))[0]]


def _versioned_files(properties: NodeProperties) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the model and the version of each file name of versioned models."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for (kind, name), (entry, _) in properties.entries.items():
        listed = entry.get("versions")
        for version in listed if kind == "model" and isinstance(listed, list) else ():
            said = as_mapping(version)
            if "v" in said:
                found[str(said.get("defined_in") or f"{name}_v{said['v']}")] = (name, said)
                if str(said["v"]) == str(entry.get("latest_version", "")):
                    found.setdefault(name, (name, said))
    return found


def node_body(text: str, node: DbtNode) -> str:
    """Return the text of a node; for a snapshot everything outside its block is blanked, so offsets stay valid."""
    for match in SNAPSHOT_TAG.finditer(text) if node.kind == "snapshot" else ():
        if match.group(1) == node.name:
            end = ENDSNAPSHOT_TAG.search(text, match.end())
            stop = end.start() if end else len(text)
            return _blank_out(text[: match.end()]) + text[match.end() : stop] + _blank_out(text[stop:])
    return text


def snapshot_tag_span(text: str, node: DbtNode) -> tuple[int, int]:
    """Return offset and length of the tag of a snapshot."""
    found = next((match for match in SNAPSHOT_TAG.finditer(text) if match.group(1) == node.name), None)
    return (found.start(), found.end() - found.start()) if found is not None else (0, 0)


def _blank_out(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)
