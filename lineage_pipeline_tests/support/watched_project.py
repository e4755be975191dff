"""A project that watches git repositories, with a Dagster instance of its own, and a stand-in for its daemon."""

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
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.defs.compose import compose_definitions
from lineage_pipeline.defs.jobs import SNAPSHOT_JOB
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.runs.materialize import QUIET_LOGGERS
from lineage_pipeline.store.run import required_tables
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.git_repositories import run_git

COMMIT_MINUTES = count()
"""Every commit is a minute later than the one before."""


def commit_files(repo: Path, message: str, **texts: str) -> str:
    """Write files (`a__b` is a/b.sql) and commit them; the first commit makes the repository."""
    if not repo.exists():
        repo.mkdir(parents=True)
        run_git(repo, "init", "-q", "-b", "main")
    for name, text in texts.items():
        file = repo / f"{name.replace('__', '/')}.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run_git(repo, "add", "-A")
    later = {"GIT_COMMITTER_DATE": f"2025-01-01T{(minute := next(COMMIT_MINUTES)) // 60:02}:{minute % 60:02}:00Z"}
    run_git(repo, "commit", "-q", "--allow-empty", "-m", message, **later)
    return resolve_commit(repo)


def resolve_commit(repo: Path, revision: str = "HEAD") -> str:
    return run_git(repo, "rev-parse", revision).strip()


@dataclass
class WatchedProject:
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
        """The definitions of the code location; settings are read again with every tick and every run."""
        os.chdir(self.folder)
        return compose_definitions(Project())

    def tick(self) -> list[dg.RunRequest]:
        """Evaluate the sensor once, as the daemon does: keep cursor, partitions and events, drop known run keys."""
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
        return [one for one in result.run_requests or () if not self._has_run(one.run_key)]

    def _has_run(self, key: str | None) -> bool:
        return bool(self.instance.get_runs(dg.RunsFilter(tags={"dagster/run_key": key or ""})))

    def record_run(self, request: dg.RunRequest, status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED) -> str:
        """Record a run without executing it."""
        tags = {
            **request.tags,
            "dagster/run_key": request.run_key or "",
            "dagster/partition": request.partition_key or "",
        }
        return self.instance.add_run(dg.DagsterRun(SNAPSHOT_JOB, tags=tags, status=status)).run_id

    def finish_run(self, run: str, *, well: bool = True) -> None:
        """Mark a recorded run as finished."""
        found = self.instance.get_run_by_id(run)
        assert found is not None
        self.instance.delete_run(run)
        over = dg.DagsterRunStatus.SUCCESS if well else dg.DagsterRunStatus.FAILURE
        self.instance.add_run(found.with_status(over))

    def publish(self, *keys: str | tuple[str, str]) -> None:
        """Publish snapshots and diffs without rows, except the snapshot's own row."""
        from lineage_pipeline.defs.assets.stages import open_discovery
        from lineage_pipeline.defs.runs.published import hash_diff_inputs

        settings = self.settings
        os.chdir(self.folder)
        for key in keys:
            name = key if isinstance(key, str) else key[1]
            own = Project().settings_for(name)
            analysis = compute_analysis_key(own) if isinstance(key, str) else hash_diff_inputs(own)
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
