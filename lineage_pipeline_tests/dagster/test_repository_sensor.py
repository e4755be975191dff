"""The repository sensor: a commit becomes one partition and one run, after its base, whatever else fails."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest

from lineage_pipeline.defs.home import Home, prepare_dagster_home
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.git_repositories import run_git
from lineage_pipeline_tests.support.watched_project import WatchedProject, commit_files, resolve_commit

pytestmark = pytest.mark.spark  # Dagster takes a moment to be imported

TABLE = "create table t (id int, x int);"
VIEW = "create view v as select id, x from t;"


@pytest.fixture
def operated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WatchedProject]:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        yield WatchedProject(project, instance)


def write_watch_settings(operated: WatchedProject, *rows: str, **watching: int) -> None:
    told = "".join(f"{key} = {value}\n" for key, value in watching.items())
    (operated.folder / "lineage.toml").write_text(
        f"[watch]\n{told}" + "".join(f"[[repositories]]\n{row}\n" for row in rows)
    )


def watch_shop(operated: WatchedProject, more: str = 'base_ref = "main"\nrefs = ["*"]') -> Path:
    repo = operated.folder / "shop"
    commit_files(repo, "first", t=TABLE)
    write_watch_settings(operated, f'name = "shop"\npath = "shop"\n{more}')
    return repo


def partition_keys(requests: list[dg.RunRequest]) -> list[str | None]:
    return [request.partition_key for request in requests]


def test_a_commit_is_asked_for_once_with_its_ref_author_and_base(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    (request,) = operated.tick()
    first = resolve_commit(repo)
    assert request.partition_key == f"shop@{first}"
    assert request.run_key == f"shop@{first}..none"
    wanted = {"git/repository": "shop", "git/ref": "main", "git/sha": first, "git/author": "x <x>", "git/base": ""}
    assert request.tags.items() >= wanted.items()
    assert operated.instance.get_dynamic_partitions("snapshots") == [f"shop@{first}"]
    assert json.loads(operated.cursor or "") == {"shop": {"main": first}}
    operated.record_run(request)
    assert operated.tick() == []
    assert operated.told[-1] == "nothing has changed"
    operated.cursor = None
    assert operated.tick() == []
    assert "being made" in operated.told[-1]


def test_a_missing_base_is_requested_first(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    first = resolve_commit(repo)
    second = commit_files(repo, "second", v=VIEW)
    (base,) = operated.tick()
    assert partition_keys([base]) == [f"shop@{first}"]
    assert {key.path[-1] for key in base.asset_selection or ()}.isdisjoint({"changes", "change_report"})
    run = operated.record_run(base)
    assert operated.tick() == [], "it waits as long as that run goes on"
    assert operated.told[-1] == f"shop@{second} waits for its base shop@{first}"
    operated.finish_run(run)
    operated.publish(f"shop@{first}")
    (head,) = operated.tick()
    assert (head.partition_key, head.tags["git/base"]) == (f"shop@{second}", first)
    assert head.run_key == f"shop@{second}..{first}"
    assert "changes" in {key.path[-1] for key in head.asset_selection or ()}


def test_a_failing_base_does_not_block_its_head_forever(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    second = commit_files(repo, "second", v=VIEW)
    (base,) = operated.tick()
    operated.finish_run(operated.record_run(base), well=False)
    assert partition_keys(operated.tick()) == [f"shop@{second}"]


def test_a_base_that_retention_has_removed_is_made_again_but_not_for_ever(operated: WatchedProject) -> None:
    from lineage_pipeline.store.warehouse import Warehouse

    repo = watch_shop(operated)
    first = f"shop@{resolve_commit(repo)}"
    commit_files(repo, "second", v=VIEW)
    (base,) = operated.tick()
    operated.finish_run(operated.record_run(base))
    operated.publish(first)
    assert len(operated.tick()) == 1, "the head"
    Warehouse(operated.settings.warehouse).forget([first])
    operated.cursor = None
    (remade,) = operated.tick()
    assert (remade.partition_key, remade.run_key) == (first, f"{base.run_key}#2")
    operated.finish_run(operated.record_run(remade), well=False)
    (head,) = operated.tick()
    assert head.partition_key == f"shop@{resolve_commit(repo)}", "what fails is not tried for ever"


def test_a_branch_that_becomes_the_base_ref_is_made_again_against_its_first_parent(operated: WatchedProject) -> None:
    from lineage_pipeline.defs.assets.external_assets import find_newest_snapshots
    from lineage_pipeline.store.warehouse import Warehouse

    repo = watch_shop(operated)
    first = resolve_commit(repo)
    run_git(repo, "checkout", "-q", "-b", "feature")
    one, two = commit_files(repo, "one", v=VIEW), commit_files(repo, "two", w="create view w as select * from v;")
    operated.publish(*(f"shop@{key}" for key in (first, one, two)))
    run_git(repo, "branch", "-q", "-f", "main", one)  # by one commit its base stays, but no longer as a merge base
    request = next(asked for asked in operated.tick() if asked.tags["git/ref"] == "main")
    assert (request.tags["git/sha"], request.tags["git/base"]) == (one, first)
    assert "snapshots" in {key.path[-1] for key in request.asset_selection or ()}
    run_git(repo, "branch", "-q", "-f", "main", two)
    operated.cursor = json.dumps({"shop": {"feature": two, "main": one}})
    request = operated.tick()[-1]
    assert (request.tags["git/sha"], request.tags["git/base"]) == (two, one)
    assert {"snapshots", "changes"} <= {key.path[-1] for key in request.asset_selection or ()}
    operated.publish(f"shop@{two}")
    warehouse = Warehouse(operated.settings.warehouse)
    assert [(row.commit, row.base) for row in find_newest_snapshots(warehouse)] == [(two, one)]


def test_branches_are_compared_with_the_merge_base_and_the_base_ref_with_its_first_parent(
    operated: WatchedProject,
) -> None:
    repo = watch_shop(operated)
    first = resolve_commit(repo)
    operated.publish(f"shop@{first}")
    operated.tick()
    run_git(repo, "checkout", "-q", "-b", "feature")
    commit_files(repo, "one", v=VIEW)
    feature = commit_files(repo, "two", w="create view w as select * from v;")
    run_git(repo, "checkout", "-q", "main")
    moved = commit_files(repo, "main moves", u="select 1;")
    asked = {request.tags["git/ref"]: request for request in operated.tick()}
    assert {name: request.tags["git/base"] for name, request in asked.items()} == {"feature": first, "main": first}
    assert asked["feature"].partition_key == f"shop@{feature}", "of two commits at once, the newest"
    for request in asked.values():
        operated.finish_run(operated.record_run(request))
    operated.publish(f"shop@{moved}")
    run_git(repo, "merge", "-q", "--no-ff", "-m", "merge", "feature")
    (merge,) = operated.tick()
    assert (merge.tags["git/sha"], merge.tags["git/base"]) == (resolve_commit(repo), moved)


def test_a_push_of_several_commits_is_compared_with_where_the_ref_was(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    operated.publish(f"shop@{resolve_commit(repo)}")
    seen = commit_files(repo, "second", v=VIEW)
    operated.execute(operated.tick())
    commit_files(repo, "breaks", v="create view v as select id from t;")
    tip = commit_files(repo, "a comment", v="create view v as select id from t; -- why")
    (request,) = operated.tick()
    assert (request.tags["git/sha"], request.tags["git/base"]) == (tip, seen)
    (result,) = operated.execute([request])
    assert result.success
    changes = Warehouse(operated.settings.warehouse).read((f"shop@{seen}", f"shop@{tip}"), "changes").to_pylist()
    assert [(row["rule"], row["object"], row["column"]) for row in changes if row["root"]] == [("COL001", "v", "x")]
    (row,) = Warehouse(operated.settings.warehouse).read(f"shop@{tip}", "snapshots").to_pylist()
    assert (row["base"], row["base_rule"]) == (seen, "last-look")
    operated.cursor = None
    assert operated.tick() == [], "a comparison with an earlier commit is not made again with the parent"


def test_a_ref_that_was_moved_is_compared_with_where_it_was(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    first = resolve_commit(repo)
    lost = commit_files(repo, "lost", v=VIEW)
    operated.publish(f"shop@{first}", f"shop@{lost}")
    operated.cursor = json.dumps({"shop": {"main": lost}})
    run_git(repo, "reset", "-q", "--hard", first)
    moved = commit_files(repo, "instead", w="create view w as select id from t;")
    (request,) = operated.tick()
    assert (request.tags["git/sha"], request.tags["git/base"], request.tags["git/forced"]) == (moved, lost, "true")


def test_history_takes_every_commit_each_behind_the_one_before(operated: WatchedProject) -> None:
    repo = watch_shop(operated, "history = true")
    operated.publish(f"shop@{resolve_commit(repo)}")
    operated.tick()
    commits = [commit_files(repo, name, v=f"select {number};") for number, name in enumerate("abc")]
    for wanted in commits:
        (request,) = operated.tick()
        assert request.partition_key == f"shop@{wanted}"
        operated.finish_run(operated.record_run(request))
        operated.publish(f"shop@{wanted}")
    assert operated.tick() == []


def test_a_ref_that_is_moved_or_deleted_is_followed(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    first = resolve_commit(repo)
    operated.publish(f"shop@{first}")
    run_git(repo, "checkout", "-q", "-b", "feature")
    lost = commit_files(repo, "lost", v=VIEW)
    assert f"shop@{lost}" in partition_keys(operated.tick())
    run_git(repo, "reset", "-q", "--hard", first)
    moved = commit_files(repo, "instead", w="create view w as select id from t;")
    (request,) = operated.tick()
    assert (request.partition_key, request.tags["git/base"]) == (f"shop@{moved}", first)
    assert request.tags["git/forced"] == "true"
    run_git(repo, "checkout", "-q", "main")
    run_git(repo, "branch", "-q", "-D", "feature")
    assert operated.tick() == []
    assert "feature is gone" in operated.told[-1]
    assert json.loads(operated.cursor or "") == {"shop": {"main": first}}


def test_changed_settings_apply_at_the_next_tick(operated: WatchedProject) -> None:
    watch_shop(operated)
    operated.project = Project()
    assert len(operated.tick()) == 1
    commit_files(operated.folder / "more", "first", t=TABLE)
    write_watch_settings(operated, 'name = "shop"\npath = "shop"', 'name = "more"\npath = "more"')
    assert [request.tags["git/repository"] for request in operated.tick()] == ["more"]


def test_a_failed_run_can_be_requested_again_by_the_cursor(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    (request,) = operated.tick()
    operated.finish_run(operated.record_run(request), well=False)
    assert operated.tick() == [], "a run that failed is not repeated for ever"
    operated.cursor = json.dumps({"shop": {"main": "again"}})
    (again,) = operated.tick()
    assert (again.partition_key, again.run_key) == (request.partition_key, f"{request.run_key}#2")
    assert json.loads(operated.cursor or "") == {"shop": {"main": resolve_commit(repo)}}


def test_many_refs_take_several_ticks(operated: WatchedProject) -> None:
    repo = watch_shop(operated)
    operated.publish(f"shop@{resolve_commit(repo)}")
    for number in range(5):
        run_git(repo, "checkout", "-q", "-b", f"b{number}", "main")
        commit_files(repo, f"b{number}", v=f"select {number};")
    write_watch_settings(operated, 'name = "shop"\npath = "shop"\nrefs = ["*"]\nbase_ref = "main"', requests=2)
    found = [partition_keys(operated.tick()) for _ in range(4)]
    assert [len(asked) for asked in found] == [2, 2, 2, 0]
    assert len({key for asked in found for key in asked}) == 6


def test_a_tick_starts_nothing_after_its_time_budget(operated: WatchedProject) -> None:
    from lineage_pipeline.defs.run_states import InstanceRuns
    from lineage_pipeline.defs.sensors.repository_sensor import LookBudget, RepositoryWatcher

    repo = watch_shop(operated)
    for number in range(3):
        run_git(repo, "branch", f"b{number}")
    moments = iter([0.0, 1.0, 2.0, 3.0, *[99.0] * 50])
    watcher = RepositoryWatcher(Project(), InstanceRuns(operated.instance), LookBudget(10, 100, lambda: next(moments)))
    look = watcher.look(operated.settings.repositories[0], {}, 5)
    assert 0 < len(look.refs) < 4
    assert "are left for the next look" in look.messages[-1]


def test_a_repository_that_cannot_be_read_stops_no_other_and_is_seen(operated: WatchedProject) -> None:
    watch_shop(operated)
    rows = [
        'name = "none"\npath = "nowhere"',
        f'name = "far"\npath = "file://{operated.folder}/far"',
        'name = "shop"\npath = "shop"',
    ]
    write_watch_settings(operated, *rows)
    assert partition_keys(operated.tick()) == [f"shop@{resolve_commit(operated.folder / 'shop')}"]

    def seen(name: str) -> list[tuple[bool, str | None]]:
        key = dg.AssetCheckKey(dg.AssetKey(["repositories", name]), "can_be_read")
        records = operated.instance.event_log_storage.get_asset_check_execution_history(key, limit=9)
        return [(record.evaluation.passed, record.evaluation.description) for record in records if record.evaluation]

    assert seen("shop") == [(True, None)]
    ((passed, why),) = seen("none")
    assert (passed, "is not a git repository" in str(why)) == (False, True)
    operated.tick()
    assert len(seen("none")) == 1, "it is said once"
    commit_files(operated.folder / "far", "first", t=TABLE)
    (request,) = operated.tick()
    assert request.tags["git/repository"] == "far"
    assert [passed for passed, _ in seen("far")] == [True, False]


def test_marts_are_requested_when_they_differ_from_what_is_published(operated: WatchedProject) -> None:
    from lineage_pipeline.defs.sensors.automation import marts_sensor

    def ask() -> str | None:
        context = dg.build_sensor_context(operated.instance, resources={"project": Project()})
        result = marts_sensor()(context)
        assert isinstance(result, dg.RunRequest | dg.SkipReason)
        return result.run_key if isinstance(result, dg.RunRequest) else result.skip_message

    repo = watch_shop(operated)
    assert ask() == "nothing is published"
    operated.publish(f"shop@{resolve_commit(repo)}")
    key = ask()
    assert key == ask()
    home = Project().home
    home.marts.write_bytes(b"")
    home.record(home.marts, str(key))
    assert ask() == "the marts show what is published"
    operated.publish(f"shop@{commit_files(repo, 'second')}")
    (request,) = operated.tick()[:1]
    run = operated.record_run(request)
    assert "wait for runs" in str(ask())
    operated.finish_run(run)
    assert ask() not in (key, None)


def test_marts_are_retried_after_failures_with_growing_pauses(
    operated: WatchedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lineage_pipeline.defs.sensors.automation import MARTS_TAG, marts_sensor

    def ask() -> dg.RunRequest | dg.SkipReason:
        context = dg.build_sensor_context(operated.instance, resources={"project": Project()})
        result = marts_sensor()(context)
        assert isinstance(result, dg.RunRequest | dg.SkipReason)
        return result

    def asked() -> dg.RunRequest:
        request = ask()
        assert isinstance(request, dg.RunRequest), request
        return request

    def told() -> str:
        skip = ask()
        assert isinstance(skip, dg.SkipReason), skip
        return str(skip.skip_message)

    repo = watch_shop(operated)
    operated.publish(f"shop@{resolve_commit(repo)}")
    first = asked()
    run = operated.record_run(first)
    assert told() == "the marts are being built"
    operated.finish_run(run)
    home = Project().home
    home.marts.write_bytes(b"")
    home.record(home.marts, "what was published meanwhile and is gone")
    again = asked()
    assert (again.run_key, again.tags[MARTS_TAG]) == (f"{first.run_key}#2", first.run_key)
    now, offset = time.time(), 0
    monkeypatch.setattr("lineage_pipeline.defs.sensors.automation.time.time", lambda: now + offset)
    for number, pause in enumerate((900, 1800, 3600), 1):
        operated.finish_run(operated.record_run(asked()), well=False)
        offset = pause - 60
        assert told().startswith(f"the marts could not be built {number} times; they are tried again at ")
        offset = pause + 60
        assert asked().run_key == f"{first.run_key}#{number + 2}"


def test_conflicting_runs_wait_for_each_other(operated: WatchedProject, tmp_path: Path) -> None:
    watch_shop(operated)
    jobs = {job: operated.definitions.resolve_job_def(job) for job in ("snapshot_job", "retention_job")}
    pools = {job: {tuple(node.definition.pools) for node in found.graph.nodes} for job, found in jobs.items()}
    assert pools == {"snapshot_job": {("spark",)}, "retention_job": {("spark",)}}, "every step, whatever is selected"
    with dg.DagsterInstance.from_config(str(prepare_dagster_home(operated.settings))) as instance:
        limits = instance.get_concurrency_config()
        assert limits.pool_config.default_pool_limit == 1
        assert limits.pool_config.pool_granularity is not None
        assert limits.pool_config.pool_granularity.value == "run"
        (per_snapshot,) = limits.run_queue_config.tag_concurrency_limits if limits.run_queue_config else ()
        assert (per_snapshot["key"], per_snapshot["limit"]) == ("dagster/partition", 1)
        assert (instance.telemetry_enabled, instance.run_monitoring_enabled) == (False, True)


def test_concurrent_records_are_all_kept(tmp_path: Path) -> None:
    home = Home(tmp_path)
    outputs = [tmp_path / f"{number}.md" for number in range(40)]
    for output in outputs:
        output.write_text("")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda output: home.record(output, "key"), outputs))
    assert all(home.is_made(output, "key") for output in outputs)
