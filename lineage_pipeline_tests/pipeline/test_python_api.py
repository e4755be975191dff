"""The Python API gives what its documentation promises."""

from pathlib import Path

import lineage_pipeline
from lineage_pipeline.api import analyze, diff, scan

DOCUMENT = (
    "schema_version statements objects columns column_edges object_edges diagnostics resolved_schema "
    "object_statements facets files summary"
).split()


def test_analyze_gives_the_documented_keys() -> None:
    document = analyze("create view core.v as select id from raw.t", schema={"raw.t": {"id": "int"}}).to_dict()
    assert list(document) == DOCUMENT
    assert document["column_edges"][0]["from_object"] == "raw.t"
    assert document["columns"][0] == {
        "object": "core.v",
        "ordinal": 1,
        "name": "id",
        "type": "INT",
        "nullable": True,
        "origin": "implied",
        "approximate": False,
        "path": "-",
        "statement": 0,
        "tags": (),
        "description": None,
        "written": "id",
    }


def test_byte_counts_add_up_to_the_statements() -> None:
    sql = "create view a as select 1 as x; select from where; grant select on a to b"
    summary = analyze(sql, dialect="postgres").to_dict()["summary"]
    assert summary["statements"] == {"analysed": 2, "partial": 0, "failed": 1}
    assert summary["bytes"]["analysed"] + summary["bytes"]["failed"] == len(sql) - len("; ") * 2


def test_scan_and_diff_over_folders(tmp_path: Path) -> None:
    for name, columns in (("base", "a, b"), ("head", "a")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "v.sql").write_text(f"create table t (a int, b int);\ncreate view v as select {columns} from t;\n")
        (folder / "w.sql").write_text("create view w as select a, b from v;\n")
    base, head = (scan(tmp_path / name, dialect="postgres") for name in ("base", "head"))
    changes = diff(base, head)
    assert [(change.rule, change.effective) for change in changes if change.root] == [("COL001", "BREAKING")]
    assert diff(head, head) == ()


def test_unknown_names_are_not_attributes() -> None:
    assert not hasattr(lineage_pipeline, "nothing")


def test_definitions_imply_no_schema_where_that_is_turned_off() -> None:
    sql = "create table t (a int, b int); create view v as select * from t"
    document = analyze(sql, dialect="postgres", allow_implied=False).to_dict()
    assert document["columns"] == []
    assert {row["object"]: row["origin"] for row in document["objects"]} == {"t": "unknown", "v": "unknown"}
    assert [finding["code"] for finding in document["diagnostics"]] == ["APPROXIMATE_LINEAGE"]


def test_stars_and_struct_members_keep_their_case() -> None:
    sql = "create table t (Id int, c struct<Foo:int,barBaz:string>); create view v as select *, c.* from t"
    columns = [row for row in analyze(sql, dialect="spark").lineage.columns if row.object == "v"]
    assert [row.written for row in columns] == ["Id", "c", "Foo", "barBaz"]
    assert columns[1].type == "STRUCT<Foo:INT,barBaz:STRING>"
