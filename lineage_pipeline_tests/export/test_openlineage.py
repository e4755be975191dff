"""OpenLineage events: valid by the official schemas and classes, named as configured, and sent once."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from lineage_pipeline.cli import main
from lineage_pipeline.export.openlineage.delivery import (
    DeliveryRetries,
    EventTarget,
    parse_target,
    send_events,
    send_with_backlog,
)
from lineage_pipeline.export.openlineage.facets import FACET_SCHEMAS
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.openlineage_consumers import parse_official_event, serve_events
from lineage_pipeline_tests.support.paths import ROOT

SPEC_DIR = os.environ.get("OPENLINEAGE_SPEC_DIR", "")
SETTINGS = """
[analysis]
dialect = "tsql"
default_catalog = "shop"
[openlineage]
job_namespace = "jobs"
[openlineage.namespaces]
tsql = "mssql://db.example:1433"
[[labels]]
objects = ["shop.dbo.*"]
tags = ["core"]
owners = ["team:sales"]
[[labels]]
objects = ["*"]
columns = ["mail"]
tags = ["pii"]
"""
SALES = """
create table dbo.Customers (Id int not null, Mail nvarchar(100));
go
create table dbo.Dropped (Id int);
go
create function dbo.f(@least int) returns table as return (select Id, Mail from dbo.Customers where Id > @least);
go
create view dbo.Mails as
select f.Id, hashbytes('sha2_256', f.Mail) as Mail, count(*) over (partition by f.Mail) as Same
from dbo.f(1) f join dbo.Orders o on o.Customer = f.Id
where o.Paid = 1;
go
create procedure dbo.fill as begin
  select Id into #kept from dbo.Customers;
  insert into dbo.Sink (Id) select Id from #kept order by Id;
  select from where;
end
"""
LATER = SALES.replace("create table dbo.Dropped (Id int);\ngo\n", "").replace("Mail nvarchar(100)", "Mail nvarchar(50)")
NESTED = """
create table lake.events (
  id bigint, who struct<name: string, mails: array<struct<mail: string>>>, seen map<string, int>
);
create view lake.names as select id, who.name as name from lake.events;
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("LINEAGE_", "OPENLINEAGE_API"))]:
        monkeypatch.delenv(name)
    for name, text in (("base", SALES), ("head", LATER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sales.sql").write_text(text)
        (tmp_path / name / "lineage.toml").write_text(SETTINGS)
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "events.sql").write_text(NESTED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def export(shop: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[Any]]:
    """Runs the command and gives its events."""

    def run(*arguments: str) -> list[Any]:
        capsys.readouterr()
        assert main(["export", "openlineage", *arguments]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


Export = Callable[..., list[Any]]
WAYS = [
    ["head"],
    ["head", "--base", "base"],
    ["head", "--profile", "run", "--base", "base"],
    ["head", "--indirect", "fields"],
    ["lake", "--dialect", "spark"],
    [str(ROOT / "sql_assets" / "retail" / "head"), "--base", str(ROOT / "sql_assets" / "retail" / "base")],
    [str(ROOT / "sql_assets" / "marketing" / "head"), "--profile", "run"],
]


@pytest.mark.parametrize("arguments", WAYS, ids=" ".join)
@pytest.mark.skipif(not SPEC_DIR, reason="OPENLINEAGE_SPEC_DIR is not set")
def test_events_and_each_facet_follow_the_official_schemas(export: Export, arguments: list[str]) -> None:
    schemas = [json.loads(file.read_text()) for file in sorted(Path(SPEC_DIR).rglob("*.json"))]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    checker = Draft202012Validator.FORMAT_CHECKER
    events = export(*arguments)
    for event in events:
        Draft202012Validator({"$ref": event["schemaURL"]}, registry=registry, format_checker=checker).validate(event)
        for _, facet in facets_of(event):
            schema = {"$ref": facet["_schemaURL"]}
            Draft202012Validator(schema, registry=registry, format_checker=checker).validate(facet)
    assert events


@pytest.mark.parametrize("arguments", WAYS, ids=" ".join)
def test_the_official_client_takes_and_emits_what_we_write(export: Export, arguments: list[str]) -> None:
    pytest.importorskip("openlineage.client")
    from openlineage.client import OpenLineageClient
    from openlineage.client.serde import Serde
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    events = export(*arguments)
    classes = [parse_official_event(event) for event in events]
    for event, made in zip(events, classes, strict=True):
        assert without_blanks(json.loads(Serde.to_json(made))) == without_blanks(event)
    with serve_events() as consumer:
        client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=consumer.address)))
        for made in classes[:3]:
            client.emit(made)
        assert [(event["eventTime"], event["schemaURL"]) for event in consumer.accepted_events] == [
            (event["eventTime"], event["schemaURL"]) for event in events[:3]
        ]


def without_blanks(value: Any) -> Any:
    """A value without the empty lists and mappings that the official classes add."""
    if isinstance(value, dict):
        kept = {key: without_blanks(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in ([], {})}
    return [without_blanks(item) for item in value] if isinstance(value, list) else value


def facets_of(event: Any) -> Iterator[tuple[str, Any]]:
    owners = (event.get("job"), event.get("run"), event.get("dataset"), *event.get("inputs", ()))
    for owner in (*owners, *event.get("outputs", ())):
        yield from (owner or {}).get("facets", {}).items()


def test_every_facet_that_we_know_is_written_somewhere(export: Export) -> None:
    ways = (["head", "--profile", "run", "--base", "base"], ["lake", "--dialect", "spark"])
    found = {name for way in ways for event in export(*way) for name, _ in facets_of(event)}
    described = {"documentation", "job ownership"}  # what only a description or a file of owners brings
    assert set(FACET_SCHEMAS) - found - described - {"extractionError"} == set()


def test_modules_that_give_rows_are_datasets_and_their_parameters_are_not(export: Export) -> None:
    jobs = {event["job"]["name"]: event for event in export("head") if "job" in event}
    assert [one["name"] for one in jobs["shop.dbo.f"]["inputs"]] == ["shop.dbo.customers"]
    assert [one["name"] for one in jobs["shop.dbo.mails"]["inputs"]] == ["shop.dbo.f", "shop.dbo.orders"]
    (function,) = jobs["shop.dbo.f"]["outputs"]
    assert [field["name"] for field in function["facets"]["schema"]["fields"]] == ["Id", "Mail"]
    assert [one["name"] for one in jobs["shop.dbo.fill.shop.dbo.sink"]["inputs"]] == ["shop.dbo.customers"]


def test_lineage_has_transformations_masking_and_what_decides_about_the_dataset(export: Export) -> None:
    jobs = {event["job"]["name"]: event for event in export("head") if "job" in event}
    facet = jobs["shop.dbo.mails"]["outputs"][0]["facets"]["columnLineage"]
    (mail,) = facet["fields"]["Mail"]["inputFields"]
    assert mail["transformations"] == [
        {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True, "description": "hashbytes('sha2_256', f.Mail)"}
    ]
    (same,) = facet["fields"]["Same"]["inputFields"]
    assert {use["subtype"] for use in same["transformations"]} == {"WINDOW"}
    decides = {(one["field"], use["subtype"]) for one in facet["dataset"] for use in one["transformations"]}
    assert decides == {("Id", "JOIN"), ("customer", "JOIN"), ("paid", "FILTER")}  # nothing spells Orders


def test_indirect_inputs_can_be_on_each_column_or_omitted(export: Export) -> None:
    for way, columns in (("fields", {"Id", "Mail", "Same"}), ("none", set())):
        jobs = {event["job"]["name"]: event for event in export("head", "--indirect", way) if "job" in event}
        facet = jobs["shop.dbo.mails"]["outputs"][0]["facets"]["columnLineage"]
        assert "dataset" not in facet
        told = {
            name
            for name, field in facet["fields"].items()
            for one in field["inputFields"]
            if any(use["subtype"] == "FILTER" for use in one["transformations"])
        }
        assert told == columns


def test_a_schema_has_ordinals_and_the_fields_inside_of_fields(export: Export) -> None:
    (event,) = export("lake", "--dialect", "spark")
    fields = event["inputs"][0]["facets"]["schema"]["fields"]
    assert [(field["name"], field["ordinal_position"]) for field in fields] == [("id", 1), ("who", 2), ("seen", 3)]
    name, mails = fields[1]["fields"]
    assert (name["name"].lower(), name["type"]) == ("name", "STRING")
    (element,) = mails["fields"]
    assert (element["name"], [field["name"].lower() for field in element["fields"]]) == ("_element", ["mail"])
    assert [field["name"] for field in fields[2]["fields"]] == ["key", "value"]


def test_names_tags_owners_and_versions_of_a_dataset(export: Export) -> None:
    jobs = {event["job"]["name"]: event for event in export("head") if "job" in event}
    (customers,) = jobs["shop.dbo.f"]["inputs"]
    facets = customers["facets"]
    assert (customers["namespace"], customers["name"]) == ("mssql://db.example:1433", "shop.dbo.customers")
    assert facets["symlinks"]["identifiers"] == [
        {"namespace": "mssql://db.example:1433", "name": "shop.dbo.Customers", "type": "TABLE"}
    ]
    assert facets["tags"]["tags"] == [
        {"key": "core", "value": "true"},
        {"key": "pii", "value": "true", "field": "Mail"},
    ]
    assert facets["ownership"]["owners"] == [{"name": "team:sales"}]
    assert [level["type"] for level in facets["hierarchy"]["hierarchy"]] == ["DATABASE", "SCHEMA", "TABLE"]
    before = {event["job"]["name"]: event for event in export("base") if "job" in event}
    version = before["shop.dbo.f"]["inputs"][0]["facets"]["version"]
    assert version != facets["version"]
    kept = {name: jobs[name]["outputs"][0]["facets"]["version"] == event["outputs"][0]["facets"]["version"]
            for name, event in before.items() if event["outputs"]}  # fmt: skip
    assert kept == {"shop.dbo.f": False, "shop.dbo.mails": True, "shop.dbo.fill.shop.dbo.sink": True}


def test_a_table_that_no_job_reads_or_fills_is_an_event_with_its_schema(export: Export) -> None:
    for profile in ("job", "run"):
        (lone,) = [event for event in export("base", "--profile", profile) if "dataset" in event]
        assert lone["dataset"]["name"] == "shop.dbo.dropped"
        assert [field["name"] for field in lone["dataset"]["facets"]["schema"]["fields"]] == ["Id"]


def test_statements_of_a_procedure_are_jobs_inside_its_job(export: Export) -> None:
    jobs = {event["job"]["name"]: event for event in export("head") if "job" in event}
    assert (jobs["shop.dbo.fill"]["inputs"], jobs["shop.dbo.fill"]["outputs"]) == ([], [])
    assert jobs["shop.dbo.fill"]["job"]["facets"]["sql"]["query"].startswith("create procedure dbo.fill")
    runs = [event for event in export("head", "--profile", "run") if event.get("job", {}).get("name", "").count("fill")]
    around, inside = "shop.dbo.fill", "shop.dbo.fill.shop.dbo.sink"
    assert [(event["eventType"], event["job"]["name"]) for event in runs] == [
        ("START", around), ("START", inside), ("COMPLETE", inside), ("COMPLETE", around),
    ]  # fmt: skip
    for event in runs[1:3]:
        parent = event["run"]["facets"]["parent"]
        assert (parent["run"]["runId"], parent["job"]["name"]) == (runs[0]["run"]["runId"], around)


def test_with_a_base_each_dataset_has_its_lifecycle_change(export: Export, shop: Path) -> None:
    moved = LATER.replace("dbo.Sink", "dbo.Store") + "go\ncreate view dbo.News as select 1 as a"
    (shop / "head" / "sales.sql").write_text(moved)
    states = {}
    for event in export("head", "--base", "base"):
        for owner in (*event.get("outputs", ()), *filter(None, [event.get("dataset")])):
            told = owner["facets"].get("lifecycleStateChange")
            if told:
                states[owner["name"]] = (told["lifecycleStateChange"], told.get("previousIdentifier", {}).get("name"))
    assert states["shop.dbo.dropped"] == ("DROP", None)
    assert states["shop.dbo.customers"] == ("ALTER", None)
    assert states["shop.dbo.news"] == ("CREATE", None)
    assert states["shop.dbo.store"] == ("RENAME", "shop.dbo.sink")


def test_a_run_starts_and_completes_under_an_id_that_does_not_change(export: Export) -> None:
    events = [event for event in export("head", "--profile", "run") if "run" in event]
    for number in {event["run"]["runId"] for event in events}:
        assert [event["eventType"] for event in events if event["run"]["runId"] == number] == ["START", "COMPLETE"]
    ids = [event["run"]["runId"] for event in events]
    assert len(set(ids)) == len(ids) // 2
    for side, same in (("head", True), ("base", False)):
        again = [event["run"]["runId"] for event in export(side, "--profile", "run") if "run" in event]
        assert (again == ids) is same


def test_the_time_is_that_of_the_commit_else_the_given_one_else_the_epoch(export: Export, shop: Path) -> None:
    assert {event["eventTime"] for event in export("head")} == {"1970-01-01T00:00:00Z"}
    given = export("head", "--event-time", "2026-01-31T12:00:00+00:00")
    assert {event["eventTime"] for event in given} == {"2026-01-31T12:00:00Z"}
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    stamp = {"GIT_AUTHOR_DATE": "2026-02-03T04:05:06Z", "GIT_COMMITTER_DATE": "2026-02-03T04:05:06Z"}
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run([*git, *words], cwd=shop / "head", check=True, env=os.environ | stamp)
    events = export("head@HEAD", "--event-time", "2027-01-01T00:00:00Z")
    assert {event["eventTime"] for event in events} == {"2026-02-03T04:05:06Z"}
    assert events[0]["job"]["facets"]["sourceCodeLocation"]["type"] == "git"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["openlinage"], "there is no format openlinage; did you mean openlineage?"),
        (["openlineage", "nowhere"], "nowhere is neither a folder nor a file"),
        (["openlineage", "head", "--event-time", "yesterday"], "a time with its zone, such as"),
        (["openlineage", "head", "--event-time", "2026-01-01T00:00:00"], "a time with its zone, such as"),
        (["openlineage", "head", "--url", "ftp://x"], "ftp://x is not an address that events can be sent to"),
        (["openlineage", "head", "--url", "http://u:secret@h"], "put the key into OPENLINEAGE_API_KEY"),
    ],
)
def test_wrong_use_is_told(shop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert main(["export", *arguments]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""
    assert "secret" not in shown.err


def test_a_namespace_that_nobody_configured_is_the_systems_name_with_a_warning(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "openlineage", "lake", "--dialect", "spark"]) == 0
    shown = capsys.readouterr()
    assert "the namespace of spark is not configured" in shown.err
    assert json.loads(shown.out)["outputs"][0]["namespace"] == "spark"
    assert main(["export", "openlineage", "head"]) == 0
    assert capsys.readouterr().err == ""


def test_each_job_can_have_a_file_of_its_own(export: Export, shop: Path) -> None:
    strange = 'create view dbo.[../a b"<] as select 1 as x;\ngo\ncreate view dbo.[../A b"<] as select 2 as x;\ngo\n'
    (shop / "head" / "a.sql").write_text(strange.replace("dbo.[../A", "dbo2.[../A"))
    expected = export("head")
    assert export("head", "--per-job", "jobs") == []
    files = sorted((shop / "jobs").iterdir())
    written = [json.loads(file.read_text()) for file in files]
    assert sorted(event["job"]["name"] for event in written) == sorted(event["job"]["name"] for event in expected)
    assert all(file.suffix == ".json" and file.parent == shop / "jobs" for file in files)


def test_the_same_bytes_whatever_the_hash_seed_the_zone_and_the_locale(shop: Path) -> None:
    command = [sys.executable, "-m", "lineage_pipeline.cli", "export", "openlineage", "head", "--base", "base"]
    odd = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONUTF8": "0"}
    plain = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    shown = [
        subprocess.run(command, capture_output=True, check=True, env=os.environ | more | {"PYTHONPATH": str(ROOT)})
        for more in (odd, plain)
    ]
    assert shown[0].stdout == shown[1].stdout != b""


def test_a_consumer_gets_each_event_once_with_the_key_also_after_it_was_down(
    export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = export("head")
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "k1")
    monkeypatch.setattr("lineage_pipeline.export.openlineage.delivery.time.sleep", lambda _: None)
    with serve_events(201, 503, 0, 429) as consumer:
        assert export("head", "--url", consumer.address) == []
        assert consumer.accepted_events == expected
        assert [answer for *_, answer in consumer.requests] == [201, 503, 0, 429] + [201] * (len(expected) - 1)
        assert {path for path, *_ in consumer.requests} == {"/api/v1/lineage"}
        assert {headers["Authorization"] for _, headers, *_ in consumer.requests} == {"Bearer k1"}


def test_rejected_events_are_kept_and_sent_first_next_time(
    shop: Path, export: Export, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = export("head")
    monkeypatch.setattr("lineage_pipeline.export.openlineage.delivery.time.sleep", lambda _: None)
    with serve_events(201, *[503] * 6) as consumer:
        command = ["export", "openlineage", "head", "--url", consumer.address]
        assert main(command) == 2
        assert f"1 were taken; {len(expected) - 1} are kept in {shop}/.lineage/unsent/" in capsys.readouterr().err
        assert consumer.accepted_events == expected[:1]
        assert export("head", "--url", consumer.address) == []
        assert consumer.accepted_events == expected, "nothing twice, nothing lost, in order"
        assert list((shop / ".lineage" / "unsent").iterdir()) == []
        assert export("lake", "--dialect", "spark", "--url", consumer.address) == []
        assert len(consumer.accepted_events) > len(expected)


def test_what_waits_is_sent_before_other_events(tmp_path: Path) -> None:
    with serve_events(201, 503) as consumer:
        target = EventTarget(consumer.address, patience=DeliveryRetries(tries=1))
        with pytest.raises(LineageError, match="1 were taken"):
            send_with_backlog(['{"a": 1}', '{"a": 2}', '{"a": 3}'], target, tmp_path)
        assert send_with_backlog(['{"b": 1}'], target, tmp_path) == 3
        assert consumer.accepted_events == [{"a": 1}, {"a": 2}, {"a": 3}, {"b": 1}]


def test_a_consumer_that_never_answers_times_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        target = EventTarget(
            f"http://127.0.0.1:{silent.getsockname()[1]}", patience=DeliveryRetries(tries=1, timeout=0.3)
        )
        sending = pool.submit(send_with_backlog, ['{"a": 1}'], target, tmp_path)
        try:
            with pytest.raises(LineageError, match="timed out"):
                sending.result(20)
        finally:
            silent.close()  # or whoever waits would wait for ever
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(("answer", "said"), [(400, "400 Bad Request"), (302, "302 Found")])
def test_an_event_that_is_refused_is_not_sent_again_nor_elsewhere(answer: int, said: str) -> None:
    with serve_events(201, answer) as consumer:
        with pytest.raises(LineageError, match=rf"did not take event 2: {said}.*; 1 were taken"):
            send_events(["1", "2", "3"], parse_target(consumer.address + "/in"))
        assert [(path, body) for path, _, body, _ in consumer.requests] == [("/in", "1"), ("/in", "2")]


def test_a_consumer_that_stays_down_is_given_up_after_growing_pauses() -> None:
    pauses: list[float] = []
    with serve_events(*[503] * 9) as consumer:
        target = EventTarget(consumer.address, patience=DeliveryRetries(tries=5, pause=1.0, longest=3.0))
        with pytest.raises(LineageError, match="after 5 tries: 503"):
            send_events(["1"], target, pauses.append)
        assert len(consumer.requests) == 5
    assert pauses == [1.0, 2.0, 3.0, 3.0]
