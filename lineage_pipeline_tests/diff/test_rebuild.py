"""What to rebuild: the objects that are stale after a change, in dependency order, and nothing else."""

import json
from pathlib import Path

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.rebuild import RebuildPlan, StaleObject, plan_rebuild
from lineage_pipeline.export.answers.change_answers import write_dbt_selection
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.cli.test_check import clone, commit, git

__all__ = ["clone"]

FILES = {
    "orders.sql": "create table raw.orders (id int, amount int, note text);",
    "clean.sql": "create view core.clean as select id, amount, note from raw.orders where amount > 0;",
    "daily.sql": "create table mart.daily as select sum(amount) as total from core.clean;",
    "notes.sql": "create view mart.notes as select note from core.clean;",
    "other.sql": "create table raw.other (id int); create view core.other as select id from raw.other;",
    "load.sql": "create table mart.log (total int); insert into mart.log (total) select total from mart.daily;",
}


def lineage(files: dict[str, str]) -> LineageTables:
    return build_lineage([InputFile(path, text, Options("postgres")) for path, text in files.items()], reach=False)


def rebuild_after(**edits: tuple[str, str]) -> RebuildPlan:
    files = dict(FILES)
    for name, (old, new) in edits.items():
        assert old in files[f"{name}.sql"]
        files[f"{name}.sql"] = files[f"{name}.sql"].replace(old, new)
    base, head = lineage(FILES), lineage(files)
    return plan_rebuild(base, head, diff(base, head))


def names(found: RebuildPlan) -> list[str]:
    return [f"{stale.object} {stale.reason}" for stale in found.stale]


def test_other_rows_reach_everything_below_in_order() -> None:
    found = rebuild_after(clean=("> 0", "> 1"))
    assert names(found) == ["core.clean edited", "mart.daily reads", "mart.notes reads", "mart.log reads"]
    assert {stale.object: stale.because for stale in found.stale}["mart.log"] == ("mart.daily",)


def test_another_value_reaches_those_that_take_it() -> None:
    assert names(rebuild_after(clean=("id, amount, note", "id, amount * 2 as amount, note"))) == [
        "core.clean edited",
        "mart.daily reads",
        "mart.log reads",
    ]


def test_an_unedited_reader_is_not_listed_as_edited() -> None:
    assert names(rebuild_after(orders=("amount int", "amount bigint"))) == [
        "raw.orders edited",
        "core.clean reads",
        "mart.daily reads",
        "mart.notes reads",
        "mart.log reads",
    ]


def test_readers_of_a_removed_column_are_stale_and_so_are_their_readers() -> None:
    assert names(rebuild_after(orders=("amount int, ", ""), clean=("id, amount, note", "id, note"))) == [
        "raw.orders edited",
        "core.clean edited",
        "mart.daily reads",
        "mart.notes reads",
        "mart.log reads",
    ]
    assert names(rebuild_after(orders=("amount int", "price int"))) == [
        "raw.orders edited",
        "core.clean reads",
        "mart.daily reads",
        "mart.notes reads",
        "mart.log reads",
    ]


def test_an_added_column_makes_no_reader_stale() -> None:
    assert names(rebuild_after(orders=("note text", "note text, more int"))) == ["raw.orders edited"]


def test_layout_makes_nothing_stale() -> None:
    assert names(rebuild_after(clean=("where amount", "where  /* only */ amount"))) == []


def test_new_objects_are_built_and_removed_ones_are_listed() -> None:
    found = rebuild_after(other=("core.other as select id", "core.fresh as select id + 1 as id"))
    assert (names(found), found.gone) == (["core.fresh new"], ("core.other",))


def test_nothing_is_stale_without_a_change() -> None:
    assert rebuild_after() == RebuildPlan((), ())


@pytest.mark.usefixtures("clone")
def test_the_command_writes_text_json_and_a_selector(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "main")
    commit({f"models/{name}": text for name, text in FILES.items()}, "models")
    git("checkout", "-q", "-B", "change")
    commit({"models/clean.sql": FILES["clean.sql"].replace("> 0", "> 1")}, "fewer")
    arguments = ["rebuild", "--base", "main", "--dialect", "postgres", "--format"]
    assert main([*arguments, "text"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "mart.daily  table  reads core.clean  models/daily.sql:1"
    assert main([*arguments, "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["object"] for one in document["rebuild"]] == ["core.clean", "mart.daily", "mart.notes", "mart.log"]
    assert document["rebuild"][3]["makers"] == ["models/load.sql:1"]
    assert main([*arguments, "dbt"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "clean daily notes\n"
    assert "build them in another way: mart.log" in shown.err
    assert Path("models").is_dir()


def test_a_script_beside_the_models_is_not_selected_as_a_model() -> None:
    script = StaleObject("raw.orders", ObjectKind.TABLE, 0, "edited", (), "sql/orders.sql", 1, ())
    seed = StaleObject("codes", ObjectKind.TABLE, 0, "edited", (), "seeds/codes.csv", 1, ())
    model = StaleObject("core.clean", ObjectKind.VIEW, 1, "reads", ("raw.orders",), "models/clean.sql", 1, ())
    found = RebuildPlan((script, seed, model), ())
    assert write_dbt_selection(found, "a", "b", {"models/clean.sql"}) == "codes clean\n"
    assert write_dbt_selection(found, "a", "b") == "orders codes clean\n"


@pytest.mark.usefixtures("clone")
def test_a_model_is_selected_by_its_file_whatever_its_alias(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "main")
    project = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\n",
        "models/a.sql": "select x from {{ source('q', 'z') }}",
        "models/i.sql": "{{ config(materialized='table', alias='ii') }} select x from {{ ref('a') }}",
        "snapshots/all.sql": "{% snapshot kept %}{{ config(target_schema='s', unique_key='x', strategy='check', "
        "check_cols='all') }}select * from {{ ref('i') }}{% endsnapshot %}",
    }
    commit(project, "models")
    git("checkout", "-q", "-B", "change")
    commit({"models/a.sql": "select x + 1 as x from {{ source('q', 'z') }}"}, "more")
    assert main(["rebuild", "--base", "main", "--format", "dbt"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "a i kept\n"
    assert "another way" not in shown.err
