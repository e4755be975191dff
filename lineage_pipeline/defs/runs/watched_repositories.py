"""Watched repositories: looked up by their name in the settings, by folder or by address."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.discover.folder import name_repository
from lineage_pipeline.discover.git.mirror import is_remote_address, local_repository, mirror_path
from lineage_pipeline.discover.git.repository import find_toplevel, is_repository


def open_repository(here: Settings, place: str, flags: Mapping[str, Any]) -> tuple[Settings, Path, bool]:
    """Return the settings and the folder of a repository, and whether it is in git; an address is fetched."""
    row = find_repository(here, place)
    folder = fetch_repository(here, row) if row else local_repository(place, here.home)
    in_git = is_repository(folder)
    top = find_toplevel(folder) if in_git else folder.resolve()
    return here.for_repository(top, flags, os.environ, row or find_repository_at(here, top)), top, in_git


def find_repository(settings: Settings, name: str) -> RepositorySettings | None:
    """Find a watched repository by its name."""
    return next((row for row in settings.repositories if row.name == name), None)


def fetch_repository(settings: Settings, row: RepositorySettings) -> Path:
    """Return the folder of a watched repository; a remote one is fetched first."""
    return local_repository(row.path, settings.home) if is_remote_address(row.path) else settings.root / row.path


def ensure_watched(settings: Settings, repo: Path) -> tuple[Settings, RepositorySettings]:
    """Add a repository to the watched ones of the settings, under its configured name if it has one."""
    known = find_repository_at(settings, repo)
    if known is not None:
        return settings, known
    row = RepositorySettings(name=name_repository(repo), path=str(repo.resolve()))
    others = tuple(other for other in settings.repositories if other.name != row.name)
    return settings.model_copy(update={"repositories": (*others, row)}), row


def find_repository_at(settings: Settings, repo: Path) -> RepositorySettings | None:
    """Find the watched repository that is in a folder."""
    places = ((row, locate_repository(settings, row)) for row in settings.repositories)
    return next((row for row, place in places if place.resolve() == repo.resolve()), None)


def locate_repository(settings: Settings, row: RepositorySettings) -> Path:
    """Return the folder of a watched repository, or the mirror of its address."""
    return mirror_path(row.path, settings.home) if is_remote_address(row.path) else settings.root / row.path
