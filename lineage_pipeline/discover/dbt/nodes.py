"""What a project makes, and how dbt would call it: models, seeds, snapshots and sources by name."""

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.documents import Documents, mapping
from lineage_pipeline.discover.dbt.project import Project, all_of, kind_of, merged
from lineage_pipeline.discover.dbt.properties import Entry, Properties, settings_of
from lineage_pipeline.discover.templating.protocol import Library

SNAPSHOT = re.compile(r"\{%-?\+?\s*snapshot\s+(\w+)\s*[-+]?%\}")
END = re.compile(r"\{%-?\+?\s*endsnapshot\s*[-+]?%\}")
ENDINGS = {"model": (".sql", ".py"), "seed": (".csv",), "snapshot": (".sql",)}
VERSION = re.compile(r"(.+)_v([\w.]+)\Z")


class Node(msgspec.Struct, frozen=True, eq=False):
    """A model, seed or snapshot: the package and the file it comes from, and what is set beside it."""

    kind: str
    name: str
    package: str
    path: str
    folders: tuple[str, ...] = ()
    version: str = ""
    entry: Entry = {}
    settings: Mapping[str, Any] = {}

    @property
    def fqn(self) -> tuple[str, ...]:
        """Give the name that settings of a project find it by."""
        return (self.package, *self.folders, self.name)


class SourceTable(msgspec.Struct, frozen=True):
    """A table of a source, and what is said of it and of the source."""

    package: str
    source: Entry
    table: Entry
    path: str

    @property
    def settings(self) -> dict[str, Any]:
        """Give the settings of the source with those of the table over them."""
        return merged(settings_of(self.source), settings_of(self.table))

    def part(self, key: str, default: str = "") -> str:
        """Give what the table, or else its source, says of a part of the name."""
        return str(self.table.get(key) or self.source.get(key) or default)


class Nodes:
    """All nodes of a project and its packages."""

    def __init__(self, project: Project, library: Library, documents: Documents) -> None:
        """List them by the files that lie there."""
        self.project = project
        self.models: dict[str, list[Node]] = {}
        self.by_path: dict[str, list[Node]] = {}
        self.sources: dict[tuple[str, str], SourceTable] = {}
        self.exposures: list[tuple[Entry, str]] = []
        self.groups: dict[str, Entry] = {}
        for package in all_of(project):
            self._take(package, library, Properties(package, library, documents))

    def _take(self, package: Project, library: Library, properties: Properties) -> None:
        versions, places = _versions(properties), package.places()
        for path in library.paths():
            kind, folders = kind_of(places, path)
            if path.endswith(ENDINGS.get(kind, ("\0",))):
                for name in _names(kind, path, library):
                    self._add(self._node(package, (kind, name, path), folders, properties, versions))
        for (kind, name), (entry, path) in properties.entries.items():
            if kind == "snapshot" and "relation" in entry:
                self._add(self._node(package, (kind, name, path), kind_of(places, path)[1], properties, versions))
        for (source, table), (above, entry, path) in properties.sources.items():
            self.sources.setdefault((source, table), SourceTable(package.name, above, entry, path))
        self.groups |= properties.groups
        if package.name == self.project.name:
            self.exposures = properties.exposures

    def _node(
        self,
        package: Project,
        named: tuple[str, str, str],
        folders: tuple[str, ...],
        properties: Properties,
        versions: Mapping[str, tuple[str, Mapping[str, Any]]],
    ) -> Node:
        kind, name, path = named
        known, version = versions.get(name, (name, {})) if kind == "model" else (name, {})
        entry = properties.of(kind, known)
        fqn = (package.name, *folders, name)
        settings = package.configured(kind, fqn)
        if package.name != self.project.name:
            settings = merged(settings, self.project.configured(kind, fqn))
        for said in (entry, version):
            settings = merged(settings, settings_of(said))
        number = str(version.get("v", "")) if version else ""
        return Node(
            kind, known, package.name, path, folders, number, {**entry, **version} if version else entry, settings
        )

    def _add(self, node: Node) -> None:
        self.models.setdefault(node.name, []).append(node)
        self.by_path.setdefault(node.path, []).append(node)

    def find(self, name: str, package: str = "", version: str = "", near: str = "") -> Node | None:
        """Find what a reference means: the latest version, of the package that is named or else the nearest one."""
        found = [node for node in self.models.get(name, ()) if not package or node.package == package]
        if version:
            found = [node for node in found if node.version == version]
        order = (near, self.project.name)
        found.sort(key=lambda node: order.index(node.package) if node.package in order else len(order))
        same = [node for node in found if node.package == found[0].package]
        return max(same, key=_latest, default=None)


def _latest(node: Node) -> tuple[bool, int, str]:
    """Order versions: the one that is called the latest, then the highest."""
    latest = str(node.entry.get("latest_version") or "")
    number = int(node.version[:9]) if node.version.isdecimal() else -1
    return bool(latest) and node.version == latest, number, node.version


def _names(kind: str, path: str, library: Library) -> list[str]:
    if kind == "snapshot":
        return SNAPSHOT.findall(library.read(path) or "")
    return [posixpath.splitext(posixpath.basename(path))[0]]


def _versions(properties: Properties) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Give the model and the version that a file name stands for."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for (kind, name), (entry, _) in properties.entries.items():
        listed = entry.get("versions")
        for version in listed if kind == "model" and isinstance(listed, list) else ():
            said = mapping(version)
            if "v" in said:
                found[str(said.get("defined_in") or f"{name}_v{said['v']}")] = (name, said)
                if str(said["v"]) == str(entry.get("latest_version", "")):
                    found.setdefault(name, (name, said))
    return found


def body_of(text: str, node: Node) -> str:
    """Give the text of a node; of a snapshot, blanks for all that is not its body: places stay what they are."""
    for match in SNAPSHOT.finditer(text) if node.kind == "snapshot" else ():
        if match.group(1) == node.name:
            end = END.search(text, match.end())
            stop = end.start() if end else len(text)
            return _blank(text[: match.end()]) + text[match.end() : stop] + _blank(text[stop:])
    return text


def tag_of(text: str, node: Node) -> tuple[int, int]:
    """Say where the tag of a snapshot stands, and how long it is."""
    found = next((match for match in SNAPSHOT.finditer(text) if match.group(1) == node.name), None)
    return (found.start(), found.end() - found.start()) if found is not None else (0, 0)


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


Namer = Callable[[Node], tuple[str, str, str]]
