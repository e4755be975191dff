"""Single files by name, and standard input."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from lineage_pipeline.discover.gather import Around, Discovery, Gathering, Rules
from lineage_pipeline.discover.library import FolderLibrary
from lineage_pipeline.discover.raw import RawFile
from lineage_pipeline.discover.rendered import SCHEMA
from lineage_pipeline.engine.graph.scopes import natural
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Snapshot

TOPS = (
    ".git",
    "lineage.toml",
    "dbt_project.yml",
    "*.sqlproj",
    "workflow_settings.yaml",
    "dataform.json",
    "config.yaml",
)
"""What lies at the top of a repository; where it is in no git, whoever reads it has left a mark there."""

STDIN = "-"
"""The path of standard input."""


def discover_files(paths: Sequence[str], stdin: bytes, rules: Rules) -> Discovery:
    """Read the named files, each once, under the paths that were given."""
    snapshot = Snapshot("files", (), "", (), None, "none", None, None, 0, "")
    named = sorted(dict.fromkeys(paths), key=natural)
    return only_files(Gathering(snapshot, read_files(named, stdin), rules, library_around(paths)).whole(), paths)


def only_files(found: Discovery, paths: Sequence[str]) -> Discovery:
    """Give what was named, without the rows that a project around it brings, but for its description of tables."""
    files = tuple(file for file in found.files if file.path in paths or file.templater == SCHEMA)
    kept = {file.path for file in files}
    findings = tuple(row for row in found.diagnostics if row.path is None or row.path in kept)
    return msgspec.structs.replace(found, files=files, diagnostics=findings)


def library_around(paths: Sequence[str]) -> Around:
    """Give the files that templates may load: of the repository or the project around the first file, or its folder."""
    first = next((Path(path).resolve() for path in paths if path != STDIN), Path.cwd() / STDIN)
    around = (parent for mark in TOPS for parent in first.parents if _has(parent, mark))
    top = next(around, first.parent)
    return Around(None, FolderLibrary(top, Path.cwd()))


def _has(folder: Path, mark: str) -> bool:
    return any(folder.glob(mark)) if "*" in mark else (folder / mark).exists()


def read_files(paths: Sequence[str], stdin: bytes) -> Iterator[RawFile]:
    """Give the named files, each once."""
    for path in dict.fromkeys(paths):
        try:
            yield RawFile(path, stdin if path == STDIN else Path(path).read_bytes())
        except OSError as error:
            raise LineageError(f"{path}: {error.strerror}") from None
