"""A small repository whose branch breaks a reader and then answers for it, run through Dagster once for a process."""

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

RAW = "create table raw.orders (id int, total int, note varchar);\n"
CORE = "create view core.orders as select id, total, note from raw.orders;\n"
OWNERS = "core.sql @core-team sales@example.org\n"
WAIVER = """
[[waiver]]
rule = "*"
object = "*"
reason = "nobody reads notes"
owner = "sales@example.org"
expires = 2999-12-31
"""

MILDER = """
[analysis]
dialect = "duckdb"

[diff.levels]
SRC003 = "info"
"""

COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    ("sound", {"raw.sql": RAW, "core.sql": CORE, "CODEOWNERS": OWNERS}),
    ("breaking", {"raw.sql": RAW.replace(", note varchar", "")}),
    ("waived", {"lineage-waivers.toml": WAIVER}),
    ("harmless", {"raw.sql": RAW, "core.sql": CORE + "-- as it was\n", "lineage-waivers.toml": ""}),
    (
        "doubtful",
        {
            "core.sql": CORE.replace("total,", "total + 1 as total,"),
            "junk.sql": "selec oops from (;\n",
            "lineage.toml": MILDER,
        },
    ),
)
"""What each commit writes; all but the first are on a branch, and are compared with the first."""


@dataclass(frozen=True)
class Branched:
    """The settings, the partitions by the names of their commits, and what Dagster said of each."""

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


def evaluations(result: Any) -> dict[str, Any]:
    """Give what the checks of a run said, by table and name."""
    return {f"{one.asset_key.path[-1]}.{one.check_name}": one for one in result.get_asset_check_evaluations()}


@cache
def branched() -> tuple[Branched, dict[str, Any]]:
    """Run every commit once, in a folder that goes with the process."""
    from lineage_pipeline.defs.home import prepare_dagster_home

    folder = tempfile.TemporaryDirectory(prefix="lineage branched ")
    atexit.register(folder.cleanup)
    root = Path(folder.name)
    (root / "lineage.toml").write_text(SETTINGS)
    keys = build(root / "repository")
    settings = load_settings(root, {}, {})
    made = Branched(settings, keys, prepare_dagster_home(settings))
    return made, {name: made.execute(name) for name in keys}


def build(repo: Path) -> dict[str, str]:
    """Make the commits, and give the keys of their snapshots."""
    repo.mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main")
    keys = {}
    for number, (name, files) in enumerate(COMMITS):
        for path, text in files.items():
            (repo / path).write_text(text)
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", name, "--date", f"2026-11-0{number + 1}T12:00:00Z")
        keys[name] = f"shop@{git(repo, 'rev-parse', 'HEAD')}"
        if number == 0:
            git(repo, "checkout", "-q", "-b", "work")
    return keys


def git(repo: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    who = ["-c", "user.name=T. Ester", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    run = subprocess.run(["git", "-C", str(repo), *who, *arguments], check=True, capture_output=True, text=True)
    return run.stdout.strip()
