"""A dbt project: the folders of its models, seeds and macros, their settings, and its packages."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.yaml_files import YamlFiles, as_mapping, as_words
from lineage_pipeline.discover.templating.protocol import Library

PROJECT_FILE = "dbt_project.yml"
PACKAGE_FOLDERS = frozenset({"dbt_packages", "dbt_modules"})

DEFAULT_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "model": ("model-paths", "source-paths", "models"),
    "seed": ("seed-paths", "data-paths", "seeds", "data"),
    "snapshot": ("snapshot-paths", "snapshots"),
    "analysis": ("analysis-paths", "analyses", "analysis"),
    "test": ("test-paths", "tests"),
    "macro": ("macro-paths", "macros"),
}
"""Keys that configure the folders of each kind of file, and their defaults."""

ADDITIVE_SETTINGS = frozenset({"tags", "pre-hook", "post-hook", "meta"})
SETTING_KEYS = frozenset(
    "materialized schema database alias enabled tags meta vars quoting pre-hook post-hook pre_hook post_hook grants "
    "contract column_types unique_key target_schema target_database strategy group docs full_refresh persist_docs "
    "incremental_strategy on_schema_change partition_by cluster_by file_format project dataset access "
    "merge_update_columns merge_exclude_columns incremental_predicates event_time begin batch_size lookback "
    "updated_at check_cols".split()
)
"""Keys that are settings even without a plus before them."""


class DbtProject(msgspec.Struct, frozen=True):
    """One project or package: its folder from the top of the repository, its name, and its `dbt_project.yml`."""

    root: str
    name: str
    document: Mapping[str, Any]
    packages: tuple["DbtProject", ...] = ()

    def folders(self, kind: str) -> tuple[str, ...]:
        """Return the folders of a kind of files, from the top."""
        keys = DEFAULT_FOLDERS[kind]
        said = next(
            (as_words(self.document[key]) for key in keys if key.endswith("-paths") and key in self.document), None
        )
        found = said or [key for key in keys if not key.endswith("-paths")]
        return tuple(posixpath.normpath(posixpath.join(self.root, folder)) for folder in found)

    def places(self) -> tuple[tuple[str, str], ...]:
        """Return all folders that are read, each with the kind of its files."""
        return tuple((f"{folder}/", kind) for kind in DEFAULT_FOLDERS for folder in self.folders(kind))

    def configured(self, kind: str, fqn: Sequence[str]) -> dict[str, Any]:
        """Return the settings of the project for a file, by its fully qualified name."""
        tree = self.document.get({"analysis": "analyses"}.get(kind, f"{kind}s"))
        found: dict[str, Any] = {}
        for part in ("", *fqn):
            if part:
                tree = tree.get(part) if isinstance(tree, Mapping) else None
            if not isinstance(tree, Mapping):
                break
            found = merge_settings(found, _level_settings(tree))
        return found

    def variables(self, package: str) -> dict[str, Any]:
        """Return the variables of a package as this project sets them."""
        said = as_mapping(self.document.get("vars"))
        return {**said, **as_mapping(said.get(package))}


def classify_path(places: Sequence[tuple[str, str]], path: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind of the file at a path, and the folders between; dbt does not read files of an empty kind."""
    for folder, kind in places:
        if path.startswith(folder):
            return kind, tuple(path[len(folder) :].split("/")[:-1])
    return "", ()


def _level_settings(tree: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the settings that one level of the configuration tree makes itself."""
    found = {}
    for key, value in tree.items():
        name = str(key)
        if name.startswith("+"):
            found[name[1:].replace("_hook", "-hook")] = value
        elif name in SETTING_KEYS and (
            not isinstance(value, Mapping) or name in ("meta", "vars", "quoting", "contract")
        ):
            found[name.replace("_hook", "-hook")] = value
    return found


def merge_settings(weaker: Mapping[str, Any], stronger: Mapping[str, Any]) -> dict[str, Any]:
    """Merge settings as dbt does: tags, hooks and meta are added, all others are replaced."""
    result = dict(weaker)
    for key, value in stronger.items():
        if key in ADDITIVE_SETTINGS and isinstance(value, Mapping):
            result[key] = (
                {**as_mapping(result.get(key)), **value} if key == "meta" else [*_to_list(result.get(key)), value]
            )
        elif key in ADDITIVE_SETTINGS:
            result[key] = [*_to_list(result.get(key)), *_to_list(value)]
        else:
            result[key] = value
    return result


def _to_list(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def with_packages(project: DbtProject) -> Iterator[DbtProject]:
    """Return a project and all its packages, nearer ones first."""
    yield project
    for package in project.packages:
        yield from with_packages(package)


def find_projects(library: Library, documents: YamlFiles) -> list[DbtProject]:
    """Return the projects of a repository, each with its packages; a package is no project of its own."""
    roots = [posixpath.dirname(path) for path in library.paths() if posixpath.basename(path) == PROJECT_FILE]
    own = [root for root in roots if not is_installed_package(root)]
    found = [_read_project(root, roots, documents, ()) for root in own]
    # A package that has the project inside itself is what that project tests: it stays what it is.
    used = {one.root for each in found for one in with_packages(each) if not is_in_folder(each.root, one.root)}
    return [project for project in found if project.root not in used]


def is_installed_package(path: str) -> bool:
    """Return whether a path lies in the folder where dbt installs packages."""
    return not PACKAGE_FOLDERS.isdisjoint(path.split("/"))


def is_in_folder(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def _read_project(root: str, roots: Sequence[str], documents: YamlFiles, around: tuple[str, ...]) -> DbtProject:
    document = documents.read(posixpath.join(root, PROJECT_FILE))
    name = str(document.get("name") or posixpath.basename(root) or "project")
    inner = [
        _read_project(place, roots, documents, (*around, root))
        for place in dict.fromkeys(_find_packages(root, roots, documents))
        if place != root and place not in around
    ]
    return DbtProject(root, name, document, tuple(inner))


def _find_packages(root: str, roots: Sequence[str], documents: YamlFiles) -> Iterator[str]:
    """Return the folders of the packages of a project: installed ones, and local ones beside it."""
    document = documents.read(posixpath.join(root, PROJECT_FILE))
    places = [str(document.get("packages-install-path") or "")] if document.get("packages-install-path") else []
    for folder in (*sorted(PACKAGE_FOLDERS), *places):
        base = posixpath.normpath(posixpath.join(root, folder))
        yield from (place for place in roots if posixpath.dirname(place) == base)
    for file in ("packages.yml", "dependencies.yml"):
        listed = documents.read(posixpath.join(root, file)).get("packages")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping) and isinstance(entry.get("local"), str):
                place = posixpath.normpath(posixpath.join(root, entry["local"]))
                if place in roots or (place == "." and "" in roots):
                    yield "" if place == "." else place
