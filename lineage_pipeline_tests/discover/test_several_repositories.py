"""Several repositories: the snapshot of one is what the other imports, pinned by its key, and impact crosses both."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lineage_pipeline.cli.app import app
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import commit_folder

SHOP = """create table core.orders (id bigint not null, amount decimal(10,2), "Odd Name" text);
create view core.totals as select id, amount * 2 as doubled from core.orders;
create temporary table passing as select 1 as one;
"""
REPORTS = """create view reports.daily as select * from core.totals;
create view reports.all as select * from core.orders;
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two repositories side by side; the first is scanned into files and into a warehouse."""
    for name, text in (("shop", SHOP), ("reports", REPORTS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.sql").write_text(text)
        (tmp_path / name / "lineage.toml").write_text('[analysis]\ndialect = "postgres"\n')
    monkeypatch.chdir(tmp_path)
    for target in ("shop.lineage", "shop.json"):
        run_lineage("scan", "shop", "-o", target)
    run_lineage("scan", "shop", "--into", "warehouse")
    return tmp_path


def run_lineage(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def snapshot_key(place: Path) -> str:
    from lineage_pipeline.store.warehouse import Warehouse

    (manifest,) = Warehouse(place / "warehouse").snapshots()
    return manifest.key[0]


@pytest.mark.parametrize("how", ["shop.lineage", "shop.json", "snapshot:warehouse#{key}"])
def test_the_snapshot_of_one_repository_is_a_schema_of_another(how: str, places: Path) -> None:
    place = how.format(key=snapshot_key(places))
    (places / "reports" / "lineage.toml").write_text(
        f'[analysis]\ndialect = "postgres"\nschemas = ["{place.replace("warehouse", "../warehouse")}"]\n'
        if place.startswith("snapshot:")
        else f'[analysis]\ndialect = "postgres"\nschemas = ["../{place}"]\n'
    )
    by_settings = json.loads(run_lineage("scan", "reports", "--format", "json"))
    (places / "reports" / "lineage.toml").write_text('[analysis]\ndialect = "postgres"\n')
    by_flag = json.loads(run_lineage("scan", "reports", "--schema", place, "--format", "json"))
    for found in (by_settings, by_flag):
        columns = {(row["object"], row["name"]): (row["type"], row["nullable"]) for row in found["columns"]}
        assert columns["reports.daily", "doubled"] == ("DECIMAL", True)
        assert columns["reports.all", "Odd Name"] == ("TEXT", True)
        assert columns["core.orders", "id"] == ("BIGINT", False)
        assert found["diagnostics"] == []
        assert "passing" not in {row["object"] for row in found["objects"]}


def test_impact_crosses_repositories(places: Path) -> None:
    run_lineage("scan", "reports", "--schema", "shop.lineage", "-o", "reports.lineage")
    one = run_lineage("impact", "core.orders.amount", "--in", "shop.lineage")
    both = run_lineage("impact", "core.orders.amount", "--in", "shop.lineage", "--in", "reports.lineage")
    assert "core.totals.doubled" in one
    assert "reports.daily" not in one
    assert "reports.daily.doubled" in both


def test_a_snapshot_is_pinned_and_another_one_is_another_analysis(places: Path) -> None:
    key = snapshot_key(places)
    (places / "reports" / "lineage.toml").write_text(f'[analysis]\nschemas = ["snapshot:../warehouse#{key}"]\n')
    before = load_settings(places / "reports", {}, {})
    assert {schema.source for schema in import_configured_schemas(before).schemas.values()} == {key}
    (places / "shop" / "a.sql").write_text(SHOP.replace("amount * 2", "amount * 3.5"))
    (places / "shop" / "b.sql").write_text("create table core.more (x int);")
    run_lineage("scan", "shop", "--into", "warehouse")
    again = load_settings(places / "reports", {}, {})
    assert compute_analysis_key(again) == compute_analysis_key(before)
    with pytest.raises(LineageError, match="shop@nothing is not a snapshot of .*; there are: shop@tree-"):
        import_configured_schemas(
            load_settings(places, {"analysis": {"schemas": ["snapshot:warehouse#shop@nothing"]}}, {})
        )
    with pytest.raises(LineageError, match="No such file"):
        import_configured_schemas(load_settings(places, {"analysis": {"schemas": ["none.lineage"]}}, {}))


def test_repositories_at_revisions_are_read_together_each_as_its_settings_say(places: Path) -> None:
    for name in ("shop", "reports"):
        commit_folder(places / name)
    (places / "shop" / "a.sql").write_text("something else altogether")
    (places / "reports" / "lineage.toml").write_text('[analysis]\ndialect = "snowflake"\n')
    found = json.loads(run_lineage("scan", "shop@main", "reports", "--format", "json"))
    paths = {item["path"] for item in found["files"]}
    assert paths == {"shop@main/a.sql", "reports/a.sql"}
    found = json.loads(run_lineage("scan", "shop@main", "reports@main", "--format", "json"))
    assert {item["dialect"] for item in found["files"]} == {"postgres", "snowflake"}
    said = CliRunner().invoke(app, ["scan", "shop@main", "reports/a.sql"])
    assert (said.exit_code, "not files" in str(said.exception or said.output)) == (1, True)


def test_impact_crosses_repositories_at_revisions(places: Path) -> None:
    for name in ("shop", "reports"):
        commit_folder(places / name)
    said = run_lineage("impact", "core.orders.amount", "--in", "shop@main", "--in", "reports@main")
    assert "reports.daily.doubled" in said
    assert "reports@main/a.sql:1" in said
