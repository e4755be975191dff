"""Files on disk: a folder with its uncommitted changes, single files given by name, and standard input."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lineage_pipeline.discover.code_owners import OWNER_FILES, CodeOwners, parse_code_owners
from lineage_pipeline.discover.discovery import (
    Discovery,
    DiscoveryReader,
    DiscoveryRules,
    FileSurroundings,
    RawFile,
    RecalledFile,
    max_file_bytes,
    oversized_file,
)
from lineage_pipeline.discover.file_selection import FileSelection
from lineage_pipeline.discover.git.boundary import (
    GIT_FOLDER,
    FolderLibrary,
    find_worktree_top,
    links_inside,
    list_tracked_files,
)
from lineage_pipeline.discover.ignore_rules import FOLDER_IGNORE_FILES, REVISION_IGNORE_FILES, IgnoreRules
from lineage_pipeline.discover.sql_sniffing import HEAD_BYTES
from lineage_pipeline.discover.sqlproj import SQLPROJ_SUFFIX, find_deployment_positions
from lineage_pipeline.discover.waiver_file import WAIVER_FILE_NAME
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.files.bounded_files import SETTINGS, read_bounded_file
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, Snapshot

MAX_TEXT_BYTES = 10_000_000
"""Size in bytes beyond which a CODEOWNERS or waiver file is not read."""

VERSION_CONTROL_FOLDERS = frozenset({".git", ".hg", ".svn"})
"""Folders of version control systems, which are never content."""


def discover_folder(folder: Path, rules: DiscoveryRules, *, name: str = "", analysis_key: str = "") -> Discovery:
    """Read every selected file below a folder; its snapshot is named after the content and has no times.

    Files that git tracks are read even if a .gitignore matches them; nested repositories are reported, not entered.
    """
    return open_folder(folder, rules, name=name, analysis_key=analysis_key).whole()


def open_folder(
    folder: Path,
    rules: DiscoveryRules,
    *,
    name: str = "",
    analysis_key: str = "",
    recalled: Mapping[str, RecalledFile] | None = None,
) -> DiscoveryReader:
    """Prepare to read every selected file below a folder one by one; `recalled` files are not read again.

    The snapshot stores `analysis_key`, the hash of all else that affects results.
    """
    if not folder.is_dir():
        raise LineageError(f"{folder} is not a folder")
    snapshot = Snapshot(
        repo=name or name_repository(folder),
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
    around = FileSurroundings(_read_folder_owners(folder), FolderLibrary(folder))
    beside = FolderExtras([], [], FileSelection(rules))
    raw_files = read_folder(folder, rules, beside, recalled)
    known: dict[str, Any] = {
        "waivers": _read_optional_text(folder / WAIVER_FILE_NAME),
        "positions": lambda: find_deployment_positions(beside.projects, around.library.read),
    }
    known |= beside._asdict()
    return DiscoveryReader(snapshot, raw_files, rules, around, detect=True, **known)


def _read_folder_owners(folder: Path) -> CodeOwners | None:
    """Read the CODEOWNERS file of a folder, if there is one."""
    found = next((folder / place for place in OWNER_FILES if (folder / place).is_file()), None)
    return parse_code_owners(_read_optional_text(found)) if found is not None else None


def _read_optional_text(path: Path) -> str:
    found = _read_file(path, "") if path.is_file() else None
    return decode_content(found.content).text if found is not None else ""


class FolderExtras(NamedTuple):
    """Found while walking a folder: database projects, nested repositories, and which files are read."""

    projects: list[str]
    modules: list[str]
    selection: FileSelection


def read_folder(
    folder: Path,
    rules: DiscoveryRules,
    beside: FolderExtras | None = None,
    recalled: Mapping[str, RecalledFile] | None = None,
) -> Iterator[RawFile]:
    """Yield the selected files below a folder in natural path order; `beside` collects what else is found."""
    met, known = beside or FolderExtras([], [], FileSelection(rules)), recalled or {}
    inside = find_worktree_top(folder.resolve()) or folder.resolve()
    closed: list[OSError] = []
    places = {printable_path(within): within for within in _walk_folder(folder, met.modules, closed.append)}
    selected = [(relative, places[relative]) for relative in met.selection.select(places)]
    met.projects.extend(within for within in places.values() if within.endswith(SQLPROJ_SUFFIX))
    shut = {printable_path(os.path.relpath(error.filename, folder)): error for error in closed}
    for relative, within in sorted(
        [*selected, *((path, path) for path in shut)], key=lambda item: natural_path_key(item[0])
    ):
        if relative in shut:
            yield RawFile(relative, b"", f"the folder cannot be read: {shut[relative].strerror}")
        elif relative in known:
            yield RawFile(relative, b"", recalled=known[relative])
        elif _is_repository_file(path := folder / within, inside):
            looked_at = met.selection if met.selection.needs_look(relative) else None
            raw = _read_file(path, relative, max_file_bytes(relative, rules), looked_at)
            yield from [raw] if raw is not None else []


def _is_repository_file(path: Path, inside: Path) -> bool:
    """Return whether a path is a file inside the repository; a symbolic link may point outside."""
    return links_inside(path, inside) if path.is_symlink() else path.is_file()


def printable_path(path: str) -> str:
    """Return a path as text, with undecodable bytes escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_ignore_rules(folder: Path, names: Iterable[str] = FOLDER_IGNORE_FILES) -> tuple[IgnoreRules, str]:
    """Return the ignore rules for a folder, including those of its repository, and its path in the repository."""
    top = find_worktree_top(folder) or folder
    prefix = folder.relative_to(top).as_posix() + "/" if top != folder else ""

    def read(path: str) -> str | None:
        files = [top / ".git" / "info" / "exclude"] if path == ".gitignore" else []
        files = [file for file in (*files, top / path) if file.is_file() and not file.is_symlink()]  # as git does
        texts = [read_bounded_file(file, SETTINGS).decode("utf-8", "surrogateescape") for file in files]
        return "\n".join(texts) if texts else None

    return IgnoreRules(read, names, inside=prefix.rstrip("/")), prefix


def name_repository(folder: Path) -> str:
    """Return a repository name from its folder, safe for keys and paths."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name.removesuffix(".git")).strip("-.") or "repository"


def _walk_folder(folder: Path, modules: list[str], closed: Callable[[OSError], None]) -> Iterator[str]:
    """Yield every file that is not ignored, relative to the folder; `closed` receives unreadable folders.

    Symbolic links to folders are not entered, nor are nested repositories, whose paths `modules` collects.
    """
    ignores, prefix = read_ignore_rules(folder.resolve())
    own, _ = read_ignore_rules(folder.resolve(), REVISION_IGNORE_FILES)
    known = list_tracked_files(folder)
    tracked = frozenset(known.files)
    holding = {path[:at] for path in tracked for at, sign in enumerate(path) if sign == "/"}
    modules.extend(printable_path(path.removeprefix(prefix)) for path in known.modules)
    in_git = find_worktree_top(folder.resolve()) is not None

    def ignores_file(path: str) -> bool:
        return own.ignores(path) if path in tracked else ignores.ignores(path)

    def ignores_folder(path: str) -> bool:
        return own.ignores_folder(path) if path in holding else ignores.ignores_folder(path)

    for parent, folders, files in os.walk(folder, onerror=closed):
        within = Path(parent).relative_to(folder).as_posix()
        if in_git and within != "." and (GIT_FOLDER in folders or GIT_FOLDER in files):
            modules.extend([printable_path(within)] if printable_path(within) not in modules else ())
            folders.clear()
            continue
        inner = within + "/" if within != "." else ""
        above = prefix + inner
        folders[:] = sorted(
            name for name in folders if name not in VERSION_CONTROL_FOLDERS and not ignores_folder(above + name)
        )
        yield from (inner + name for name in sorted(files) if not ignores_file(above + name))


def _read_file(
    path: Path, relative: str, most: int = MAX_TEXT_BYTES, selection: FileSelection | None = None
) -> RawFile | None:
    """Read a file; None where a `selection` does not take it for what its head looks like."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES) if selection is not None else b""
            if selection is not None and not selection.takes(relative, head):
                return None
            if os.fstat(stream.fileno()).st_size > most:
                return oversized_file(relative, most)
            return RawFile(relative, head + stream.read())
    except OSError as error:
        if selection is not None:  # nobody knows whether it is SQL
            return None
        return RawFile(relative, b"", f"it cannot be read: {error.strerror}")


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
