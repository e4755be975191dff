"""Settings files of repositories that are not our own: they may set how files are read, and nothing outside."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineage_pipeline.config.layers import REPOSITORY_TABLES, SettingsLayer
from lineage_pipeline.config.toml_files import parse_toml_text
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.model.errors import LineageError

PATH_SETTINGS = (
    ("manifest",),
    ("templating", "variables_file"),
    ("analysis", "schemas"),
    ("systems", "schemas"),
)
"""Settings that name files to read."""


def is_own_file(file: Path, here: Path) -> bool:
    """Return whether a settings file is the user's own: in the working directory or above."""
    return here.is_relative_to(file.parent)


def restrict_foreign_layer(layer: SettingsLayer, source: str, root: Path) -> SettingsLayer:
    """Refuse foreign settings that run code, contact other machines, or name files outside the repository.

    A foreign warehouse setting is dropped, since the user decides where results go.
    """
    if any(value is not False for value in _values_at(layer, ("dbt", "trust"))):
        raise LineageError(f"{source}: dbt.trust is {_ADVICE}")
    for keys in PATH_SETTINGS:
        for place in _values_at(layer, keys):
            if isinstance(place, str) and _is_outside(place, root):
                raise LineageError(f"{source}: {'.'.join(keys)} leads out of its folder, which is {_ADVICE}")
    return {key: value for key, value in layer.items() if key != "warehouse" or not _is_outside(str(value), root)}


_ADVICE = "for whoever starts the analysis to say: start it in that folder, or name the file in LINEAGE_CONFIG"


def _is_outside(place: str, root: Path) -> bool:
    """Return whether a path is outside both a folder and the working directory; snapshots are named by key."""
    kind, _, rest = place.partition("snapshot:")
    path = (place if kind else rest.rpartition("#")[0]).removeprefix("duckdb:///")
    leading = (root.resolve() / path).resolve()
    return "://" in path or not any(leading.is_relative_to(folder) for folder in (root.resolve(), Path.cwd()))


def _values_at(node: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """Yield the values at a key path, in every row of lists on the way."""
    if isinstance(node, list):
        for item in node:
            yield from _values_at(item, keys)
    elif not keys:
        yield node
    elif isinstance(node, dict) and keys[0] in node:
        yield from _values_at(node[keys[0]], keys[1:])


MIRROR_FOLDERS = (".lineage", "mirrors")
"""The folders that hold mirrors of remote repositories."""


def is_mirror_folder(folder: Path) -> bool:
    """Return whether a folder is a mirror of a remote repository."""
    return folder.parts[-4:-2] == MIRROR_FOLDERS and (folder / "HEAD").is_file()


def read_mirror_layer(mirror: Path) -> SettingsLayer | None:
    """Read the settings of a mirrored repository on its default branch, if it has some."""
    for name in ("lineage.toml", "pyproject.toml"):
        try:
            text = run_git(mirror, "cat-file", "blob", f"HEAD:{name}").decode("utf-8")
        except (LineageError, UnicodeDecodeError):
            continue
        content = parse_toml_text(text, f"{mirror.name}:{name}")
        own = content if name == "lineage.toml" else dict(content.get("tool", {}).get("lineage", {}))
        if own:
            return restrict_foreign_layer(own, f"{mirror.name}:{name}", mirror)
    return None


def apply_mirror_layer(layer: SettingsLayer, mirror: Path) -> SettingsLayer:
    """Take the reading and judging tables from a mirrored repository, and all others from our settings."""
    own = read_mirror_layer(mirror)
    if own is None:
        return layer
    return {key: value for key, value in layer.items() if key not in REPOSITORY_TABLES} | {
        key: value for key, value in own.items() if key in REPOSITORY_TABLES
    }
