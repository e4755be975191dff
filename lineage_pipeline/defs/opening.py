"""A repository as people name it: by its row in the settings, by its folder, or by its address."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.defs.targets import row_at
from lineage_pipeline.discover.git import is_repository, toplevel
from lineage_pipeline.discover.remotes import is_remote, local
from lineage_pipeline.settings import RepositorySettings, Settings


def open_repository(here: Settings, place: str, flags: Mapping[str, Any]) -> tuple[Settings, Path, bool]:
    """Give the settings a repository is read with, its folder, and whether it is one of git; an address is fetched."""
    row = named(here, place)
    folder = fetched(here, row) if row else local(place, here.home)
    in_git = is_repository(folder)
    top = toplevel(folder) if in_git else folder.resolve()
    return here.for_repository(top, flags, os.environ, row or row_at(here, top)), top, in_git


def named(settings: Settings, name: str) -> RepositorySettings | None:
    """Find a watched repository by its name."""
    return next((row for row in settings.repositories if row.name == name), None)


def fetched(settings: Settings, row: RepositorySettings) -> Path:
    """Give the folder of a watched repository; what has an address is fetched first."""
    return local(row.path, settings.home) if is_remote(row.path) else settings.root / row.path
