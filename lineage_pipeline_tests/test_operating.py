"""A project as its operator has it: the past, then commits, a branch, a force-push and a merge, and who is told of
them; then retention."""

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
from lineage_pipeline_tests.operated import Operated, commit, tip
from lineage_pipeline_tests.receivers import HttpReceiver, MailReceiver, served
from lineage_pipeline_tests.test_alert_sensor import tick
from lineage_pipeline_tests.test_discover import git

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
    with served(both.hook), served(both.post):
        yield both
    del os.environ["TEST_HOOK_URL"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, receivers: Receivers) -> Iterator[Operated]:
    """Three commits of a repository, of which the last two each changed one file, and their past in the warehouse."""
    folder = tmp_path_factory.mktemp("operated")
    (folder / "lineage.toml").write_text(SETTINGS.format(port=receivers.post.port))
    repo = folder / "shop"
    tables = {f"t{number}": f"create table t{number} (id int, x int);" for number in range(6)}
    commit(repo, "first", **tables, v="create view v as select id, x from t0; create view u as select x from v;")
    commit(repo, "second", t1="create table t1 (id int, x bigint);")
    commit(repo, "third", v="create view v as select id, x + 1 as x from t0; create view u as select x from v;")
    before = Path.cwd()
    os.chdir(folder)
    assert main(["backfill", "--repo", "shop", "--since", "HEAD~2"]) == 0
    with dg.DagsterInstance.from_config(str(prepare_dagster_home(load_settings(folder, {}, {})))) as instance:
        yield Operated(folder, instance)
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


def test_one_thing_after_the_other(project: Operated, receivers: Receivers, capsys: pytest.CaptureFixture[str]) -> None:
    """The chapters build on each other, and a snapshot takes seconds: they are one story."""
    the_past_costs_what_each_commit_changed(project)
    third = f"shop@{tip(project.folder / 'shop', 'main')}"
    assert alerts(project, receivers) == [("failed", "warn", third)], "of the past nobody is told, but where a ref is"
    broken = branches_are_compared_with_where_they_began(project)
    assert alerts(project, receivers) == [("failed", "error", broken)]
    mended, merged = a_force_push_and_a_merge_are_followed(project)
    assert alerts(project, receivers) == [("recovered", "error", mended), ("recovered", "warn", merged)]
    retention_keeps_what_somebody_needs(project, capsys)


def alerts(project: Operated, receivers: Receivers) -> list[tuple[str, str, str]]:
    """Tick the sensor of alerts three times, and give what the servers got by that, each the same and once."""
    receivers.hook.taken.clear()
    receivers.post.taken.clear()
    for _ in range(3):
        tick(project.instance, Project())
    told = [(body["kind"], body["severity"], body["partition"]) for _, _, body in receivers.hook.taken]
    ids = [f"<{body['id']}@example.org>" for _, _, body in receivers.hook.taken]
    assert [message["Message-ID"] for _, message in receivers.post.taken] == ids
    return told


def the_past_costs_what_each_commit_changed(project: Operated) -> None:
    warehouse = Warehouse(project.settings.warehouse)
    past = [f"shop@{tip(project.folder / 'shop', f'main~{number}')}" for number in (2, 1, 0)]
    assert compiled(project.folder) == [8, 1, 2]
    assert project.instance.get_dynamic_partitions("snapshots") == past
    assert project.instance.get_materialized_partitions(dg.AssetKey(["lineage", "column_edges"])) == set(past)
    assert [manifest.key for manifest in warehouse.diffs()] == sorted([(past[0], past[1]), (past[1], past[2])])
    assert (project.folder / ".lineage/warehouse.duckdb").is_file()
    assert project.tick() == [], "what is there already is not asked for"
    assert json.loads(project.cursor or "") == {"shop": {"main": past[2].removeprefix("shop@")}}


def branches_are_compared_with_where_they_began(project: Operated) -> str:
    repo, warehouse = project.folder / "shop", Warehouse(project.settings.warehouse)
    texts = {
        "feature": {"v": "create view v as select id from t0; create view u as select x from v;"},
        "other": {"o": "create view o as select * from t1;"},
    }
    for name, files in texts.items():
        git(repo, "checkout", "-q", "-b", name, "main")
        commit(repo, name, **files)
    asked = project.tick()
    assert [request.tags["git/ref"] for request in asked] == ["feature", "other"]
    beside = subprocess.Popen([*LINEAGE, "run", "--repo", "shop", "--rev", "other"], cwd=project.folder, stdout=-3)
    assert [result.success for result in project.execute(asked[:1])] == [True]
    assert beside.wait(600) == 0, "another process with a Spark session of its own does no harm"
    base = f"shop@{tip(repo, 'main')}"
    for name in texts:
        assert warehouse.manifest((base, f"shop@{tip(repo, name)}")), "compared with where it left the base ref"
    broken = f"shop@{tip(repo, 'feature')}"
    assert "COL001" in warehouse.read((base, broken), "changes")["rule"].to_pylist()
    return broken


def a_force_push_and_a_merge_are_followed(project: Operated) -> tuple[str, str]:
    repo, third = project.folder / "shop", tip(project.folder / "shop", "main")
    git(repo, "tag", "lost", "feature")
    git(repo, "tag", "v1", "main~1")
    git(repo, "branch", "-q", "-f", "feature", "main")
    git(repo, "checkout", "-q", "feature")
    moved = commit(repo, "instead", w="create view w as select x from u;")
    asked = project.tick()
    assert [(request.tags["git/ref"], request.tags["git/sha"]) for request in asked] == [("feature", moved)]
    assert [result.success for result in project.execute(asked)] == [True]
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "merge", "feature")
    (request,) = project.tick()
    assert (request.tags["git/sha"], request.tags["git/base"]) == (tip(repo), third)
    assert [result.success for result in project.execute([request])] == [True]
    runs = project.instance.get_runs(dg.RunsFilter(tags={"git/sha": tip(repo)}))
    assert [(run.status.value, run.tags["git/author"]) for run in runs] == [("SUCCESS", "x <x>")]
    assert len(project.instance.get_dynamic_partitions("snapshots")) == 7
    return f"shop@{moved}", f"shop@{tip(repo)}"


def retention_keeps_what_somebody_needs(project: Operated, capsys: pytest.CaptureFixture[str]) -> None:
    """One of each repository stays, what is tagged, where a ref is, and what those are compared with."""
    repo, warehouse = project.folder / "shop", Warehouse(project.settings.warehouse)
    lost = tip(repo, "lost")
    git(repo, "tag", "-d", "lost")
    capsys.readouterr()
    assert main(["prune", "--snapshots", "1", "--dry-run"]) == 0
    assert capsys.readouterr().out == f"would remove shop@{lost}\n1 snapshots\n"
    git(repo, "branch", "-q", "-D", "other", "feature")
    assert main(["prune", "--snapshots", "1"]) == 0
    kept = {f"shop@{tip(repo, name)}" for name in ("main", "main~1", "main~2", "main~3")}
    assert {manifest.key[0] for manifest in warehouse.snapshots()} == kept
    assert set(project.instance.get_dynamic_partitions("snapshots")) == kept
    assert {part for manifest in warehouse.diffs() for part in manifest.key} <= kept
    left = [path for path in (project.folder / ".lineage").rglob("*") if lost in str(path)]
    assert [path for path in left if "dagster" not in path.parts and "dbt" not in path.parts] == []
