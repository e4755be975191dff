"""Dagster resources: settings, the store and Spark; each is opened on first use."""

import io
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_pyspark import LazyPySparkResource

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.config.models import RepositorySettings, SparkSettings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.defs.home import Home, locate_home
from lineage_pipeline.defs.snapshot_keys import extract_commit, extract_repository
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.warehouse import Warehouse


class Project:
    """The settings, read on first use or given by the caller of a run, and where to report progress."""

    def __init__(self, given: Settings | None = None, report: Callable[[str], None] | None = None) -> None:
        """Take settings that are already read, or none."""
        self._given = given
        self._report = report

    @classmethod
    def over(cls, settings: Settings) -> "Project":
        """Create a project with the settings of a folder; each repository still has its own."""
        project = cls()
        project.__dict__["settings"] = settings
        return project

    def anew(self) -> "Project":
        """Return the project with its settings read again, since a sensor outlives them."""
        return self if self._given is not None else Project(report=self._report)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the working folder."""
        return self._given or load_settings(Path.cwd(), {}, os.environ)

    @property
    def home(self) -> Home:
        """The folder for outputs."""
        return locate_home(self.settings)

    def repository(self, snapshot: str) -> RepositorySettings:
        """Find the watched repository of a snapshot."""
        name = extract_repository(snapshot)
        for repository in self.settings.repositories:
            if repository.name == name:
                return repository
        raise LineageError(f"no repository {name} in the settings: add it to [[repositories]]")

    def folder(self, snapshot: str) -> Path:
        """Return the folder of a snapshot's repository; a remote is fetched only if its mirror lacks the commit."""
        from lineage_pipeline.discover.git.mirror import is_remote_address, local_repository, mirror_path
        from lineage_pipeline.discover.git.repository import has_commit

        place = self.repository(snapshot).path
        if not is_remote_address(place):
            return self.settings.root / place
        mirror = mirror_path(place, self.settings.home)
        return mirror if has_commit(mirror, extract_commit(snapshot)) else local_repository(place, self.settings.home)

    def settings_for(self, snapshot: str) -> Settings:
        """Return the settings of a snapshot's repository: its own file counts, unless settings were given."""
        if self._given is not None:
            return self._given
        row = self.repository(snapshot)
        return self.settings.for_repository(self.folder(snapshot), {}, os.environ, row)

    def tell(self, line: str) -> None:
        """Report progress, if a reporter was given."""
        if self._report is not None:
            self._report(line)

    def hush(self) -> AbstractContextManager[object]:
        """Suppress what others print to stdout, if a reporter was given."""
        return nullcontext() if self._report is None else redirect_stdout(io.StringIO())


class StoreResource(dg.ConfigurableResource[Any]):
    """The warehouse that the settings name."""

    def files(self, settings: Settings) -> FileStore:
        """Open the folder of the warehouse."""
        return FileStore(settings.warehouse)

    def warehouse(self, settings: Settings) -> Warehouse:
        """Open the warehouse."""
        return Warehouse(settings.warehouse)

    def begin(self, settings: Settings, snapshot: str, run: str) -> WarehouseRun:
        """Start or continue a run of a snapshot under the settings' analysis key."""
        return self.warehouse(settings).begin(snapshot, run, compute_analysis_key(settings))

    def view(self, settings: Settings, key: str | tuple[str, str], run: str) -> WarehouseRun:
        """Open what a check looks at: the rows of its own run, else the latest that are not published, else those."""
        warehouse = self.warehouse(settings)
        return warehouse.open_run(key, run) or warehouse.resume(key) or self.published(settings, key)

    def published(self, settings: Settings, key: str | tuple[str, str]) -> WarehouseRun:
        """Open what readers see."""
        manifest = self.warehouse(settings).manifest(key)
        if manifest is None:
            raise LineageError(f"{key} has not been written yet")
        return WarehouseRun(self.files(settings), manifest.key, manifest.run)


class SparkResource(LazyPySparkResource):
    """The one Spark session of the process, configured by `[spark]` in the settings and by what is given here."""

    spark_config: dict[str, Any] = {}

    def open(self, options: SparkSettings) -> Any:
        """Give the session, starting it if nobody has."""
        from lineage_pipeline.spark.session import get_session

        merged = options.model_copy(update={"config": {**options.config, **self.spark_config}})
        return get_session(merged)
