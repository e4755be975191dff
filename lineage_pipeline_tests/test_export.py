"""Exports of hand-made rows: JSON, OpenLineage events, reports and texts."""

from typing import Any

import msgspec
import pytest

from lineage_pipeline.export.documents.lineage_json import build_lineage_document, dump_json, write_lineage_json
from lineage_pipeline.export.formats.lineage_formats import FORMATS, write_text_parts
from lineage_pipeline.export.openlineage.events import build_events
from lineage_pipeline.export.subject import OpenLineageNaming, Subject
from lineage_pipeline.model import enums, tables
from lineage_pipeline.model.analysis import LineageTables

TEXT = "create view core.orders as\nselect id, sha(mail) as mail from raw.orders where open"
SPAN = tables.Span(1, 1, 2, 56, 0, len(TEXT))


def table(name: str, kind: enums.ObjectKind, **changes: Any) -> tables.ObjectRow:
    schema, _, last = name.partition(".")
    row = tables.ObjectRow(
        name, "", "shop", schema, last, last, kind, enums.Origin.IMPLIED, 0, False, False, None, None, (), ()
    )
    return msgspec.structs.replace(row, **changes)


def column(name: str, ordinal: int, kind: str | None = "INT") -> tables.Column:
    owner, _, last = name.rpartition(".")
    return tables.Column(owner, ordinal, last, last, kind, True, enums.Origin.IMPLIED, False, "a.sql", 0, (), None)


def edge(source: str, target: str, subtype: enums.Subtype, **changes: Any) -> tables.ColumnEdge:
    (from_object, _, from_column), (to_object, _, to_column) = source.rpartition("."), target.rpartition(".")
    kind = enums.EdgeType.INDIRECT if subtype in (enums.Subtype.FILTER, enums.Subtype.JOIN) else enums.EdgeType.DIRECT
    row = tables.ColumnEdge(
        "a.sql", 0, from_object, from_column, None, to_object, to_column, kind, subtype,
        False, False, False, from_column, None, None, (), (),
    )  # fmt: skip
    return msgspec.structs.replace(row, **changes)


def statement(path: str, ordinal: int, kind: str, target: str | None, reads: tuple[str, ...]) -> tables.StatementRow:
    targets = (target,) if target else ()
    return tables.StatementRow(
        path,
        ordinal,
        None,
        kind,
        target,
        targets,
        reads,
        TEXT[:100],
        "f",
        SPAN,
        len(TEXT),
        enums.Status.ANALYSED,
        3,
        (),
    )


LINEAGE = LineageTables(
    statements=(statement("a.sql", 0, "CREATE VIEW", "core.orders", ("raw.orders",)),),
    objects=(
        table("core.orders", enums.ObjectKind.VIEW, path="a.sql", line=1, level=1),
        table("raw.orders", enums.ObjectKind.TABLE, origin=enums.Origin.IMPORTED),
    ),
    object_statements=(
        tables.ObjectStatement("core.orders", "a.sql", 0, enums.Role.DEFINE),
        tables.ObjectStatement("raw.orders", "a.sql", 0, enums.Role.READ),
    ),
    object_edges=(
        tables.ObjectEdge("raw.orders", "core.orders", enums.EdgeKind.READ, (tables.StatementRef("a.sql", 0),)),
    ),
    columns=(
        column("core.orders.id", 1),
        column("core.orders.mail", 2, None),
        column("raw.orders.id", 1),
        column("raw.orders.mail", 2, "VARCHAR(10)"),
        column("raw.orders.open", 3),
    ),
    column_edges=(
        edge("raw.orders.id", "core.orders.id", enums.Subtype.IDENTITY),
        edge("raw.orders.mail", "core.orders.mail", enums.Subtype.TRANSFORMATION, masking=True, expression="sha(mail)"),
        edge("raw.orders.open", "core.orders.*", enums.Subtype.FILTER),
    ),
    diagnostics=(
        tables.Diagnostic(
            "1", "UNKNOWN_TABLE", enums.Level.WARNING, "x is not known", "a.sql", 2, 5, None, enums.Stage.OBJECT_GRAPH
        ),
    ),
)
SNAPSHOT = tables.Snapshot("shop", ("main",), "abc", (), None, "none", "2026-01-02T03:04:05Z", "x", 1, "k")
FILE = tables.SqlFile("a.sql", "", "tsql", "h", len(TEXT), "utf-8", "", enums.Status.ANALYSED, ())
NAMING = OpenLineageNaming({"": "mssql://h:1433"}, "jobs", "https://example.org/lineage")
PARTS = [name for name, format in FORMATS.items() if format.parts is not None]
SUBJECT = Subject(LINEAGE, SNAPSHOT, (FILE,), {"a.sql": TEXT}, NAMING)


def test_the_document_has_the_keys_of_the_contract() -> None:
    document = build_lineage_document(LINEAGE)
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
        "bytes": {"analysed": len(TEXT), "partial": 0, "failed": 0},
        "dropped_bytes": 0,
        "objects": 2,
        "columns": 5,
        "column_edges": 3,
        "diagnostics": {"error": 0, "warning": 1, "info": 0},
        "has_errors": False,
        "has_approximations": False,
    }
    assert document["statements"][0]["span"]["end"] == len(TEXT)


def test_an_edge_into_the_whole_statement_goes_into_each_of_its_columns() -> None:
    edges = build_lineage_document(LINEAGE)["column_edges"]
    filters = [one["to_column"] for one in edges if one["subtype"] == "FILTER"]
    assert filters == ["id", "mail"]


@pytest.mark.parametrize("chunk", [1, 2, 2_000])
def test_the_document_is_the_same_in_parts_and_as_a_whole(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_pipeline.export.documents.lineage_json.CHUNK", chunk)
    parts = list(write_lineage_json(SUBJECT))
    assert "".join(parts) == dump_json(build_lineage_document(LINEAGE, (FILE,)))
    empty = LineageTables()
    assert "".join(write_lineage_json(Subject(empty))) == dump_json(build_lineage_document(empty))


def test_bytes_of_unreadable_files_are_counted() -> None:
    broken = msgspec.structs.replace(FILE, path="b.sql", bytes=7, status=enums.Status.FAILED)
    assert build_lineage_document(LINEAGE, (FILE, broken))["summary"]["bytes"]["failed"] == 7


@pytest.mark.parametrize("name", PARTS)
def test_every_exporter_writes_the_same_text_twice(name: str) -> None:
    first, second = ("".join(write_text_parts(name, SUBJECT)) for _ in range(2))
    assert first == second
    assert first.endswith("\n")


def test_every_exporter_takes_nothing_at_all() -> None:
    assert all(isinstance("".join(write_text_parts(name, Subject(LineageTables()))), str) for name in PARTS)


def test_an_event_says_what_is_read_written_and_computed() -> None:
    (event,) = build_events(SUBJECT)
    assert event["eventTime"] == "2026-01-02T03:04:05Z"
    assert event["schemaURL"].endswith("#/$defs/JobEvent")
    job = event["job"]
    assert (job["namespace"], job["name"]) == ("jobs", "shop.core.orders")
    assert job["facets"]["sql"]["query"] == TEXT
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


def test_bare_definitions_queries_and_temporary_tables_are_no_jobs() -> None:
    lineage = LineageTables(
        statements=tuple(
            statement("a.sql", ordinal, kind, target, reads)
            for ordinal, (kind, target, reads) in enumerate(
                [("CREATE TABLE", "a.t", ()), ("SELECT", "query", ("a.t",)), ("CREATE TABLE", "a.tmp", ("a.t",))]
            )
        ),
        objects=(
            table("a.t", enums.ObjectKind.TABLE),
            table("query", enums.ObjectKind.QUERY),
            table("a.tmp", enums.ObjectKind.TEMP_TABLE, temporary=True),
        ),
        object_statements=tuple(
            tables.ObjectStatement(name, "a.sql", ordinal, enums.Role.DEFINE)
            for ordinal, name in enumerate(("a.t", "query", "a.tmp"))
        ),
    )
    assert list(build_events(Subject(lineage))) == []


def test_jobs_that_write_the_same_table_have_names_of_their_own() -> None:
    places = [("a.sql", 0), ("a.sql", 1), ("b.sql", 0)]
    lineage = LineageTables(
        statements=tuple(statement(path, ordinal, "INSERT", "a.t", ("a.s",)) for path, ordinal in places),
        objects=(table("a.s", enums.ObjectKind.TABLE), table("a.t", enums.ObjectKind.TABLE)),
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
