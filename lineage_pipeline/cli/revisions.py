"""Sides of a comparison: a folder, a file, or a revision of a repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.cli.local_analysis import ComparisonSide
from lineage_pipeline.cli.output import print_note
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.mirror import is_remote_address, local_repository, split_revision
from lineage_pipeline.discover.git.repository import (
    WORKTREE,
    discover_revision,
    find_toplevel,
    has_commit,
    is_repository,
)
from lineage_pipeline.discover.single_files import discover_single_files
from lineage_pipeline.model.errors import LineageError


def discover_side(word: str, flags: Mapping[str, Any]) -> ComparisonSide:
    """Discover a folder or file of that name, else REPO@REVISION, else a revision of the repository here."""
    path = Path(word)
    if path.is_dir() or path.is_file():
        settings = load_settings(path, flags, os.environ)
        key = compute_analysis_key(settings)
        if path.is_dir():
            return discover_folder(path, settings, analysis_key=key), settings
        return discover_single_files([word], b"", settings, analysis_key=key), settings
    repo, revision = _find_repository(word, flags)
    top = find_toplevel(repo)
    if repo.resolve() != top.resolve():
        print_note(f"lineage: {word} is all of {top}; name a folder without @ to read that alone")
    settings = load_settings(top, flags, os.environ)
    return discover_revision(top, revision, settings, analysis_key=compute_analysis_key(settings)), settings


def _find_repository(word: str, flags: Mapping[str, Any]) -> tuple[Path, str]:
    """Parse REPO@REVISION, with an address or a folder as REPO, or a revision of the repository here."""
    repo, revision = split_revision(word)
    if is_remote_address(repo) or is_remote_address(word):
        home = load_settings(Path.cwd(), flags, os.environ).home
        address, wanted = (repo, revision) if is_remote_address(repo) else (word, "HEAD")
        return local_repository(address, home), wanted
    if "@" in word and Path(repo).is_dir():
        if not is_repository(Path(repo)):
            raise LineageError(f"{repo} is not in a git repository, so that it has no {revision}")
        return Path(repo), revision
    if is_repository(Path()) and (word == WORKTREE or has_commit(Path(), word)):
        return Path(), word
    raise LineageError(f"{word} is neither a folder nor a file, nor a revision of a git repository here")
