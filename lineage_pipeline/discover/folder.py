"""A folder as it lies on the disk, uncommitted changes included."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lineage_pipeline.discover.belonging import MARK, top_of
from lineage_pipeline.discover.bounded import SETTINGS, read_bounded
from lineage_pipeline.discover.decode import decode
from lineage_pipeline.discover.gather import Around, Discovery, Gathering, Rules
from lineage_pipeline.discover.ignores import GIT_FILES, OWN_FILES, Ignores
from lineage_pipeline.discover.library import FolderLibrary
from lineage_pipeline.discover.owners import PLACES, Owners, parse_owners
from lineage_pipeline.discover.raw import RawFile, Recalled, most_bytes, too_large
from lineage_pipeline.discover.sqlproj import SUFFIX, positions
from lineage_pipeline.discover.tracked import leads_inside, tracked_in
from lineage_pipeline.discover.waivers import FILE_NAME
from lineage_pipeline.engine.graph.scopes import natural
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Snapshot

MOST_TEXT = 10_000_000
"""Bytes of a file of owners or waivers beyond which it is left unread."""

SKIPPED = frozenset({".git", ".hg", ".svn"})
"""Folders that belong to version control, never to a repository's content."""


def discover_folder(folder: Path, rules: Rules, *, name: str = "") -> Discovery:
    """Read every selected file below a folder; its snapshot is named after the content and has no times.

    What git tracks is read though an ignore file of git says otherwise; a repository inside is told and not entered.
    """
    return gather_folder(folder, rules, name=name).whole()


def gather_folder(
    folder: Path, rules: Rules, *, name: str = "", recalled: Mapping[str, Recalled] | None = None
) -> Gathering:
    """Prepare to read every selected file below a folder, one by one; of those that are `recalled` all is known."""
    if not folder.is_dir():
        raise LineageError(f"{folder} is not a folder")
    snapshot = Snapshot(
        repo=name or repository_name(folder),
        refs=(),
        commit="",
        parents=(),
        base=None,
        base_rule="none",
        committed_at=None,
        author=None,
        files=0,
        analysis_key="",
    )
    around = Around(_owners(folder), FolderLibrary(folder))
    beside = Beside([], [])
    raw_files = read_folder(folder, rules, beside, recalled)
    known = {"waivers": _text(folder / FILE_NAME), "positions": lambda: positions(beside.projects, around.library.read)}
    return Gathering(
        snapshot, raw_files, rules, around, detect=True, projects=beside.projects, modules=beside.modules, **known
    )


def _owners(folder: Path) -> Owners | None:
    """Read who owns the files, where somebody says so."""
    found = next((folder / place for place in PLACES if (folder / place).is_file()), None)
    return parse_owners(_text(found)) if found is not None else None


def _text(path: Path) -> str:
    return decode(_read_file(path, "").content).text if path.is_file() else ""


class Beside(NamedTuple):
    """What is met on the way to the files: projects of databases, and other repositories."""

    projects: list[str]
    modules: list[str]


def read_folder(
    folder: Path, rules: Rules, beside: Beside | None = None, recalled: Mapping[str, Recalled] | None = None
) -> Iterator[RawFile]:
    """Give the selected files below a folder, one by one, in natural path order; `beside` takes what else is met."""
    met, known = beside or Beside([], []), recalled or {}
    inside = top_of(folder.resolve()) or folder.resolve()
    closed: list[OSError] = []
    chosen = [(shown_path(within), within) for within in _walk(folder, met.modules, closed.append)]
    selected = [(relative, within) for relative, within in chosen if rules.selects(relative)]
    met.projects.extend(within for _, within in chosen if within.endswith(SUFFIX))
    shut = {shown_path(os.path.relpath(error.filename, folder)): error for error in closed}
    for relative, within in sorted([*selected, *((path, path) for path in shut)], key=lambda item: natural(item[0])):
        if relative in shut:
            yield RawFile(relative, b"", f"the folder cannot be read: {shut[relative].strerror}")
        elif relative in known:
            yield RawFile(relative, b"", recalled=known[relative])
        elif _lies_in(path := folder / within, inside):
            yield _read_file(path, relative, most_bytes(relative, rules))


def _lies_in(path: Path, inside: Path) -> bool:
    """Say whether a path is a file, and one of the repository: a link may lead anywhere."""
    return leads_inside(path, inside) if path.is_symlink() else path.is_file()


def shown_path(path: str) -> str:
    """Give a path as text, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def folder_ignores(folder: Path, names: Iterable[str] = GIT_FILES) -> tuple[Ignores, str]:
    """Give what is ignored in a folder, and how its repository calls the folder: its ignore files count, too."""
    top = top_of(folder) or folder
    prefix = folder.relative_to(top).as_posix() + "/" if top != folder else ""

    def read(path: str) -> str | None:
        files = [top / ".git" / "info" / "exclude"] if path == ".gitignore" else []
        files = [file for file in (*files, top / path) if file.is_file() and not file.is_symlink()]  # as git does
        texts = [read_bounded(file, SETTINGS).decode("utf-8", "surrogateescape") for file in files]
        return "\n".join(texts) if texts else None

    return Ignores(read, names, inside=prefix.rstrip("/")), prefix


def repository_name(folder: Path) -> str:
    """Name a repository after its folder, with nothing in it that a key or a path could not hold."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name.removesuffix(".git")).strip("-.") or "repository"


def _walk(folder: Path, modules: list[str], closed: Callable[[OSError], None]) -> Iterator[str]:
    """Give every file that is not ignored, by its path below the folder; `closed` is told what cannot be entered.

    Linked folders are not entered: no loop and no file outside is met. Nor are other repositories in a repository:
    `modules` take where they lie.
    """
    ignores, prefix = folder_ignores(folder.resolve())
    own, _ = folder_ignores(folder.resolve(), OWN_FILES)
    known = tracked_in(folder)
    tracked = frozenset(known.files)
    holding = {path[:at] for path in tracked for at, sign in enumerate(path) if sign == "/"}
    modules.extend(shown_path(path.removeprefix(prefix)) for path in known.modules)
    in_git = top_of(folder.resolve()) is not None

    def ignores_file(path: str) -> bool:
        return own.ignores(path) if path in tracked else ignores.ignores(path)

    def ignores_folder(path: str) -> bool:
        return own.ignores_folder(path) if path in holding else ignores.ignores_folder(path)

    for parent, folders, files in os.walk(folder, onerror=closed):
        within = Path(parent).relative_to(folder).as_posix()
        if in_git and within != "." and (MARK in folders or MARK in files):
            modules.extend([shown_path(within)] if shown_path(within) not in modules else ())
            folders.clear()
            continue
        inner = within + "/" if within != "." else ""
        above = prefix + inner
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not ignores_folder(above + name))
        yield from (inner + name for name in sorted(files) if not ignores_file(above + name))


def _read_file(path: Path, relative: str, most: int = MOST_TEXT) -> RawFile:
    try:
        with path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size > most:
                return too_large(relative, most)
            return RawFile(relative, stream.read())
    except OSError as error:
        return RawFile(relative, b"", f"it cannot be read: {error.strerror}")
