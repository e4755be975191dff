"""What git knows of a folder: which files it tracks, where other repositories begin, and where links lead."""

import os
import posixpath
from collections.abc import Container, Mapping
from pathlib import Path

import msgspec

from lineage_pipeline.discover.belonging import MARK, leads, refuse_strangers, top_of
from lineage_pipeline.discover.commands import git
from lineage_pipeline.vocabulary.errors import LineageError

SUBMODULE, LINK = "160000", "120000"
"""The modes of another repository inside a tree, and of a link."""

STEPS = 40
"""How many links are followed on the way to one file."""


class Tracked(msgspec.Struct, frozen=True):
    """The files that git tracks and the repositories inside, by their paths from the top of the repository."""

    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


def tracked_in(folder: Path) -> Tracked:
    """Ask git what it tracks below a folder; where there is no git, or it cannot tell, nothing is tracked."""
    home = top_of(folder.resolve())
    own = leads(home) if home is not None else None
    if home is None or own is None:
        return Tracked()
    try:
        refuse_strangers(own, home)
        listed = git(folder, "ls-files", "-z", "--cached", "--stage", "--full-name").split(b"\0")
    except LineageError:
        return Tracked()
    staged = [entry.split(b"\t", 1) for entry in listed if entry]
    named = [(os.fsdecode(path), about.split()[0].decode("ascii")) for about, path in staged]
    modules = tuple(sorted(path for path, mode in named if mode == SUBMODULE))
    return Tracked(tuple(path for path, _ in named), modules)


def leads_inside(path: Path, inside: Path) -> bool:
    """Say whether a link leads to a file of the same repository, and neither out of it nor into another one."""
    if not path.is_file():  # asked first: a link that leads to itself has no end
        return False
    target = path.resolve()
    if not target.is_relative_to(inside):
        return False
    between = [place for place in target.parents if place != inside and place.is_relative_to(inside)]
    return MARK not in target.relative_to(inside).parts and not any((place / MARK).exists() for place in between)


def followed(links: Mapping[str, str], files: Container[str]) -> dict[str, str]:
    """Give the files of a tree that its links lead to, by the paths of the links; what leads out leads nowhere."""
    found = {path: _target(path, links) for path in links}
    return {path: target for path, target in found.items() if target in files}


def _target(path: str, links: Mapping[str, str]) -> str:
    """Follow a path through all links on its way; one that goes round, or out of the tree, gives nothing."""
    for _ in range(STEPS):
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
