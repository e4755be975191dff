"""A project over time: backfill, commits, a branch, a force-push and a merge, with their alerts; then retention."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import msgspec
import pyarrow.parquet as pq
import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.defs.home import prepare_dagster_home
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.model import ir
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.alerts.test_alert_sensor import tick
from lineage_pipeline_tests.support.alert_receivers import HttpReceiver, MailReceiver, run_server
from lineage_pipeline_tests.support.git_repositories import run_git
from lineage_pipeline_tests.support.watched_project import WatchedProject, commit_files, resolve_commit

pytestmark = pytest.mark.spark

SETTINGS = """
[analysis]
dialect = "duckdb"
[[repositories]]
name = "shop"
path = "shop"
refs = ["*", "tags/*"]
base_ref = "main"
[[alerts.sinks]]
name = "hook"
kind = "webhook"
url_env = "TEST_HOOK_URL"
checks = ["no_breaking_changes"]
[[alerts.sinks]]
name = "mail"
kind = "smtp"
host = "127.0.0.1"
port = {port}
sender = "lineage@example.org"
recipients = ["data@example.org"]
repositories = ["shop"]
checks = ["no_breaking_changes"]
"""


LINEAGE = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline.cli"]


class Receivers(NamedTuple):
    """Who takes the alerts."""

    hook: HttpReceiver
    post: MailReceiver


@pytest.fixture(scope="module")
def receivers() -> Iterator[Receivers]:
    both = Receivers(HttpReceiver(), MailReceiver())
    os.environ["TEST_HOOK_URL"] = both.hook.url
    with run_server(both.hook), run_server(both.post):
        yield both
    del os.environ["TEST_HOOK_URL"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, receivers: Receivers) -> Iterator[WatchedProject]:
    """Three commits of a repository, of which the last two each changed one file, and their past in the warehouse."""
    folder = tmp_path_factory.mktemp("operated")
    (folder / "lineage.toml").write_text(SETTINGS.format(port=receivers.post.port))
    repo = folder / "shop"
    tables = {f"t{number}": f"create table t{number} (id int, x int);" for number in range(6)}
    commit_files(repo, "first", **tables, v="create view v as select id, x from t0; create view u as select x from v;")
    commit_files(repo, "second", t1="create table t1 (id int, x bigint);")
    commit_files(repo, "third", v="create view v as select id, x + 1 as x from t0; create view u as select x from v;")
    before = Path.cwd()
    os.chdir(folder)
    assert main(["backfill", "--repo", "shop", "--since", "HEAD~2"]) == 0
    with dg.DagsterInstance.from_config(str(prepare_dagster_home(load_settings(folder, {}, {})))) as instance:
        yield WatchedProject(folder, instance)
    os.chdir(before)


def compiled(folder: Path) -> list[int]:
    """Count the statements in each batch of what was compiled, the oldest batch first."""
    done = (folder / ".lineage/warehouse/_cache/compiled").glob("*/*/_SUCCESS")
    batches = [file.parent for file in sorted(done, key=lambda file: file.stat().st_mtime)]
    scripts = [[row for file in batch.glob("*.parquet") for row in read_scripts(file)] for batch in batches]
    return [sum(len(script.statements) for script in batch) for batch in scripts]


def read_scripts(file: Path) -> list[ir.Script]:
    stored = pq.read_table(file)["script"].to_pylist()
    return [msgspec.msgpack.decode(script, type=ir.Script) for script in stored]


def test_the_lifecycle_of_a_project(
    project: WatchedProject, receivers: Receivers, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chapters build on each other, and a snapshot takes seconds: they are one story."""
    check_backfill_costs(project)
    third = f"shop@{resolve_commit(project.folder / 'shop', 'main')}"
    assert alerts(project, receivers) == [("failed", "warn", third)], "of the past nobody is told, but where a ref is"
    broken = check_branches_compare_with_their_merge_base(project)
    assert alerts(project, receivers) == [("failed", "error", broken)]
    mended, merged = check_force_push_and_merge(project)
    assert alerts(project, receivers) == [("recovered", "error", mended), ("recovered", "warn", merged)]
    check_retention_keeps_needed_snapshots(project, capsys)


def alerts(project: WatchedProject, receivers: Receivers) -> list[tuple[str, str, str]]:
    """Tick the sensor of alerts three times, and give what the servers got by that, each the same and once."""
    receivers.hook.taken.clear()
    receivers.post.taken.clear()
    for _ in range(3):
        tick(project.instance, Project())
    told = [(body["kind"], body["severity"], body["partition"]) for _, _, body in receivers.hook.taken]
    ids = [f"<{body['id']}@example.org>" for _, _, body in receivers.hook.taken]
    assert [message["Message-ID"] for _, message in receivers.post.taken] == ids
    return told


def check_backfill_costs(project: WatchedProject) -> None:
    warehouse = Warehouse(project.settings.warehouse)
    past = [f"shop@{resolve_commit(project.folder / 'shop', f'main~{number}')}" for number in (2, 1, 0)]
    assert compiled(project.folder) == [8, 1, 2]
    assert project.instance.get_dynamic_partitions("snapshots") == past
    assert project.instance.get_materialized_partitions(dg.AssetKey(["lineage", "column_edges"])) == set(past)
    assert [manifest.key for manifest in warehouse.diffs()] == sorted([(past[0], past[1]), (past[1], past[2])])
    assert (project.folder / ".lineage/warehouse.duckdb").is_file()
    assert project.tick() == [], "what is there already is not asked for"
    assert json.loads(project.cursor or "") == {"shop": {"main": past[2].removeprefix("shop@")}}


def check_branches_compare_with_their_merge_base(project: WatchedProject) -> str:
    repo, warehouse = project.folder / "shop", Warehouse(project.settings.warehouse)
    texts = {
        "feature": {"v": "create view v as select id from t0; create view u as select x from v;"},
        "other": {"o": "create view o as select * from t1;"},
    }
    for name, files in texts.items():
        run_git(repo, "checkout", "-q", "-b", name, "main")
        commit_files(repo, name, **files)
    asked = project.tick()
    assert [request.tags["git/ref"] for request in asked] == ["feature", "other"]
    beside = subprocess.Popen([*LINEAGE, "run", "--repo", "shop", "--rev", "other"], cwd=project.folder, stdout=-3)
    assert [result.success for result in project.execute(asked[:1])] == [True]
    assert beside.wait(600) == 0, "another process with a Spark session of its own does no harm"
    base = f"shop@{resolve_commit(repo, 'main')}"
    for name in texts:
        assert warehouse.manifest((base, f"shop@{resolve_commit(repo, name)}")), (
            "compared with where it left the base ref"
        )
    broken = f"shop@{resolve_commit(repo, 'feature')}"
    assert "COL001" in warehouse.read((base, broken), "changes")["rule"].to_pylist()
    return broken


def check_force_push_and_merge(project: WatchedProject) -> tuple[str, str]:
    repo, third = project.folder / "shop", resolve_commit(project.folder / "shop", "main")
    run_git(repo, "tag", "lost", "feature")
    run_git(repo, "tag", "v1", "main~1")
    run_git(repo, "branch", "-q", "-f", "feature", "main")
    run_git(repo, "checkout", "-q", "feature")
    moved = commit_files(repo, "instead", w="create view w as select x from u;")
    asked = project.tick()
    assert [(request.tags["git/ref"], request.tags["git/sha"]) for request in asked] == [("feature", moved)]
    assert [result.success for result in project.execute(asked)] == [True]
    run_git(repo, "checkout", "-q", "main")
    run_git(repo, "merge", "-q", "--no-ff", "-m", "merge", "feature")
    (request,) = project.tick()
    assert (request.tags["git/sha"], request.tags["git/base"]) == (resolve_commit(repo), third)
    assert [result.success for result in project.execute([request])] == [True]
    runs = project.instance.get_runs(dg.RunsFilter(tags={"git/sha": resolve_commit(repo)}))
    assert [(run.status.value, run.tags["git/author"]) for run in runs] == [("SUCCESS", "x <x>")]
    assert len(project.instance.get_dynamic_partitions("snapshots")) == 7
    return f"shop@{moved}", f"shop@{resolve_commit(repo)}"


def check_retention_keeps_needed_snapshots(project: WatchedProject, capsys: pytest.CaptureFixture[str]) -> None:
    """One of each repository stays, what is tagged, where a ref is, and what those are compared with."""
    repo, warehouse = project.folder / "shop", Warehouse(project.settings.warehouse)
    lost = resolve_commit(repo, "lost")
    run_git(repo, "tag", "-d", "lost")
    capsys.readouterr()
    assert main(["prune", "--snapshots", "1", "--dry-run"]) == 0
    assert capsys.readouterr().out == f"would remove shop@{lost}\n1 snapshots\n"
    run_git(repo, "branch", "-q", "-D", "other", "feature")
    assert main(["prune", "--snapshots", "1"]) == 0
    kept = {f"shop@{resolve_commit(repo, name)}" for name in ("main", "main~1", "main~2", "main~3")}
    assert {manifest.key[0] for manifest in warehouse.snapshots()} == kept
    assert set(project.instance.get_dynamic_partitions("snapshots")) == kept
    assert {part for manifest in warehouse.diffs() for part in manifest.key} <= kept
    left = [path for path in (project.folder / ".lineage").rglob("*") if lost in str(path)]
    assert [path for path in left if "dagster" not in path.parts and "dbt" not in path.parts] == []
