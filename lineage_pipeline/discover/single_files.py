"""Single files given by name, and standard input."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from lineage_pipeline.discover.discovery import Discovery, DiscoveryReader, DiscoveryRules, FileSurroundings
from lineage_pipeline.discover.raw_file import RawFile
from lineage_pipeline.discover.rendered_rows import SCHEMA_TEMPLATER
from lineage_pipeline.discover.repository_files import FolderLibrary
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Snapshot

REPOSITORY_MARKERS = (
    ".git",
    "lineage.toml",
    "dbt_project.yml",
    "*.sqlproj",
    "workflow_settings.yaml",
    "dataform.json",
    "config.yaml",
)
"""Files and folders that mark the top of a repository or project."""

STDIN = "-"
"""The path that means standard input."""


def discover_single_files(
    paths: Sequence[str], stdin: bytes, rules: DiscoveryRules, *, analysis_key: str = ""
) -> Discovery:
    """Read the named files, each once, under the paths given."""
    snapshot = Snapshot(
        repo="files",
        refs=(),
        commit="",
        parents=(),
        base=None,
        base_rule="none",
        committed_at=None,
        author=None,
        files=0,
        analysis_key=analysis_key,
    )
    named = sorted(dict.fromkeys(paths), key=natural_path_key)
    return keep_named_files(
        DiscoveryReader(snapshot, read_single_files(named, stdin), rules, find_surrounding_library(paths)).whole(),
        paths,
    )


def keep_named_files(found: Discovery, paths: Sequence[str]) -> Discovery:
    """Drop the rows that surrounding projects add, except descriptions of tables."""
    files = tuple(file for file in found.files if file.path in paths or file.templater == SCHEMA_TEMPLATER)
    kept = {file.path for file in files}
    findings = tuple(row for row in found.diagnostics if row.path is None or row.path in kept)
    return msgspec.structs.replace(found, files=files, diagnostics=findings)


def find_surrounding_library(paths: Sequence[str]) -> FileSurroundings:
    """Return the files that templates may load: of the repository or project around the first file, or its folder."""
    first = next((Path(path).resolve() for path in paths if path != STDIN), Path.cwd() / STDIN)
    around = (parent for mark in REPOSITORY_MARKERS for parent in first.parents if _has_marker(parent, mark))
    top = next(around, first.parent)
    return FileSurroundings(None, FolderLibrary(top, Path.cwd()))


def _has_marker(folder: Path, mark: str) -> bool:
    return any(folder.glob(mark)) if "*" in mark else (folder / mark).exists()


def read_single_files(paths: Sequence[str], stdin: bytes) -> Iterator[RawFile]:
    """Yield the named files, each once."""
    for path in dict.fromkeys(paths):
        try:
            yield RawFile(path, stdin if path == STDIN else Path(path).read_bytes())
        except OSError as error:
            raise LineageError(f"{path}: {error.strerror}") from None
