"""Retention: which snapshots and caches are removed, and the external assets that Dagster shows of a warehouse."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.defs.assets.retention import ProtectedSnapshots, prune_snapshots, select_expired
from lineage_pipeline.model.tables import Snapshot
from lineage_pipeline.store.compiled_scripts import (
    COMPILED_FOLDER,
    MIN_COMPACTED_BATCHES,
    list_finished_folders,
    load_compiled,
    remove_unused_caches,
    save_compiled,
)
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifest_files import StoredFile
from lineage_pipeline.store.packed_script import PackedScript
from lineage_pipeline.store.run import required_tables
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.discover.test_several_repositories import run_lineage
from lineage_pipeline_tests.support.git_repositories import run_git

NOW = datetime(2026, 7, 1, tzinfo=UTC)
NOTHING = ProtectedSnapshots({}, {})


def make_snapshot(commit: str, month: int, base: str | None = None, repo: str = "shop") -> Snapshot:
    moment = f"2026-{month:02}-01T00:00:00Z"
    return Snapshot(repo, (), commit, (), base, "first-parent", moment, "x <x>", 1, "key")


ROWS = [
    make_snapshot("a", 1),
    make_snapshot("b", 2, "a"),
    make_snapshot("c", 5, "b"),
    make_snapshot("d", 6, "c"),
    make_snapshot("z", 1, repo="other"),
]


def make_retention_rules(days: int = 0, snapshots: int = 0) -> Settings:
    return Settings.model_validate({"retention": {"days": days, "snapshots": snapshots}})


@pytest.mark.parametrize(
    ("settings", "protected", "gone"),
    [
        (make_retention_rules(), NOTHING, []),
        (make_retention_rules(days=90), NOTHING, ["other@z", "shop@a"]),
        (make_retention_rules(snapshots=1), NOTHING, ["shop@a", "shop@b"]),
        (make_retention_rules(days=1, snapshots=3), NOTHING, ["other@z", "shop@a", "shop@b", "shop@c", "shop@d"]),
        (make_retention_rules(days=90), ProtectedSnapshots({"shop": frozenset("a")}, {"other": "it is not there"}), []),
        (make_retention_rules(snapshots=1), ProtectedSnapshots({"shop": frozenset("b")}, {}), []),
        (make_retention_rules(snapshots=1), ProtectedSnapshots({}, {}, frozenset({"shop@a"})), ["shop@b"]),
    ],
    ids=[
        "never",
        "by age",
        "by number, with the base",
        "all too old",
        "tagged and unknown",
        "the base of a tagged one",
        "the base of one that is not there yet",
    ],
)
def test_snapshots_are_removed_by_age_and_number(
    settings: Settings, protected: ProtectedSnapshots, gone: list[str]
) -> None:
    assert select_expired(ROWS, settings, protected, NOW) == gone


def test_a_removed_snapshot_is_invisible_and_its_files_are_collected(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    for key in ("s@a", "s@b", ("s@a", "s@b")):
        run = warehouse.begin(key, "r", "k")
        for table in required_tables(run.key):
            run.write(table, [])
        run.publish()
    warehouse.forget(["s@a"])
    assert [manifest.key for manifest in (*warehouse.snapshots(), *warehouse.diffs())] == [("s@b",)]
    removed = warehouse.collect()
    assert all("s@a" in path or path.startswith("sources/") for path in removed)
    assert not [path for path in tmp_path.rglob("*") if "s@a" in str(path)]
    assert isinstance(next(iter(warehouse.snapshots()[0].tables["columns"].files)), StoredFile)


def test_objects_are_external_assets_with_columns_and_their_lineage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from lineage_pipeline.defs.assets.external_assets import build_object_specs

    for name, text in (
        (
            "shop",
            "create table core.orders (id bigint not null, amount int); create temp table passing as select 1 as one;",
        ),
        ("reports", "create view reports.daily as select id, amount * 2 as twice from core.orders where amount > 0;"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.sql").write_text(text)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.toml").write_text('warehouse = "warehouse"\n[analysis]\ndialect = "postgres"\n')
    for name in ("reports", "shop"):
        run_lineage("scan", name, "--into", "warehouse")
    assert build_object_specs(load_settings(tmp_path, {}, {})) == [], "only if somebody wants them"
    specs = {
        spec.key.to_user_string(): spec
        for spec in build_object_specs(load_settings(tmp_path, {}, {"LINEAGE_WATCH_ASSETS": "1"}))
    }
    assert list(specs) == ["sql/core/orders", "sql/reports/daily"]
    orders, daily = specs.values()
    assert (orders.group_name, daily.group_name) == ("sql_shop", "sql_reports"), "who defines it, shows it"
    assert {dep.asset_key for dep in daily.deps} == {orders.key}
    columns = [
        (column.name, column.constraints.nullable) for column in orders.metadata["dagster/column_schema"].columns
    ]
    assert columns == [("id", False), ("amount", True)]
    assert daily.metadata["dagster/column_lineage"] == dg.TableColumnLineage(
        {"id": [dg.TableColumnDep(orders.key, "id")], "twice": [dg.TableColumnDep(orders.key, "amount")]}
    )
    dg.Definitions.validate_loadable(dg.Definitions(assets=list(specs.values())))


def test_old_and_unused_caches_are_removed(tmp_path: Path) -> None:
    files = FileStore(tmp_path)
    for key in ("needed", "alone"):
        save_compiled(files, {key: PackedScript(b"", b"", b"")})
    files.replace("_work/one/entries.parquet", b"")
    files.replace("_cache/linked/batch/keys.parquet", b"")
    files.replace("_cache/.gitignore", b"*\n")
    assert remove_unused_caches(files, {"needed"}, before=0) == [], "none of it is old"
    removed = remove_unused_caches(files, {"needed"}, before=time.time() + 60)
    assert {path.split("/")[0] for path in removed} == {"_work", "_cache"}
    assert list(load_compiled(files, ["needed", "alone"])) == ["needed"]
    assert files.list("_work") == files.list("_cache/linked") == []
    assert files.size("_cache/.gitignore") == 2


def test_pruning_compacts_batches_of_compiled_scripts(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {}, {})
    files, keys = FileStore(settings.warehouse), [f"key {number}" for number in range(MIN_COMPACTED_BATCHES)]
    for key in keys[1:]:
        save_compiled(files, {key: PackedScript(b"", b"", b"")})
    prune_snapshots(settings, lambda _: settings, lambda _: None)
    assert len(list_finished_folders(files, COMPILED_FOLDER)) == MIN_COMPACTED_BATCHES - 1, "they are few"
    save_compiled(files, {keys[0]: PackedScript(b"", b"", b"")})
    prune_snapshots(settings, lambda _: settings, lambda _: None)
    assert len(list_finished_folders(files, COMPILED_FOLDER)) == 1
    assert load_compiled(files, keys).keys() == set(keys)


def test_prune_removes_snapshots_with_their_partitions_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from lineage_pipeline.defs.home import prepare_dagster_home
    from lineage_pipeline_tests.support.watched_project import commit_files

    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.toml").write_text('[[repositories]]\nname = "shop"\npath = "shop"\n')
    commits = [
        commit_files(tmp_path / "shop", name, t=f"create table t{number} (x int);")
        for number, name in enumerate("abcd")
    ]
    run_git(tmp_path / "shop", "tag", "v1", commits[0])
    keys = [f"shop@{one}" for one in commits]
    for one in commits:
        run_lineage("scan", f"shop@{one}", "--into", ".lineage/warehouse")
    warehouse = Warehouse(tmp_path / ".lineage/warehouse")
    assert {manifest.key[0] for manifest in warehouse.snapshots()} == set(keys)
    with dg.DagsterInstance.from_config(str(prepare_dagster_home(load_settings(tmp_path, {}, {})))) as instance:
        instance.add_dynamic_partitions("snapshots", keys)
        assert run_lineage("prune", "--snapshots", "1", "--dry-run") == f"would remove {keys[1]}\n1 snapshots\n"
        assert len(warehouse.snapshots()) == 4
        told = run_lineage("prune", "--snapshots", "1")
        assert told.startswith(f"removed {keys[1]}\n1 snapshots, ")
        kept = [keys[0], keys[2], keys[3]]
        assert instance.get_dynamic_partitions("snapshots") == kept
    assert {manifest.key[0] for manifest in warehouse.snapshots()} == set(kept)
    assert run_lineage("prune", "--snapshots", "1").startswith("0 snapshots, 0 files")
    (tmp_path / "lineage.toml").write_text("")
    run_git(tmp_path / "shop", "tag", "-d", "v1")
    assert run_lineage("prune", "--snapshots", "1").startswith("0 snapshots, 0 files"), "nobody can say what is tagged"
    run_git(tmp_path, "init", "-q", "other")
    monkeypatch.chdir(tmp_path / "shop")
    assert run_lineage("prune", "--snapshots", "1", "--dry-run") == "0 snapshots\n", "it has no warehouse"


def test_snapshots_in_use_and_future_bases_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lineage_pipeline.defs.assets.retention import find_protected, prune_snapshots
    from lineage_pipeline.defs.resources import Project
    from lineage_pipeline_tests.support.watched_project import commit_files

    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.toml").write_text(
        '[retention]\nsnapshots = 1\n[[repositories]]\nname = "shop"\npath = "shop"\nbase_ref = "main"\nrefs = ["*"]\n'
    )
    commits = [commit_files(tmp_path / "shop", name, t=f"create table t{name} (x int);") for name in "abcd"]
    run_git(tmp_path / "shop", "branch", "work")
    run_git(tmp_path / "shop", "reset", "-q", "--hard", commits[2])
    settings = load_settings(tmp_path, {}, {})
    protected = find_protected(settings, {"shop", "strange"})
    assert protected.commits == {"shop": frozenset(commits[2:])}
    assert protected.bases == {f"shop@{commits[1]}", f"shop@{commits[2]}"}
    assert list(protected.unknown) == ["strange"]
    for one in commits[:3]:
        run_lineage("scan", f"shop@{one}", "--into", ".lineage/warehouse")
    reading = Project.over(settings).settings_for
    first = f"shop@{commits[0]}"
    assert prune_snapshots(settings, reading, lambda _: None, dry=True).snapshots == (first,)
    assert prune_snapshots(settings, reading, lambda _: None, dry=True, busy={first}).snapshots == ()
