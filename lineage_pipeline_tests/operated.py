"""A project that watches git repositories, with a Dagster instance of its own, and what its daemon would do."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.instance.types import CachingDynamicPartitionsLoader

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.defs.compose import compose_definitions
from lineage_pipeline.defs.jobs import SNAPSHOT_JOB
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.runs.materialize import QUIET_LOGGERS
from lineage_pipeline.store.run import required_tables
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.test_discover import git

MINUTES = count()
"""Every commit is made later than the one before."""


def commit(repo: Path, message: str, **texts: str) -> str:
    """Write files (`a__b` is a/b.sql) and commit them; the first commit makes the repository."""
    if not repo.exists():
        repo.mkdir(parents=True)
        git(repo, "init", "-q", "-b", "main")
    for name, text in texts.items():
        file = repo / f"{name.replace('__', '/')}.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(repo, "add", "-A")
    later = {"GIT_COMMITTER_DATE": f"2025-01-01T{(minute := next(MINUTES)) // 60:02}:{minute % 60:02}:00Z"}
    git(repo, "commit", "-q", "--allow-empty", "-m", message, **later)
    return tip(repo)


def tip(repo: Path, revision: str = "HEAD") -> str:
    return git(repo, "rev-parse", revision).strip()


@dataclass
class Operated:
    """The folder of the project, its instance, and the cursor of its sensor."""

    folder: Path
    instance: dg.DagsterInstance
    cursor: str | None = None
    told: list[str] = field(default_factory=list)
    project: Project = field(default_factory=Project)

    @property
    def settings(self) -> Settings:
        return load_settings(self.folder, {}, {})

    @cached_property
    def definitions(self) -> dg.Definitions:
        """Give what the code location holds; the settings are read anew with every look and every run."""
        os.chdir(self.folder)
        return compose_definitions(Project())

    def tick(self) -> list[dg.RunRequest]:
        """Look once, as the daemon does: cursor, partitions and events are kept, known run keys are left out."""
        defs, resources = self.definitions, {"project": self.project}
        context = dg.build_sensor_context(self.instance, self.cursor, definitions=defs, resources=resources)
        # Dagster's own context for tests forgets where partitions are kept; the daemon's knows it.
        context.__dict__["caching_dynamic_partitions_loader"] = CachingDynamicPartitionsLoader(self.instance)
        result = defs.get_sensor_def("repositories_sensor").evaluate_tick(context)
        self.cursor = result.cursor
        self.told.append(result.skip_message or "")
        for request in result.dynamic_partitions_requests or ():
            self.instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        for event in result.asset_events:
            self.instance.report_runless_asset_event(event)
        return [one for one in result.run_requests or () if not self._known(one.run_key)]

    def _known(self, key: str | None) -> bool:
        return bool(self.instance.get_runs(dg.RunsFilter(tags={"dagster/run_key": key or ""})))

    def begin(self, request: dg.RunRequest, status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED) -> str:
        """Record a run without executing it."""
        tags = {
            **request.tags,
            "dagster/run_key": request.run_key or "",
            "dagster/partition": request.partition_key or "",
        }
        return self.instance.add_run(dg.DagsterRun(SNAPSHOT_JOB, tags=tags, status=status)).run_id

    def end(self, run: str, *, well: bool = True) -> None:
        """Let a recorded run be over."""
        found = self.instance.get_run_by_id(run)
        assert found is not None
        self.instance.delete_run(run)
        over = dg.DagsterRunStatus.SUCCESS if well else dg.DagsterRunStatus.FAILURE
        self.instance.add_run(found.with_status(over))

    def publish(self, *keys: str | tuple[str, str]) -> None:
        """Put snapshots and diffs into the warehouse, without rows but what a snapshot says of itself."""
        from lineage_pipeline.defs.assets.stages import open_discovery
        from lineage_pipeline.defs.runs.published import hash_diff_inputs

        settings = self.settings
        os.chdir(self.folder)
        for key in keys:
            name = key if isinstance(key, str) else key[1]
            own = Project().settings_for(name)
            analysis = own.analysis_key() if isinstance(key, str) else hash_diff_inputs(own)
            run = Warehouse(settings.warehouse).begin(key, f"r{len(self.told)}", analysis)
            for table in required_tables(run.key):
                run.write(table, [open_discovery(Project(), name).snapshot] if table == "snapshots" else [])
            run.publish()

    def execute(self, requests: Sequence[dg.RunRequest]) -> list[Any]:
        """Execute runs one after the other in this process."""
        job = compose_definitions(Project()).resolve_job_def(SNAPSHOT_JOB)
        return [
            job.execute_in_process(
                instance=self.instance,
                partition_key=request.partition_key,
                tags={**request.tags, "dagster/run_key": request.run_key or ""},
                asset_selection=list(request.asset_selection or ()) or None,
                run_config=QUIET_LOGGERS,
                raise_on_error=False,
            )
            for request in requests
        ]
