"""dbt packages and Python models: what a project builds besides the SQL in its own folder."""

from pathlib import Path

import pytest

from lineage_pipeline.api import Analysis, scan

PROGRAM = """import pandas as pd


def model(dbt, session):
    dbt.config(materialized="incremental", schema="science", tags=["ml"])
    orders = dbt.ref("orders").to_pandas()
    old = dbt.ref("kit", "prices", v=None)
    raw = dbt.source("crm", "clicks")
    session.sql("insert into audit.runs select max(id) as last from crm.clicks")
    return orders.merge(old)
"""
FILES = {
    "dbt_project.yml": "name: shop\nprofile: shop\nmodels: {kit: {+schema: bought}}\n",
    "profiles.yml": "shop: {target: d, outputs: {d: {type: postgres, dbname: db, schema: core}}}\n",
    "packages.yml": "packages: [{local: ../kit}, {package: some/tools, version: 1.0.0}]\n",
    "models/orders.sql": "select sku, {{ kit.twice('price') }} as price from {{ ref('prices') }}",
    "models/sources.yml": "sources: [{name: crm, tables: [{name: clicks, columns: [{name: id}]}]}]\n",
    "models/report.sql": "select score, unit from {{ ref('scores') }} cross join {{ ref('tools', 'units') }}",
    "models/scores.py": PROGRAM,
    "dbt_packages/tools/dbt_project.yml": "name: tools\n",
    "dbt_packages/tools/models/units.sql": "select unit from {{ ref('unit_names') }}",
    "dbt_packages/tools/seeds/unit_names.csv": "unit\nkg\n",
    "dbt_packages/tools/macros/m.sql": "{% macro nothing() %}{% endmacro %}",
    "dbt_packages/tools/integration_tests/dbt_project.yml": "name: tools_tests\n",
    "dbt_packages/tools/integration_tests/models/broken.sql": "select {{ nothing_at_all() }} from",
    "../kit/dbt_project.yml": "name: kit\n",
    "../kit/models/prices.sql": "select 'a' as sku, 1 as price",
    "../kit/macros/twice.sql": "{% macro twice(column) %}2 * {{ column }}{% endmacro %}",
}


def write_project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture(scope="module", params=["read", "ignored"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """A project with a package beside it and one that is installed, which git may know or not."""
    folder = write_project(tmp_path_factory.mktemp("dbt"), FILES)
    if request.param == "ignored":
        (folder / ".git").mkdir()
        (folder / ".gitignore").write_text("dbt_packages/\n")
    return scan(folder)


def test_models_of_packages_are_built_by_the_project(shop: Analysis) -> None:
    made = {row.object: row.path for row in shop.lineage.objects if row.path}
    assert made == {
        "db.core.orders": "shop/models/orders.sql",
        "db.core.report": "shop/models/report.sql",
        "db.core.unit_names": "shop/dbt_packages/tools/seeds/unit_names.csv",
        "db.core.units": "shop/dbt_packages/tools/models/units.sql",
        "db.core_bought.prices": "kit/models/prices.sql",
        "db.core_science.scores": "shop/models/scores.py",
    }
    edges = {
        (row.from_object, row.from_column, row.to_column)
        for row in shop.lineage.column_edges
        if row.to_object in ("db.core.orders", "db.core.report") and row.type == "DIRECT"
    }
    assert edges == {
        ("db.core_bought.prices", "sku", "sku"),
        ("db.core_bought.prices", "price", "price"),
        ("db.core_science.scores", "score", "score"),
        ("db.core.units", "unit", "unit"),
    }


def test_a_python_model_reads_its_refs_and_sources(shop: Analysis) -> None:
    reads = {row.from_object for row in shop.lineage.object_edges if row.to_object == "db.core_science.scores"}
    assert reads == {"db.core.orders", "db.core_bought.prices", "db.crm.clicks", '"python://shop/scores"'}
    assert ("db.crm.clicks", "audit.runs") in {(row.from_object, row.to_object) for row in shop.lineage.object_edges}
    assert {(row.code, row.path, row.line) for row in shop.lineage.diagnostics} == {
        ("APPROXIMATE_LINEAGE", "shop/models/scores.py", 1)
    }


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [("def model(dbt, session:\n  pass\n", 1, "Python, line 1"), ("x = 1\n", 1, "function model(dbt, session)")],
)
def test_a_python_model_that_dbt_would_not_run_is_a_finding(text: str, line: int, reason: str, tmp_path: Path) -> None:
    folder = write_project(tmp_path, {"dbt_project.yml": "name: shop\n", "models/m.py": text})
    found = [row for row in scan(folder).lineage.diagnostics if row.code == "TEMPLATE_ERROR"]
    assert [(row.path, row.line) for row in found] == [("shop/models/m.py", line)]
    assert reason in found[0].message


def test_other_programs_of_a_project_are_read_as_programs(tmp_path: Path) -> None:
    folder = write_project(
        tmp_path, {"dbt_project.yml": "name: shop\n", "load.py": 'spark.sql("insert into a select b from c")'}
    )
    assert {row.object for row in scan(folder).lineage.objects} == {"a", "c"}
