"""A small repository whose branch breaks a reader and then waives it, run through Dagster once per process."""

import atexit
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lineage_pipeline.config.load import Settings, load_settings

SETTINGS = """
[analysis]
dialect = "duckdb"

[openlineage]
source_url = "https://git.example/shop/blob/{commit}/{path}"

[[repositories]]
name = "shop"
path = "repository"
base_ref = "main"
"""

RAW_SQL = "create table raw.orders (id int, total int, note varchar);\n"
CORE_SQL = "create view core.orders as select id, total, note from raw.orders;\n"
OWNERS = "core.sql @core-team sales@example.org\n"
WAIVER = """
[[waiver]]
rule = "*"
object = "*"
reason = "nobody reads notes"
owner = "sales@example.org"
expires = 2999-12-31
"""

RELAXED_SETTINGS = """
[analysis]
dialect = "duckdb"

[diff.levels]
SRC003 = "info"
"""

COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    ("sound", {"raw.sql": RAW_SQL, "core.sql": CORE_SQL, "CODEOWNERS": OWNERS}),
    ("breaking", {"raw.sql": RAW_SQL.replace(", note varchar", "")}),
    ("waived", {"lineage-waivers.toml": WAIVER}),
    ("harmless", {"raw.sql": RAW_SQL, "core.sql": CORE_SQL + "-- as it was\n", "lineage-waivers.toml": ""}),
    (
        "doubtful",
        {
            "core.sql": CORE_SQL.replace("total,", "total + 1 as total,"),
            "junk.sql": "selec oops from (;\n",
            "lineage.toml": RELAXED_SETTINGS,
        },
    ),
)
"""What each commit writes; all but the first are on a branch and are compared with the first."""


@dataclass(frozen=True)
class BranchProject:
    """The settings, the partition keys by commit name, and the Dagster home."""

    settings: Settings
    keys: dict[str, str]
    home: Path

    def execute(self, name: str, tags: dict[str, str] | None = None, assets: tuple[str, ...] = ()) -> Any:
        """Run the job of a snapshot, or some of its assets, as a sensor would ask for it."""
        import dagster as dg

        from lineage_pipeline.defs.compose import compose_definitions
        from lineage_pipeline.defs.jobs import SNAPSHOT_JOB
        from lineage_pipeline.defs.resources import Project
        from lineage_pipeline.defs.runs.materialize import QUIET_LOGGERS
        from lineage_pipeline.defs.specs import SNAPSHOT_PARTITIONS, make_asset_key

        job = compose_definitions(Project(self.settings, lambda line: None)).resolve_job_def(SNAPSHOT_JOB)
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            instance.add_dynamic_partitions(SNAPSHOT_PARTITIONS, [self.keys[name]])
            return job.execute_in_process(
                instance=instance,
                partition_key=self.keys[name],
                asset_selection=[make_asset_key(asset) for asset in assets] or None,
                tags={"git/ref": "refs/heads/work", **(tags or {})},
                run_config=QUIET_LOGGERS,
                raise_on_error=False,
            )


def collect_evaluations(result: Any) -> dict[str, Any]:
    """The check evaluations of a run, by table and check name."""
    return {f"{one.asset_key.path[-1]}.{one.check_name}": one for one in result.get_asset_check_evaluations()}


@cache
def run_branch_project() -> tuple[BranchProject, dict[str, Any]]:
    """Run every commit once, in a folder that is deleted with the process."""
    from lineage_pipeline.defs.home import prepare_dagster_home

    folder = tempfile.TemporaryDirectory(prefix="lineage branched ")
    atexit.register(folder.cleanup)
    root = Path(folder.name)
    (root / "lineage.toml").write_text(SETTINGS)
    keys = build_branch_repository(root / "repository")
    settings = load_settings(root, {}, {})
    made = BranchProject(settings, keys, prepare_dagster_home(settings))
    return made, {name: made.execute(name) for name in keys}


def build_branch_repository(repo: Path) -> dict[str, str]:
    """Make the commits, and return the keys of their snapshots."""
    repo.mkdir(parents=True)
    run_branch_git(repo, "init", "-q", "-b", "main")
    keys = {}
    for number, (name, files) in enumerate(COMMITS):
        for path, text in files.items():
            (repo / path).write_text(text)
        run_branch_git(repo, "add", "-A")
        run_branch_git(repo, "commit", "-q", "-m", name, "--date", f"2026-11-0{number + 1}T12:00:00Z")
        keys[name] = f"shop@{run_branch_git(repo, 'rev-parse', 'HEAD')}"
        if number == 0:
            run_branch_git(repo, "checkout", "-q", "-b", "work")
    return keys


def run_branch_git(repo: Path, *arguments: str) -> str:
    """Run git with a fixed identity."""
    who = ["-c", "user.name=T. Ester", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    run = subprocess.run(["git", "-C", str(repo), *who, *arguments], check=True, capture_output=True, text=True)
    return run.stdout.strip()
