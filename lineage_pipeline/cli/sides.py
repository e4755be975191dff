"""What a word on the command line names: a folder, a file, or a revision of a repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.cli.subject import Side
from lineage_pipeline.cli.words import say
from lineage_pipeline.discover.files import discover_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git import WORKTREE, discover_revision, has_commit, is_repository, toplevel
from lineage_pipeline.discover.remotes import is_remote, local, parted
from lineage_pipeline.settings import load_settings
from lineage_pipeline.vocabulary.errors import LineageError


def side_of(word: str, flags: Mapping[str, Any]) -> Side:
    """Read what a word names: a folder or file of this name, else REPO@REVISION, else a revision of what is here."""
    path = Path(word)
    if path.is_dir() or path.is_file():
        settings = load_settings(path, flags, os.environ)
        found = discover_folder(path, settings) if path.is_dir() else discover_files([word], b"", settings)
        return found, settings
    repo, revision = _repository(word, flags)
    top = toplevel(repo)
    if repo.resolve() != top.resolve():
        say(f"lineage: {word} is all of {top}; name a folder without @ to read that alone")
    settings = load_settings(top, flags, os.environ)
    return discover_revision(top, revision, settings), settings


def _repository(word: str, flags: Mapping[str, Any]) -> tuple[Path, str]:
    """Read REPO@REVISION, with an address or a folder as the repository, or a revision of what is here."""
    repo, revision = parted(word)
    if is_remote(repo) or is_remote(word):
        home = load_settings(Path.cwd(), flags, os.environ).home
        address, wanted = (repo, revision) if is_remote(repo) else (word, "HEAD")
        return local(address, home), wanted
    if "@" in word and Path(repo).is_dir():
        if not is_repository(Path(repo)):
            raise LineageError(f"{repo} is not in a git repository, so that it has no {revision}")
        return Path(repo), revision
    if is_repository(Path()) and (word == WORKTREE or has_commit(Path(), word)):
        return Path(), word
    raise LineageError(f"{word} is neither a folder nor a file, nor a revision of a git repository here")
