"""What the assets are given: settings, the store, Spark; all of them open when they are first used."""

import io
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_pyspark import LazyPySparkResource

from lineage_pipeline.defs.home import Home, home_of
from lineage_pipeline.defs.keys import commit_of, repository_of
from lineage_pipeline.settings import RepositorySettings, Settings, SparkSettings, load_settings
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.errors import LineageError


class Project:
    """The settings, read when they are first asked for, or given by whoever started the run; and whom to tell."""

    def __init__(self, given: Settings | None = None, report: Callable[[str], None] | None = None) -> None:
        """Take settings that somebody has read already, or none."""
        self._given = given
        self._report = report

    @classmethod
    def over(cls, settings: Settings) -> "Project":
        """Stand for a folder whose settings somebody has read; each repository is still read by its own."""
        project = cls()
        project.__dict__["settings"] = settings
        return project

    def anew(self) -> "Project":
        """Give the project with its settings read again: a sensor lives longer than they hold."""
        return self if self._given is not None else Project(report=self._report)

    @cached_property
    def settings(self) -> Settings:
        """Give the settings of the working folder."""
        return self._given or load_settings(Path.cwd(), {}, os.environ)

    @property
    def home(self) -> Home:
        """Say where outputs go."""
        return home_of(self.settings)

    def repository(self, snapshot: str) -> RepositorySettings:
        """Find the repository of a snapshot among those that are watched."""
        name = repository_of(snapshot)
        for repository in self.settings.repositories:
            if repository.name == name:
                return repository
        raise LineageError(f"no repository {name} in the settings: add it to [[repositories]]")

    def folder(self, snapshot: str) -> Path:
        """Say where the repository of a snapshot lies; an address is fetched only where its mirror lacks the commit."""
        from lineage_pipeline.discover.git import has_commit
        from lineage_pipeline.discover.remotes import is_remote, local, mirror_of

        place = self.repository(snapshot).path
        if not is_remote(place):
            return self.settings.root / place
        mirror = mirror_of(place, self.settings.home)
        return mirror if has_commit(mirror, commit_of(snapshot)) else local(place, self.settings.home)

    def settings_for(self, snapshot: str) -> Settings:
        """Give the settings with which a repository is read: its own file counts, unless all were given."""
        if self._given is not None:
            return self._given
        row = self.repository(snapshot)
        return self.settings.for_repository(self.folder(snapshot), {}, os.environ, row)

    def tell(self, line: str) -> None:
        """Show progress to people, if somebody listens."""
        if self._report is not None:
            self._report(line)

    def hush(self) -> AbstractContextManager[object]:
        """Keep what others print off our standard output, where somebody listens to our own lines."""
        return nullcontext() if self._report is None else redirect_stdout(io.StringIO())


class StoreResource(dg.ConfigurableResource[Any]):
    """The warehouse that the settings name."""

    def files(self, settings: Settings) -> Files:
        """Open the folder of the warehouse."""
        return Files(settings.warehouse)

    def warehouse(self, settings: Settings) -> Warehouse:
        """Open the warehouse."""
        return Warehouse(settings.warehouse)

    def begin(self, settings: Settings, snapshot: str, run: str) -> Run:
        """Start or continue a run of a snapshot under the settings' analysis key."""
        return self.warehouse(settings).begin(snapshot, run, settings.analysis_key())

    def view(self, settings: Settings, key: str | tuple[str, str], run: str) -> Run:
        """Open what a check looks at: the rows of its own run, else the latest that are not published, else those."""
        warehouse = self.warehouse(settings)
        return warehouse.opened(key, run) or warehouse.resume(key) or self.published(settings, key)

    def published(self, settings: Settings, key: str | tuple[str, str]) -> Run:
        """Open what readers see."""
        manifest = self.warehouse(settings).manifest(key)
        if manifest is None:
            raise LineageError(f"{key} has not been written yet")
        return Run(self.files(settings), manifest.key, manifest.run)


class SparkResource(LazyPySparkResource):
    """The one Spark session of the process, configured by `[spark]` in the settings and by what is given here."""

    spark_config: dict[str, Any] = {}

    def open(self, options: SparkSettings) -> Any:
        """Give the session, starting it if nobody has."""
        from lineage_pipeline.spark.session import session

        merged = options.model_copy(update={"config": {**options.config, **self.spark_config}})
        return session(merged)
