"""Writes a dashboard that Superset imports: one database, a dataset for each mart that is charted, charts, a layout.

`python scripts/generate_superset.py` writes `dbt_project/superset`; `--zip FILE --marts FILE` packs it for an import.
"""

import argparse
import sys
import uuid
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "dbt_project" / "superset"
MARTS = ROOT / "dbt_project" / "models" / "marts"
PLACE = "/absolute/path/.lineage/warehouse.duckdb"
VERSION = "1.0.0"
SPACE = uuid.UUID("6f1f2c1e-0f0b-5a53-9d5c-2f6f1f8b8c11")
TYPES = {"string": "VARCHAR", "bigint": "BIGINT", "boolean": "BOOLEAN", "double": "DOUBLE", "timestamp": "TIMESTAMP"}


BARS, LINES, TIME = "echarts_timeseries_bar", "echarts_timeseries_line", "committed_at"


class Chart(NamedTuple):
    """A chart: what it shows of which mart, grouped by what, and what the number is called."""

    title: str
    mart: str
    kind: str
    by: tuple[str, ...]
    value: str
    label: str
    only: str = "is_latest"


CHARTS = (
    Chart("Blast radius", "blast_radius", BARS, ("object",), "MAX(downstream_columns)", "downstream columns"),
    Chart("Critical objects", "object_criticality", BARS, ("object",), "MAX(score)", "criticality", only=""),
    Chart("Unused columns", "unused_columns", BARS, ("object",), "COUNT(*)", "unused columns"),
    Chart(
        "Breaking changes over time",
        "breaking_trend",
        LINES,
        (TIME, "rule"),
        "SUM(breaking)",
        "breaking changes",
        only="",
    ),
    Chart("Coverage", "lineage_coverage", "table", ("dialect",), "AVG(analysed_share)", "share of statements analyzed"),
    Chart("Where tagged values flow", "pii_flow", BARS, ("tag",), "COUNT(*)", "columns with the tag"),
    Chart("Stars and positional inserts", "star_usage", "pie", ("feature",), "COUNT(*)", "statements"),
    Chart(
        "Stale objects",
        "stale_objects",
        "table",
        ("object",),
        "MAX(snapshots_since_change)",
        "snapshots unchanged",
        only="",
    ),
    Chart("Findings", "diagnostics", BARS, ("code",), "COUNT(*)", "findings"),
    Chart(
        "What came and went",
        "lineage_history",
        LINES,
        (TIME, "event"),
        "COUNT(*)",
        "elements",
        only="event <> 'first seen'",
    ),
)


def generate(marts: str = PLACE) -> dict[str, str]:
    """Give the files of the bundle by their paths."""
    files: dict[str, Any] = {
        "metadata.yaml": {"version": VERSION, "type": "Dashboard", "timestamp": "2026-01-01T00:00:00+00:00"},
        "databases/lineage.yaml": _database(marts),
        "dashboards/lineage.yaml": _dashboard(),
    }
    for mart in sorted({chart.mart for chart in CHARTS}):
        files[f"datasets/lineage/{mart}.yaml"] = _dataset(mart)
    for chart in CHARTS:
        files[f"charts/{_slug(chart.title)}.yaml"] = _chart(chart)
    return {path: yaml.safe_dump(content, sort_keys=False, width=110) for path, content in files.items()}


def _id(*parts: str) -> str:
    return str(uuid.uuid5(SPACE, "/".join(parts)))


def _slug(title: str) -> str:
    return title.lower().replace(" ", "_")


def _database(marts: str) -> dict[str, Any]:
    return {
        "database_name": "lineage",
        "sqlalchemy_uri": f"duckdb:///{marts}?access_mode=read_only",
        "cache_timeout": None,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "extra": {"allows_virtual_table_explore": True},
        "uuid": _id("database"),
        "version": VERSION,
    }


def _described(mart: str) -> dict[str, Any]:
    model: dict[str, Any] = yaml.safe_load((MARTS / f"{mart}.yml").read_text(encoding="utf-8"))["models"][0]
    return model


def _dataset(mart: str) -> dict[str, Any]:
    model = _described(mart)
    names = [column["name"] for column in model["columns"]]
    return {
        "table_name": mart,
        "main_dttm_col": "committed_at" if "committed_at" in names else None,
        "description": " ".join(model["description"].split()),
        "offset": 0,
        "cache_timeout": None,
        "schema": "marts",
        "sql": None,
        "params": None,
        "filter_select_enabled": True,
        "uuid": _id("dataset", mart),
        "metrics": [{"metric_name": "count", "expression": "COUNT(*)", "metric_type": "count"}],
        "columns": [
            {
                "column_name": column["name"],
                "is_dttm": column["data_type"] == "timestamp",
                "is_active": True,
                "type": TYPES.get(column["data_type"], column["data_type"].upper()),
                "groupby": True,
                "filterable": True,
                "description": " ".join(column["description"].split()),
            }
            for column in model["columns"]
        ],
        "version": VERSION,
        "database_uuid": _id("database"),
    }


def _chart(chart: Chart) -> dict[str, Any]:
    metric = {"expressionType": "SQL", "sqlExpression": chart.value, "label": chart.label}
    filters = [{"expressionType": "SQL", "clause": "WHERE", "sqlExpression": chart.only}] if chart.only else []
    grouped: dict[str, Any] = {"groupby": [*chart.by]}
    if chart.kind in (BARS, LINES):
        grouped = {"x_axis": chart.by[0], "groupby": [*chart.by[1:]]}
    if chart.kind == BARS:  # the longest bar first, and room for whole names
        grouped |= {
            "orientation": "horizontal",
            "x_axis_sort": chart.label,
            "x_axis_sort_asc": True,
            "show_value": True,
        }
    if chart.kind == LINES:
        grouped |= {"time_grain_sqla": "P1D", "markerEnabled": True}
    shown: dict[str, Any] = {"metric": metric} if chart.kind == "pie" else {"metrics": [metric]}
    return {
        "slice_name": chart.title,
        "viz_type": chart.kind,
        "params": {
            "viz_type": chart.kind,
            **grouped,
            **shown,
            "adhoc_filters": filters,
            "row_limit": 30,
            "time_range": "No filter",
        },
        "cache_timeout": None,
        "uuid": _id("chart", chart.title),
        "version": VERSION,
        "dataset_uuid": _id("dataset", chart.mart),
    }


def _dashboard() -> dict[str, Any]:
    rows = [CHARTS[place : place + 2] for place in range(0, len(CHARTS), 2)]
    position: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": [], "parents": ["ROOT_ID"]},
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": "Lineage"}},
    }
    for number, row in enumerate(rows, 1):
        name = f"ROW-{number}"
        parents = ["ROOT_ID", "GRID_ID"]
        inside = [f"CHART-{_slug(chart.title)}" for chart in row]
        position["GRID_ID"]["children"].append(name)
        background = {"background": "BACKGROUND_TRANSPARENT"}
        position[name] = {"type": "ROW", "id": name, "children": inside, "parents": parents, "meta": background}
        for chart, key in zip(row, inside, strict=True):
            # Superset numbers charts anew, but does not import a dashboard whose charts have no number.
            known = {"chartId": CHARTS.index(chart) + 1, "uuid": _id("chart", chart.title)}
            shown = {**known, "sliceName": chart.title, "width": 6, "height": 50}
            position[key] = {"type": "CHART", "id": key, "children": [], "parents": [*parents, name], "meta": shown}
    return {
        "dashboard_title": "Lineage",
        "description": "What a change would take with it, what breaks, what nobody reads, how much was understood.",
        "css": "",
        "slug": "lineage",
        "uuid": _id("dashboard"),
        "position": position,
        "metadata": {},
        "version": VERSION,
    }


def main() -> int:
    """Write the files, or pack them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zip", type=Path, metavar="FILE", help="pack the bundle for an import")
    parser.add_argument("--marts", default=PLACE, metavar="FILE", help="the DuckDB file, as Superset's machine has it")
    options = parser.parse_args()
    files = generate(options.marts)
    if options.zip:
        with zipfile.ZipFile(options.zip, "w") as bundle:
            for path, text in files.items():
                bundle.writestr(f"lineage/{path}", text)
        return 0
    for path, text in files.items():
        place = TARGET / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
