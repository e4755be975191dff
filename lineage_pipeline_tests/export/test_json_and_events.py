"""Exports of hand-made rows: JSON, OpenLineage events, reports and texts."""

import json
from typing import Any

import msgspec
import pytest

from lineage_pipeline.export.documents.lineage_json import (
    build_lineage_document,
    dump_json,
    read_lineage_document,
    write_lineage_json,
)
from lineage_pipeline.export.formats.lineage_formats import FORMATS, write_text_parts
from lineage_pipeline.export.openlineage.events import build_events
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model import enums, tables
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.lineage_rows import (
    ORDERS_LINEAGE,
    ORDERS_SQL,
    SHOP_NAMING,
    SHOP_SNAPSHOT,
    make_object,
    make_statement,
)

FILE = tables.SqlFile("a.sql", "", "tsql", "h", len(ORDERS_SQL), "utf-8", "", enums.Status.ANALYSED, ())


PARTS = [name for name, format in FORMATS.items() if format.parts is not None]
SUBJECT = Subject(ORDERS_LINEAGE, SHOP_SNAPSHOT, (FILE,), {"a.sql": ORDERS_SQL}, SHOP_NAMING)


def test_the_document_has_the_keys_of_the_contract() -> None:
    document = build_lineage_document(ORDERS_LINEAGE)
    keys = (
        "schema_version statements objects columns column_edges object_edges diagnostics resolved_schema "
        "object_statements facets files summary"
    )
    assert list(document) == keys.split()
    rows = {
        "statements": "path ordinal kind target targets parent reads preview span status complexity",
        "objects": "object kind origin level temporary open",
        "columns": "object ordinal name type nullable origin approximate",
        "column_edges": "from_object from_column to_object to_column type subtype masking approximate conditional "
        "expression path statement span from_span from_path hops",
        "object_edges": "from_object to_object kind path statement",
        "diagnostics": "id code severity message path line column object stage",
        "resolved_schema": "object origin source_statement updated_at temporary constraints columns",
    }
    assert [name for name, expected in rows.items() if set(expected.split()) - set(document[name][0])] == []
    assert document["summary"] == {
        "statements": {"analysed": 1, "partial": 0, "failed": 0},
        "bytes": {"analysed": len(ORDERS_SQL), "partial": 0, "failed": 0},
        "dropped_bytes": 0,
        "objects": 2,
        "columns": 5,
        "column_edges": 3,
        "diagnostics": {"error": 0, "warning": 1, "info": 0},
        "has_errors": False,
        "has_approximations": False,
        "dialects": [],
    }
    assert document["statements"][0]["span"]["end"] == len(ORDERS_SQL)


def _list_filters(document: dict[str, Any]) -> list[tuple[str, bool]]:
    edges = document["column_edges"]
    return [(one["to_column"], one["wide"]) for one in edges if one["subtype"] == "FILTER"]


def test_an_edge_of_a_whole_statement_is_one_row_and_expanded_one_for_each_column() -> None:
    assert _list_filters(build_lineage_document(ORDERS_LINEAGE)) == [("*", True)]
    assert _list_filters(build_lineage_document(ORDERS_LINEAGE, expand=True)) == [("id", True), ("mail", True)]


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_a_document_of_either_version_reads_back_as_the_same_lineage(version: int, expand: bool) -> None:
    document = build_lineage_document(ORDERS_LINEAGE, (FILE,), expand=expand) | {"schema_version": version}
    lineage, files = read_lineage_document(msgspec.json.encode(document), "a.json")
    assert [file.path for file in files] == [FILE.path]
    assert lineage.column_edges == ORDERS_LINEAGE.column_edges


def test_a_narrow_edge_beside_a_wide_one_between_the_same_columns_stays_apart() -> None:
    wide = next(edge for edge in ORDERS_LINEAGE.column_edges if edge.to_column == "*")
    both = (*ORDERS_LINEAGE.column_edges, msgspec.structs.replace(wide, to_column="id"))
    lineage = msgspec.structs.replace(ORDERS_LINEAGE, column_edges=both)
    document = build_lineage_document(lineage, expand=True)
    assert _list_filters(document) == [("id", True), ("mail", True), ("id", False)]
    assert read_lineage_document(msgspec.json.encode(document), "a.json")[0].column_edges == both


def test_a_document_that_would_be_too_large_is_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_pipeline.export.documents.lineage_json.MAX_EXPANDED_EDGES", 3)
    with pytest.raises(LineageError, match="4 column edges, more than 3"):
        write_lineage_json(SUBJECT, expand=True)
    assert "".join(write_lineage_json(SUBJECT))


@pytest.mark.parametrize("chunk", [1, 2, 2_000])
def test_the_document_is_the_same_in_parts_and_as_a_whole(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_pipeline.export.documents.lineage_json.CHUNK", chunk)
    parts = list(write_lineage_json(SUBJECT))
    assert json.loads("".join(parts)) == json.loads(dump_json(build_lineage_document(ORDERS_LINEAGE, (FILE,))))
    assert "".join(parts).endswith("\n}\n")
    empty = LineageTables()
    assert json.loads("".join(write_lineage_json(Subject(empty)))) == json.loads(
        dump_json(build_lineage_document(empty))
    )


def test_bytes_of_unreadable_files_are_counted() -> None:
    broken = msgspec.structs.replace(FILE, path="b.sql", bytes=7, status=enums.Status.FAILED)
    assert build_lineage_document(ORDERS_LINEAGE, (FILE, broken))["summary"]["bytes"]["failed"] == 7


@pytest.mark.parametrize("name", PARTS)
def test_every_exporter_writes_the_same_text_twice(name: str) -> None:
    first, second = ("".join(write_text_parts(name, SUBJECT)) for _ in range(2))
    assert first == second
    assert first.endswith("\n")


def test_every_exporter_accepts_an_empty_lineage() -> None:
    assert all(isinstance("".join(write_text_parts(name, Subject(LineageTables()))), str) for name in PARTS)


def test_an_event_says_what_is_read_written_and_computed() -> None:
    (event,) = build_events(SUBJECT)
    assert event["eventTime"] == "2026-01-02T03:04:05Z"
    assert event["schemaURL"].endswith("#/$defs/JobEvent")
    job = event["job"]
    assert (job["namespace"], job["name"]) == ("jobs", "shop.core.orders")
    assert job["facets"]["sql"]["query"] == ORDERS_SQL
    assert job["facets"]["sql"]["dialect"] == "tsql"
    location = job["facets"]["sourceCodeLocation"]
    assert (location["type"], location["url"], location["version"]) == ("git", "file:a.sql#L1-L2", "abc")
    assert [one["name"] for one in event["inputs"]] == ["shop.raw.orders"]
    (output,) = event["outputs"]
    assert output["namespace"] == "mssql://h:1433"
    assert output["facets"]["datasetType"]["datasetType"] == "VIEW"
    assert output["facets"]["schema"]["fields"] == [
        {"name": "id", "type": "INT", "ordinal_position": 1},
        {"name": "mail", "ordinal_position": 2},
    ]
    lineage = output["facets"]["columnLineage"]
    assert list(lineage["fields"]) == ["id", "mail"]
    (mail,) = lineage["fields"]["mail"]["inputFields"]
    assert (mail["namespace"], mail["name"], mail["field"]) == ("mssql://h:1433", "shop.raw.orders", "mail")
    assert mail["transformations"] == [
        {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "sha(mail)", "masking": True}
    ]
    assert [(one["field"], one["transformations"][0]["subtype"]) for one in lineage["dataset"]] == [("open", "FILTER")]


def test_definitions_queries_and_temporary_tables_are_not_jobs() -> None:
    lineage = LineageTables(
        statements=tuple(
            make_statement("a.sql", ordinal, kind, target, reads)
            for ordinal, (kind, target, reads) in enumerate(
                [("CREATE TABLE", "a.t", ()), ("SELECT", "query", ("a.t",)), ("CREATE TABLE", "a.tmp", ("a.t",))]
            )
        ),
        objects=(
            make_object("a.t", enums.ObjectKind.TABLE),
            make_object("query", enums.ObjectKind.QUERY),
            make_object("a.tmp", enums.ObjectKind.TEMP_TABLE, temporary=True),
        ),
        object_statements=tuple(
            tables.ObjectStatement(name, "a.sql", ordinal, enums.Role.DEFINE)
            for ordinal, name in enumerate(("a.t", "query", "a.tmp"))
        ),
    )
    (event,) = build_events(Subject(lineage))
    assert event["dataset"]["name"] == "shop.a.t"


def test_jobs_that_write_the_same_table_have_names_of_their_own() -> None:
    places = [("a.sql", 0), ("a.sql", 1), ("b.sql", 0)]
    lineage = LineageTables(
        statements=tuple(make_statement(path, ordinal, "INSERT", "a.t", ("a.s",)) for path, ordinal in places),
        objects=(make_object("a.s", enums.ObjectKind.TABLE), make_object("a.t", enums.ObjectKind.TABLE)),
        object_statements=tuple(
            tables.ObjectStatement("a.t", path, ordinal, enums.Role.WRITE) for path, ordinal in places
        ),
    )
    names = [event["job"]["name"] for event in build_events(Subject(lineage))]
    assert names == ["shop.a.t@a.sql#1", "shop.a.t@a.sql#2", "shop.a.t@b.sql"]


def test_the_text_of_a_lineage_reads_as_columns_and_what_feeds_them() -> None:
    text = "".join(write_text_parts("text", SUBJECT))
    assert "core.orders  (view)  a.sql:1\n  id    INT  <- raw.orders.id\n" in text
    assert "  mail  ?  <- raw.orders.mail (TRANSFORMATION)\n" in text
    assert "  all columns depend on raw.orders.open (FILTER)\n" in text
    assert "a.sql:2:5: warning: x is not known [UNKNOWN_TABLE]\n" in text
