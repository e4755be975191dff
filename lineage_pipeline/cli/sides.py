"""What a word on the command line names: a folder, a file, or a revision of a repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.cli.subject import Side
from lineage_pipeline.discover.files import discover_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git import discover_revision, is_repository, toplevel
from lineage_pipeline.discover.remotes import is_remote, local
from lineage_pipeline.settings import load_settings
from lineage_pipeline.vocabulary.errors import LineageError


def side_of(word: str, flags: Mapping[str, Any]) -> Side:
    """Read what a word names: a folder or file of this name, else REPO@REVISION, else a revision of what is here."""
    path = Path(word)
    if path.is_dir() or path.is_file():
        settings = load_settings(path, flags, os.environ)
        found = discover_folder(path, settings) if path.is_dir() else discover_files([word], b"", settings)
        return found, settings
    repo, at, revision = word.rpartition("@")
    if is_remote(repo) or is_remote(word):
        home = load_settings(Path.cwd(), flags, os.environ).home
        repo, revision = (repo, revision) if is_remote(repo) else (word, "HEAD")
        repo = str(local(repo, home))
    else:
        repo, revision = (repo, revision) if at and Path(repo).is_dir() else (".", word)
    if not is_repository(Path(repo)):
        raise LineageError(f"{word} is not a folder, and there is no git repository here to have it as a revision")
    top = toplevel(Path(repo))
    settings = load_settings(top, flags, os.environ)
    return discover_revision(top, revision, settings), settings
