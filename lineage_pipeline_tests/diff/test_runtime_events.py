"""OpenLineage events of real runs: read, merged into the static lineage, and compared with it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.discover.openlineage_events import read_openlineage_events
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline_tests.support.paths import ROOT

SQL = """
create table dbo.Orders (Id int, Amount int);
create table dbo.Totals (Amount int);
create procedure dbo.fill @table nvarchar(100) as begin
  declare @sql nvarchar(max) = 'insert into dbo.Totals select sum(Amount) from ' + @table;
  exec (@sql);
end
"""
SETTINGS = '[analysis]\ndialect = "tsql"\n[openlineage.namespaces]\ntsql = "mssql://db:1433"\n'
Answer = Callable[..., str]


def make_dataset(name: str, namespace: str = "mssql://db:1433", **facets: Any) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "facets": facets}


def make_field(name: str, column: str, subtype: str = "AGGREGATION", kind: str = "DIRECT") -> dict[str, Any]:
    used = [{"type": kind, "subtype": subtype, "description": "", "masking": False}]
    return {"namespace": "mssql://db:1433", "name": name, "field": column, "transformations": used}


def make_event(kind: str = "COMPLETE", run: str = "1", **more: Any) -> dict[str, Any]:
    job = {"namespace": "airflow", "name": "nightly.fill"}
    return {"eventType": kind, "eventTime": f"2026-01-0{run}T00:00:00Z", "run": {"runId": run}, "job": job} | more


RAN = make_event(
    inputs=[
        make_dataset("shop.dbo.orders", schema={"fields": [{"name": "Amount", "type": "int"}]}),
        make_dataset("exports/rates.csv", "s3://bucket", schema={"fields": [{"name": "rate", "type": "decimal(9,4)"}]}),
    ],
    outputs=[
        make_dataset(
            "shop.dbo.totals",
            columnLineage={
                "fields": {"amount": {"inputFields": [make_field("shop.dbo.orders", "Amount")]}},
                "dataset": [
                    make_field("shop.dbo.orders", "Id", "FILTER", "INDIRECT"),
                    make_field("exports/rates.csv", "rate", "JOIN", "INDIRECT") | {"namespace": "s3://bucket"},
                ],
            },
        )
    ],
)


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Answer:
    for name in [name for name in os.environ if name.startswith("LINEAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    Path("sql").mkdir()
    Path("sql/fill.sql").write_text(SQL)
    Path("lineage.toml").write_text(SETTINGS)
    Path("events.ndjson").write_text(json.dumps(RAN) + "\n")

    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert main(["import", "openlineage", *arguments]) == 0
        return capsys.readouterr().out

    return run


def test_runs_fill_what_dynamic_sql_hides_and_say_so(answer: Answer) -> None:
    document = json.loads(answer("events.ndjson", "sql", "--format", "json"))
    edges = {
        (row["from_object"], row["from_column"], row["to_object"], row["to_column"], row["subtype"], row["path"])
        for row in document["column_edges"]
    }
    assert ("dbo.orders", "amount", "dbo.totals", "amount", "AGGREGATION", "events.ndjson") in edges
    assert ('"s3://bucket"."exports/rates.csv"', "rate", "dbo.totals", "*", "JOIN", "events.ndjson") in edges
    origins = {row["object"]: row["origin"] for row in document["objects"]}
    assert origins['"s3://bucket"."exports/rates.csv"'] == "runtime"
    assert origins["dbo.orders"] == "implied"
    (rate,) = [row for row in document["columns"] if row["name"] == "rate"]
    assert (rate["type"], rate["origin"]) == ("DECIMAL(9,4)", "runtime")
    (job,) = [row for row in document["statements"] if row["path"] == "events.ndjson"]
    assert (job["kind"], job["preview"], job["features"]) == ("RUNTIME JOB", "airflow/nightly.fill", ["runtime"])
    assert ("dbo.orders", "dbo.totals") in {(row["from_object"], row["to_object"]) for row in document["object_edges"]}


def test_the_comparison_names_what_only_one_side_has(answer: Answer) -> None:
    Path("sql/more.sql").write_text("insert into dbo.Totals select Id from dbo.Orders;")
    text = answer("events.ndjson", "sql", "--compare")
    assert "only in statements: dbo.orders.id -> dbo.totals.amount (DIRECT)  more.sql#0\n" in text
    assert "only in runs: dbo.orders.amount -> dbo.totals.amount (DIRECT)  airflow/nightly.fill\n" in text
    assert 'only in runs: "s3://bucket"."exports/rates.csv" -> dbo.totals  airflow/nightly.fill\n' in text
    assert "between objects: 1 seen by both, 0 only in statements, 1 only in runs\n" in text
    document = json.loads(answer("events.ndjson", "sql", "--compare", "--format", "json"))
    assert (document["jobs"], document["tables"], document["columns"]) == (1, 1, 0)
    assert {row["seen"] for row in document["differences"]} == {"static", "runtime"}


@pytest.mark.parametrize("assets", ["retail", "marketing"])
@pytest.mark.parametrize("profile", ["job", "run"])
def test_our_own_events_agree_with_our_own_analysis(answer: Answer, assets: str, profile: str) -> None:
    source = str(ROOT / "sql_assets" / assets / "head")
    assert main(["export", "openlineage", source, "--profile", profile, "-o", "own.ndjson"]) == 0
    found = json.loads(answer("own.ndjson", source, "--compare", "--format", "json"))
    strange = [row for row in found["differences"] if row["seen"] == "runtime" and row["from_column"]]
    assert strange == []
    missing = [row for row in found["differences"] if row["seen"] == "static" and row["from_column"]]
    computed = {"retail.core.dim_date"}  # its own columns feed it, and to define it is no job
    assert {row["to_object"] for row in missing} <= computed
    assert found["columns"] > 90
    assert found["tables"] > 10


def test_events_alone_are_a_lineage(answer: Answer) -> None:
    document = json.loads(answer("events.ndjson", "--format", "json"))
    assert {row["origin"] for row in document["objects"]} == {"runtime"}
    assert len(document["column_edges"]) == 3


@pytest.mark.parametrize("form", ["lines", "list", "one"])
def test_events_are_read_as_lines_a_list_or_one(form: str) -> None:
    events = [RAN] if form == "one" else [make_event("START", inputs=[make_dataset("shop.dbo.early")]), RAN]
    text = json.dumps(RAN, indent=2) if form == "one" else json.dumps(events)
    if form == "lines":
        text = "\n".join(map(json.dumps, events))
    jobs, findings = read_openlineage_events("x", text.encode())
    assert findings == ()
    (job,) = jobs
    early = set() if form == "one" else {"shop.dbo.early"}
    assert {one.name[1] for one in job.inputs} == {"exports/rates.csv", "shop.dbo.orders"} | early
    assert len(job.flows) == 3


def test_failed_runs_are_ignored_and_invalid_events_are_findings() -> None:
    failed = make_event("RUNNING", "2", outputs=[make_dataset("shop.dbo.never")])
    lines = [json.dumps(RAN), "{", '{"eventTime": 3}', json.dumps(failed), json.dumps(make_event("FAIL", "2"))]
    jobs, findings = read_openlineage_events("x", "\n".join(lines).encode())
    assert [one.name[1] for one in jobs[0].outputs] == ["shop.dbo.totals"]
    assert [row.code for row in findings] == ["EVENT_INVALID", "EVENT_INVALID"]
    assert findings[0].message.startswith("line 2 is not an OpenLineage event: ")
    assert "eventTime" in findings[1].message


def test_deprecated_and_unknown_transformation_types_are_understood() -> None:
    old = {"inputFields": [{"namespace": "n", "name": "t", "field": "a"}], "transformationType": "MASKED"}
    new = {"inputFields": [make_field("t", "a", "SHUFFLE", "INDIRECT")]}
    told = make_event(outputs=[make_dataset("o", columnLineage={"fields": {"x": old, "y": new}})])
    (job,), _ = read_openlineage_events("x", json.dumps(told).encode())
    assert [(flow.type, flow.subtype, flow.masking) for flow in job.flows] == [
        (EdgeType.DIRECT, Subtype.TRANSFORMATION, True),
        (EdgeType.INDIRECT, Subtype.CONDITIONAL, False),
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["openlinage", "events.ndjson"], "did you mean openlineage?"),
        (["openlineage", "none.json"], "none.json: No such file or directory"),
        (["openlineage", "events.ndjson", "--compare"], "--compare needs the SQL"),
    ],
)
def test_wrong_use_is_told(answer: Answer, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert main(["import", *arguments]) == 2
    assert told in capsys.readouterr().err
