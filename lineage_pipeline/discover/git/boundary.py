"""The boundary of a repository: its git folder, tracked files, submodules and links; templates see nothing outside.

A stranger's repository may point anywhere, so that what leads outside is refused.
"""

import os
import posixpath
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from lineage_pipeline.files.bounded_files import DOCUMENT, read_bounded_file
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.model.errors import LineageError

GIT_FOLDER = ".git"
"""Name of the git folder, or of the file in its place, at the top of a repository or a submodule."""

GITDIR_PREFIX = "gitdir: "
"""First word of a `.git` file that points to the git folder."""

MAX_PATH_LENGTH = 4_000
"""Most characters of a path stored in a file."""

GIT_FOLDER_ENTRIES = (
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "info",
    "logs",
    "objects",
    "packed-refs",
    "refs",
    "shallow",
)
"""Entries of a git folder that git reads for our commands; hooks and submodules are not among them."""


class ForeignRepositoryError(LineageError):
    """A repository points outside of itself."""


def find_worktree_top(folder: Path) -> Path | None:
    """Return the top of the working tree around a folder, if there is one."""
    return next((place for place in (folder, *folder.parents) if (place / GIT_FOLDER).exists()), None)


def find_trusted_top(path: Path) -> Path:
    """Return the top of the repository around a path, or a bare repository itself; refuse one that points elsewhere."""
    own, here = _rev_parse_path(path, "--absolute-git-dir"), path.resolve()
    if run_git(path, "rev-parse", "--is-bare-repository").strip() == b"true":
        refuse_foreign_repository(own, own if here.is_relative_to(own) else find_worktree_top(here) or here)
        return own
    top = _rev_parse_path(path, "--show-toplevel")
    if (
        not here.is_relative_to(top) or find_git_folder(top) != own
    ):  # a repository may claim any folder of the machine as its own
        raise ForeignRepositoryError(f"the settings of the repository {path} lead to {top}")
    refuse_foreign_repository(own, top)
    return top


def _rev_parse_path(path: Path, what: str) -> Path:
    return _real_path(Path(os.fsdecode(run_git(path, "rev-parse", what).removesuffix(b"\n"))))


def _real_path(path: Path) -> Path:
    """Resolve all symbolic links; cyclic ones stay as they are."""
    return Path(os.path.realpath(path))


def refuse_foreign_repository(own: Path, home: Path) -> None:
    """Refuse a git folder that does not belong to its working tree, or that borrows objects from another one."""
    if not _belongs_to_worktree(own, home):
        raise ForeignRepositoryError(
            f"{home / GIT_FOLDER} leads to {own}, which knows nothing of it; if both are yours, say so there: "
            f"git config core.worktree {home}"
        )
    common = _read_path_file(own / "commondir", own) or own
    if common not in (own, own.parent.parent if own.parent.name == "worktrees" else own):
        raise ForeignRepositoryError(f"{own} has its objects in {common}, which knows nothing of it")
    for place in {own, common}:
        _refuse_special_files(place, common)


def find_git_folder(home: Path) -> Path | None:
    """Return the git folder of a working tree: `.git` itself, or where a `.git` file points."""
    mark = home / GIT_FOLDER
    return _read_path_file(mark, home, GITDIR_PREFIX) if mark.is_file() else _real_path(mark)


def _read_path_file(file: Path, start: Path, begins: str = "") -> Path | None:
    """Read a path from a file that holds nothing else."""
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        written = os.fsdecode(stream.read(MAX_PATH_LENGTH)).strip()
    if not written.startswith(begins) or "\0" in written:
        return None
    return _real_path(start / written.removeprefix(begins))


def _belongs_to_worktree(own: Path, home: Path) -> bool:
    """Return whether a git folder lies in a working tree, or names it as one of its own."""
    if own.is_relative_to(home):
        return True
    linked = _read_path_file(own / "gitdir", own)
    if linked is not None:
        return linked == home / GIT_FOLDER
    try:
        named = run_git(home, "config", "--get", "core.worktree").removesuffix(b"\n")
    except LineageError:
        return False
    return _real_path(own / os.fsdecode(named)) == home


def _refuse_special_files(place: Path, inside: Path) -> None:
    """Refuse special files, which could block forever, and symbolic links that lead outside."""
    for entry in _walk_git_folder(place):
        if entry.is_symlink():
            if not _real_path(Path(entry.path)).is_relative_to(inside):
                raise ForeignRepositoryError(f"{entry.path} leads out of the repository")
        elif not entry.is_file() and not entry.is_dir():
            raise ForeignRepositoryError(f"{entry.path} is no file")


def _walk_git_folder(place: Path) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries of a git folder that git reads, without following linked folders."""
    waiting = [entry for entry in _list_folder(place) if entry.name in GIT_FOLDER_ENTRIES]
    while waiting:
        entry = waiting.pop()
        yield entry
        if entry.is_dir(follow_symlinks=False):
            waiting.extend(_list_folder(entry.path))


def _list_folder(place: str | Path) -> list["os.DirEntry[str]"]:
    """List a folder; one that cannot be read is empty, since git itself reports the error."""
    try:
        with os.scandir(place) as listed:
            return list(listed)
    except OSError:
        return []


SUBMODULE, LINK = "160000", "120000"
"""The modes of another repository inside a tree, and of a link."""

MAX_LINK_STEPS = 40
"""How many symbolic links are followed on the way to one file."""


class TrackedFiles(msgspec.Struct, frozen=True):
    """The files that git tracks and the submodules, by their paths from the top of the repository."""

    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


def list_tracked_files(folder: Path) -> TrackedFiles:
    """Return what git tracks below a folder; nothing where there is no git, or it fails."""
    home = find_worktree_top(folder.resolve())
    own = find_git_folder(home) if home is not None else None
    if home is None or own is None:
        return TrackedFiles()
    try:
        refuse_foreign_repository(own, home)
        listed = run_git(folder, "ls-files", "-z", "--cached", "--stage", "--full-name").split(b"\0")
    except LineageError:
        return TrackedFiles()
    staged = [entry.split(b"\t", 1) for entry in listed if entry]
    named = [(os.fsdecode(path), about.split()[0].decode("ascii")) for about, path in staged]
    modules = tuple(sorted(path for path, mode in named if mode == SUBMODULE))
    return TrackedFiles(tuple(path for path, _ in named), modules)


def links_inside(path: Path, inside: Path) -> bool:
    """Return whether a symbolic link leads to a file of the same repository, and not of a nested one."""
    if not path.is_file():  # asked first: a link that leads to itself has no end
        return False
    target = path.resolve()
    if not target.is_relative_to(inside):
        return False
    between = [place for place in target.parents if place != inside and place.is_relative_to(inside)]
    return GIT_FOLDER not in target.relative_to(inside).parts and not any(
        (place / GIT_FOLDER).exists() for place in between
    )


def resolve_tree_links(links: Mapping[str, str], files: Container[str]) -> dict[str, str]:
    """Return the files of a tree that its symbolic links lead to, by link path; links that lead outside are dropped."""
    found = {path: _resolve_tree_link(path, links) for path in links}
    return {path: target for path, target in found.items() if target in files}


def _resolve_tree_link(path: str, links: Mapping[str, str]) -> str:
    """Resolve all links on a path in a tree; cyclic ones, and those that leave the tree, give an empty text."""
    for _ in range(MAX_LINK_STEPS):
        parts = path.split("/")
        at = next((end for end in range(1, len(parts) + 1) if "/".join(parts[:end]) in links), 0)
        if not at:
            return path
        link = "/".join(parts[:at])
        if posixpath.isabs(links[link]):
            return ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(link), links[link], *parts[at:]))
        if path.startswith(".."):
            return ""
    return ""


UNTEMPLATED_FOLDERS = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
"""Folders from which no template is loaded."""


class FolderLibrary:
    """The files below a folder on disk."""

    def __init__(self, folder: Path, start: Path | None = None) -> None:
        """Store the folder, and the folder that relative names start from; files are read on demand."""
        self.folder = folder.resolve()
        self.start = start.resolve() if start is not None else self.folder

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        found: list[str] = []
        in_git = find_worktree_top(self.folder) is not None
        for parent, folders, files in os.walk(self.folder):
            if in_git and Path(parent) != self.folder and (GIT_FOLDER in folders or GIT_FOLDER in files):
                folders.clear()  # another repository is not followed
                continue
            folders[:] = sorted(name for name in folders if name not in UNTEMPLATED_FOLDERS)
            base = Path(parent).relative_to(self.folder).as_posix()
            found.extend(posixpath.normpath(posixpath.join(base, name)) for name in files)
        return tuple(sorted(found))

    def paths(self) -> Sequence[str]:
        """Return the paths of all files, in order."""
        return self._paths

    def read(self, path: str) -> str | None:
        """Return the text of a file below the folder; symbolic links that lead outside are not followed."""
        file = (self.folder / path).resolve()
        if not file.is_relative_to(self.folder) or not file.is_file():
            return None
        try:
            return decode_content(read_bounded_file(file, DOCUMENT)).text
        except OSError:
            return None

    def read_all(self, paths: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the texts of files below the folder."""
        return ((path, self.read(path)) for path in paths)

    def locate(self, path: str) -> str:
        """Return the path below the folder of a file named relative to the working directory."""
        if self.start == self.folder and not path.startswith("/") and ".." not in path:
            return path
        file = (self.start / path).resolve()
        return file.relative_to(self.folder).as_posix() if file.is_relative_to(self.folder) else path


class RevisionLibrary:
    """The files of a git revision, read from the object database on demand."""

    def __init__(
        self,
        blobs: Mapping[str, str],
        read: Callable[[str], bytes | None],
        read_many: Callable[[Sequence[str]], Iterator[bytes | None]],
    ) -> None:
        """Store the files by path and object id, and the functions that read one object, and many in order."""
        self._blobs, self._read, self._read_many = blobs, read, read_many

    def paths(self) -> Sequence[str]:
        """Return the paths of all files, in order."""
        return sorted(self._blobs)

    def read(self, path: str) -> str | None:
        """Return the text of a file of the revision."""
        found = self._blobs.get(path)
        content = self._read(found) if found is not None else None
        return decode_content(content).text if content is not None else None

    def read_all(self, paths: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the texts of files of the revision, through one process of git."""
        known = [path for path in paths if path in self._blobs]
        for path, content in zip(known, self._read_many([self._blobs[path] for path in known]), strict=True):
            yield path, decode_content(content).text if content is not None else None

    def locate(self, path: str) -> str:
        """Return the path unchanged."""
        return path
