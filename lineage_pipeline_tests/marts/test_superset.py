"""The dashboard for Superset: it follows the marts, its parts refer to each other, and its queries run."""

import importlib.util
import types
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineage_pipeline_tests.support.dbt_builds import run_dbt
from lineage_pipeline_tests.support.mart_warehouses import publish_shop_history
from lineage_pipeline_tests.support.paths import ROOT

BUNDLE = ROOT / "dbt_project" / "superset"


def load_bundle_generator() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("generate_superset", ROOT / "scripts" / "generate_superset.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_bundle() -> dict[str, Any]:
    return {
        path.relative_to(BUNDLE).as_posix(): yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted(BUNDLE.rglob("*.yaml"))
    }


def group_columns(params: dict[str, Any]) -> list[str]:
    """The columns that a chart groups by."""
    return [*filter(None, [params.get("x_axis")]), *params["groupby"]]


def test_the_bundle_is_what_the_script_writes() -> None:
    written = {path: (BUNDLE / path).read_text(encoding="utf-8") for path in load_bundle()}
    assert written == load_bundle_generator().generate(), "run `.venv/bin/python scripts/generate_superset.py`"


def test_every_part_of_the_bundle_is_there_once() -> None:
    files = load_bundle()
    assert files["metadata.yaml"]["type"] == "Dashboard"
    parts = {path: content for path, content in files.items() if path != "metadata.yaml"}
    identities = [content["uuid"] for content in parts.values()]
    assert len(set(identities)) == len(identities)
    assert all(content["version"] == "1.0.0" for content in parts.values())
    databases = {content["uuid"] for path, content in parts.items() if path.startswith("databases/")}
    datasets = {content["uuid"]: content for path, content in parts.items() if path.startswith("datasets/")}
    charts = {content["uuid"]: content for path, content in parts.items() if path.startswith("charts/")}
    assert {content["database_uuid"] for content in datasets.values()} == databases
    assert {content["dataset_uuid"] for content in charts.values()} == datasets.keys()
    for chart in charts.values():
        names = {column["column_name"] for column in datasets[chart["dataset_uuid"]]["columns"]}
        assert set(group_columns(chart["params"])) <= names
    position = files["dashboards/lineage.yaml"]["position"]
    placed = [part["meta"]["uuid"] for part in position.values() if isinstance(part, dict) and part["type"] == "CHART"]
    assert sorted(placed) == sorted(charts)
    # An import of a dashboard fails without the number of a chart, whatever it is.
    numbers = [
        part["meta"]["chartId"] for part in position.values() if isinstance(part, dict) and part["type"] == "CHART"
    ]
    assert sorted(numbers) == list(range(1, len(charts) + 1))
    children = [name for part in position.values() if isinstance(part, dict) for name in part.get("children", ())]
    assert set(children) == position.keys() - {"ROOT_ID", "HEADER_ID", "DASHBOARD_VERSION_KEY"}


@pytest.mark.pipeline
def test_the_query_of_every_chart_runs_on_the_marts(tmp_path: Path) -> None:
    built = run_dbt(tmp_path, publish_shop_history(tmp_path), command="run")
    files = load_bundle()
    tables = {content["uuid"]: content for path, content in files.items() if path.startswith("datasets/")}
    for path, chart in files.items():
        if path.startswith("charts/"):
            params = chart["params"]
            metric = params["metric"] if "metric" in params else params["metrics"][0]
            where = " and ".join(one["sqlExpression"] for one in params["adhoc_filters"]) or "true"
            by = ", ".join(f'"{name}"' for name in group_columns(params))
            table = tables[chart["dataset_uuid"]]
            built.query(
                f"select {by}, {metric['sqlExpression']} from marts.{table['table_name']} where {where} group by {by}"
            )
