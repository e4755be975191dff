"""A folder as it lies on the disk, uncommitted changes included."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from lineage_pipeline.discover.decode import decode
from lineage_pipeline.discover.gather import Around, Discovery, Gathering, RawFile, Rules, most_bytes, too_large
from lineage_pipeline.discover.ignores import GIT_FILES, OWN_FILES, Ignores
from lineage_pipeline.discover.library import FolderLibrary
from lineage_pipeline.discover.owners import PLACES, Owners, parse_owners
from lineage_pipeline.discover.sqlproj import SUFFIX, positions
from lineage_pipeline.discover.waivers import FILE_NAME
from lineage_pipeline.engine.graph.scopes import natural
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Diagnostic, Snapshot

MOST_TEXT = 10_000_000
"""Bytes of a file of owners or waivers beyond which it is left unread."""

SKIPPED = frozenset({".git", ".hg", ".svn"})
"""Folders that belong to version control, never to a repository's content."""


def discover_folder(folder: Path, rules: Rules, *, name: str = "", tracked: Collection[str] = ()) -> Discovery:
    """Read every selected file below a folder; its snapshot is named after the content and has no times.

    What git has `tracked` is read though an ignore file of git says otherwise.
    """
    return gather_folder(folder, rules, name=name, tracked=tracked).whole()


def gather_folder(
    folder: Path, rules: Rules, *, name: str = "", tracked: Collection[str] = (), findings: Sequence[Diagnostic] = ()
) -> Gathering:
    """Prepare to read every selected file below a folder, one by one."""
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
    projects: list[str] = []
    raw_files = read_folder(folder, rules, tracked, projects)
    known = {"waivers": _text(folder / FILE_NAME), "positions": lambda: positions(projects, around.library.read)}
    return Gathering(snapshot, raw_files, rules, around, detect=True, findings=findings, **known)


def _owners(folder: Path) -> Owners | None:
    """Read who owns the files, where somebody says so."""
    found = next((folder / place for place in PLACES if (folder / place).is_file()), None)
    return parse_owners(_text(found)) if found is not None else None


def _text(path: Path) -> str:
    return decode(_read_file(path, "").content).text if path.is_file() else ""


def read_folder(
    folder: Path, rules: Rules, tracked: Collection[str] = (), projects: list[str] | None = None
) -> Iterator[RawFile]:
    """Give the selected files below a folder, one by one, in natural path order; `projects` take what orders them."""
    inside = folder.resolve()
    closed: list[OSError] = []
    chosen = [(shown_path(within), within) for within in _walk(folder, frozenset(tracked), closed.append)]
    selected = [(relative, within) for relative, within in chosen if rules.selects(relative)]
    if projects is not None:
        projects.extend(within for _, within in chosen if within.endswith(SUFFIX))
    shut = {shown_path(os.path.relpath(error.filename, folder)): error for error in closed}
    for relative, within in sorted([*selected, *((path, path) for path in shut)], key=lambda item: natural(item[0])):
        if relative in shut:
            yield RawFile(relative, b"", f"the folder cannot be read: {shut[relative].strerror}")
        elif _lies_in(path := folder / within, inside):
            yield _read_file(path, relative, most_bytes(relative, rules))


def _lies_in(path: Path, inside: Path) -> bool:
    """Say whether a path is a file, and one of the folder: a link may lead anywhere."""
    if path.is_symlink():
        return path.is_file() and path.resolve().is_relative_to(inside)
    return path.is_file()


def shown_path(path: str) -> str:
    """Give a path as text, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def folder_ignores(folder: Path, names: Iterable[str] = GIT_FILES) -> tuple[Ignores, str]:
    """Give what is ignored in a folder, and how its repository calls the folder: its ignore files count, too."""
    top = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    prefix = folder.relative_to(top).as_posix() + "/" if top != folder else ""

    def read(path: str) -> str | None:
        files = [top / ".git" / "info" / "exclude"] if path == ".gitignore" else []
        files = [file for file in (*files, top / path) if file.is_file() and not file.is_symlink()]  # as git does
        return "\n".join(file.read_bytes().decode("utf-8", "surrogateescape") for file in files) if files else None

    return Ignores(read, names, inside=prefix.rstrip("/")), prefix


def repository_name(folder: Path) -> str:
    """Name a repository after its folder, with nothing in it that a key or a path could not hold."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name.removesuffix(".git")).strip("-.") or "repository"


def _walk(folder: Path, tracked: frozenset[str], closed: Callable[[OSError], None]) -> Iterator[str]:
    """Give every file that is not ignored, by its path below the folder; `closed` is told what cannot be entered.

    Linked folders are not entered: no loop and no file outside is met.
    """
    ignores, prefix = folder_ignores(folder.resolve())
    own, _ = folder_ignores(folder.resolve(), OWN_FILES)
    holding = {path[:at] for path in tracked for at, sign in enumerate(path) if sign == "/"}

    def ignores_file(path: str) -> bool:
        return own.ignores(path) if path in tracked else ignores.ignores(path)

    def ignores_folder(path: str) -> bool:
        return own.ignores_folder(path) if path in holding else ignores.ignores_folder(path)

    for parent, folders, files in os.walk(folder, onerror=closed):
        within = Path(parent).relative_to(folder).as_posix()
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
