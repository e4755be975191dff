"""A dbt project as its files lie there: where models, seeds and macros are, what is set for them, its packages."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.documents import Documents, mapping, words
from lineage_pipeline.discover.templating.protocol import Library

FILE = "dbt_project.yml"
INSTALLED = frozenset({"dbt_packages", "dbt_modules"})

FOLDERS: Mapping[str, tuple[str, ...]] = {
    "model": ("model-paths", "source-paths", "models"),
    "seed": ("seed-paths", "data-paths", "seeds", "data"),
    "snapshot": ("snapshot-paths", "snapshots"),
    "analysis": ("analysis-paths", "analyses", "analysis"),
    "test": ("test-paths", "tests"),
    "macro": ("macro-paths", "macros"),
}
"""The keys that say where files of a kind lie, and the folders where nobody says it."""

MERGED = frozenset({"tags", "pre-hook", "post-hook", "meta"})
KEYS = frozenset(
    "materialized schema database alias enabled tags meta vars quoting pre-hook post-hook pre_hook post_hook grants "
    "contract column_types unique_key target_schema target_database strategy group docs full_refresh persist_docs "
    "incremental_strategy on_schema_change partition_by cluster_by file_format project dataset access".split()
)
"""Keys that are settings even without a plus before them."""


class Project(msgspec.Struct, frozen=True):
    """One project or package: the folder it lies in from the top of the repository, its name, and what it says."""

    root: str
    name: str
    document: Mapping[str, Any]
    packages: tuple["Project", ...] = ()

    def folders(self, kind: str) -> tuple[str, ...]:
        """Give the folders of a kind of files, from the top."""
        keys = FOLDERS[kind]
        said = next(
            (words(self.document[key]) for key in keys if key.endswith("-paths") and key in self.document), None
        )
        found = said or [key for key in keys if not key.endswith("-paths")]
        return tuple(posixpath.normpath(posixpath.join(self.root, folder)) for folder in found)

    def places(self) -> tuple[tuple[str, str], ...]:
        """Give all folders that are read, each with the kind of its files."""
        return tuple((f"{folder}/", kind) for kind in FOLDERS for folder in self.folders(kind))

    def configured(self, kind: str, fqn: Sequence[str]) -> dict[str, Any]:
        """Give what the project configures for a file by the folders it lies in."""
        tree = self.document.get({"analysis": "analyses"}.get(kind, f"{kind}s"))
        found: dict[str, Any] = {}
        for part in ("", *fqn):
            if part:
                tree = tree.get(part) if isinstance(tree, Mapping) else None
            if not isinstance(tree, Mapping):
                break
            found = merged(found, _settings(tree))
        return found

    def variables(self, package: str) -> dict[str, Any]:
        """Give the variables of a package as this project sets them."""
        said = mapping(self.document.get("vars"))
        return {**said, **mapping(said.get(package))}


def kind_of(places: Sequence[tuple[str, str]], path: str) -> tuple[str, tuple[str, ...]]:
    """Say what kind of file lies at a path, and the folders between; an empty kind is none that dbt reads."""
    for folder, kind in places:
        if path.startswith(folder):
            return kind, tuple(path[len(folder) :].split("/")[:-1])
    return "", ()


def _settings(tree: Mapping[Any, Any]) -> dict[str, Any]:
    """Give what one level of the tree sets itself."""
    found = {}
    for key, value in tree.items():
        name = str(key)
        if name.startswith("+"):
            found[name[1:].replace("_hook", "-hook")] = value
        elif name in KEYS and (not isinstance(value, Mapping) or name in ("meta", "vars", "quoting", "contract")):
            found[name.replace("_hook", "-hook")] = value
    return found


def merged(weaker: Mapping[str, Any], stronger: Mapping[str, Any]) -> dict[str, Any]:
    """Lay settings over others as dbt does: tags, hooks and meta are added, all else is replaced."""
    result = dict(weaker)
    for key, value in stronger.items():
        if key in MERGED and isinstance(value, Mapping):
            result[key] = {**mapping(result.get(key)), **value} if key == "meta" else [*_listed(result.get(key)), value]
        elif key in MERGED:
            result[key] = [*_listed(result.get(key)), *_listed(value)]
        else:
            result[key] = value
    return result


def _listed(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def all_of(project: Project) -> Iterator[Project]:
    """Give a project and all its packages, those that are nearer to it first."""
    yield project
    for package in project.packages:
        yield from all_of(package)


def find_projects(library: Library, documents: Documents) -> list[Project]:
    """Give the projects of a repository, each with the packages that are there; a package is no project of its own."""
    roots = [posixpath.dirname(path) for path in library.paths() if posixpath.basename(path) == FILE]
    own = [root for root in roots if not is_installed(root)]
    found = [_project(root, roots, documents, ()) for root in own]
    # A package that has the project inside itself is what that project tests: it stays what it is.
    used = {one.root for each in found for one in all_of(each) if not lies_in(each.root, one.root)}
    return [project for project in found if project.root not in used]


def is_installed(path: str) -> bool:
    """Say whether a path lies where dbt installs packages."""
    return not INSTALLED.isdisjoint(path.split("/"))


def lies_in(path: str, folder: str) -> bool:
    """Say whether a path is a folder or lies in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def _project(root: str, roots: Sequence[str], documents: Documents, around: tuple[str, ...]) -> Project:
    document = documents.read(posixpath.join(root, FILE))
    name = str(document.get("name") or posixpath.basename(root) or "project")
    inner = [
        _project(place, roots, documents, (*around, root))
        for place in dict.fromkeys(_packages(root, roots, documents))
        if place != root and place not in around
    ]
    return Project(root, name, document, tuple(inner))


def _packages(root: str, roots: Sequence[str], documents: Documents) -> Iterator[str]:
    """Give the folders of the packages of a project: those that are installed, and those that lie beside it."""
    document = documents.read(posixpath.join(root, FILE))
    places = [str(document.get("packages-install-path") or "")] if document.get("packages-install-path") else []
    for folder in (*sorted(INSTALLED), *places):
        base = posixpath.normpath(posixpath.join(root, folder))
        yield from (place for place in roots if posixpath.dirname(place) == base)
    for file in ("packages.yml", "dependencies.yml"):
        listed = documents.read(posixpath.join(root, file)).get("packages")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping) and isinstance(entry.get("local"), str):
                place = posixpath.normpath(posixpath.join(root, entry["local"]))
                if place in roots or (place == "." and "" in roots):
                    yield "" if place == "." else place
