"""Whether what git reads belongs to the folder that we are asked about: what a stranger wrote may lead anywhere."""

import os
from collections.abc import Iterator
from pathlib import Path

from lineage_pipeline.discover.commands import git
from lineage_pipeline.vocabulary.errors import LineageError

MARK = ".git"
"""What lies at the top of a repository, or of one that another holds."""

POINTER = "gitdir: "
"""What a file begins with that stands in place of a repository and says where that is."""

LONGEST = 4_000
"""Characters of a path that a file may hold."""

READ = ("HEAD", "config", "config.worktree", "index", "info", "logs", "objects", "packed-refs", "refs", "shallow")
"""What git reads of a repository when we ask; hooks and other repositories are not among it."""


class StrangerError(LineageError):
    """A repository leads out of itself."""


def top_of(folder: Path) -> Path | None:
    """Give the top of the working tree that a folder lies in, if it lies in one."""
    return next((place for place in (folder, *folder.parents) if (place / MARK).exists()), None)


def own_top(path: Path) -> Path:
    """Give the folder of the repository that a path lies in; of a bare one, its own; refuse what leads elsewhere."""
    own, here = _asked(path, "--absolute-git-dir"), path.resolve()
    if git(path, "rev-parse", "--is-bare-repository").strip() == b"true":
        refuse_strangers(own, own if here.is_relative_to(own) else top_of(here) or here)
        return own
    top = _asked(path, "--show-toplevel")
    if not here.is_relative_to(top) or leads(top) != own:  # a repository may claim any folder of the machine as its own
        raise StrangerError(f"the settings of the repository {path} lead to {top}")
    refuse_strangers(own, top)
    return top


def _asked(path: Path, what: str) -> Path:
    return _real(Path(os.fsdecode(git(path, "rev-parse", what).removesuffix(b"\n"))))


def _real(path: Path) -> Path:
    """Follow all links; those that go round are left as they are."""
    return Path(os.path.realpath(path))


def refuse_strangers(own: Path, home: Path) -> None:
    """Refuse a repository that a folder only claims to be its own, and one that has its objects from another."""
    if not _belongs(own, home):
        raise StrangerError(
            f"{home / MARK} leads to {own}, which knows nothing of it; if both are yours, say so there: "
            f"git config core.worktree {home}"
        )
    common = _named(own / "commondir", own) or own
    if common not in (own, own.parent.parent if own.parent.name == "worktrees" else own):
        raise StrangerError(f"{own} has its objects in {common}, which knows nothing of it")
    for place in {own, common}:
        _refuse_odd(place, common)


def leads(home: Path) -> Path | None:
    """Say which repository a folder has: below its mark, or where a file in its place leads."""
    mark = home / MARK
    return _named(mark, home, POINTER) if mark.is_file() else _real(mark)


def _named(file: Path, start: Path, begins: str = "") -> Path | None:
    """Read a path from a file that holds nothing else."""
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        written = os.fsdecode(stream.read(LONGEST)).strip()
    if not written.startswith(begins) or "\0" in written:
        return None
    return _real(start / written.removeprefix(begins))


def _belongs(own: Path, home: Path) -> bool:
    """Say whether a repository lies in a folder, or says itself that the folder is a working tree of it."""
    if own.is_relative_to(home):
        return True
    linked = _named(own / "gitdir", own)
    if linked is not None:
        return linked == home / MARK
    try:
        named = git(home, "config", "--get", "core.worktree").removesuffix(b"\n")
    except LineageError:
        return False
    return _real(own / os.fsdecode(named)) == home


def _refuse_odd(place: Path, inside: Path) -> None:
    """Refuse what is no file, which would be waited for without end, and links to what others have."""
    for entry in _entries(place):
        if entry.is_symlink():
            if not _real(Path(entry.path)).is_relative_to(inside):
                raise StrangerError(f"{entry.path} leads out of the repository")
        elif not entry.is_file() and not entry.is_dir():
            raise StrangerError(f"{entry.path} is no file")


def _entries(place: Path) -> Iterator["os.DirEntry[str]"]:
    """Give all that lies in a repository and is read; of linked folders the link alone."""
    waiting = [entry for entry in _listed(place) if entry.name in READ]
    while waiting:
        entry = waiting.pop()
        yield entry
        if entry.is_dir(follow_symlinks=False):
            waiting.extend(_listed(entry.path))


def _listed(place: str | Path) -> list["os.DirEntry[str]"]:
    """List a folder; of one that is closed, or gone by now, git tells in its own words."""
    try:
        with os.scandir(place) as listed:
            return list(listed)
    except OSError:
        return []
