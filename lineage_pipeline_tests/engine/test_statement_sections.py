"""Statements split into sections: their order, their nesting, exact slices, and sections that really run."""

import csv
import io
import json
from pathlib import Path

import pytest

from lineage_pipeline.api import dissect
from lineage_pipeline.cli import main
from lineage_pipeline.model.components import ComponentKind
from lineage_pipeline_tests.support.paths import ROOT

TABLES = "create table t (id int, v int); create table u (id int, w int); create table m (id int, v int);"
QUERIES = {
    "ctes come first, then the main query with its WITH": (
        "with a as (select id from t), b as (select id from a) select b.id from b",
        "CTE a, CTE b, MAIN_QUERY",
    ),
    "a CTE is followed by what is inside it": (
        "with a as (select id, (select max(w) from u) as x from (select id from t) q) select * from a",
        "CTE a, SUBQUERY q <0, SCALAR_SUBQUERY x <0, MAIN_QUERY",
    ),
    "branches of a set operation, nested ones opened": (
        "select id from t union all (select id from u union select 1) order by 1",
        "MAIN_QUERY, UNION_BRANCH branch_1 <0, UNION_BRANCH branch_2 <0, UNION_BRANCH branch_3 <0",
    ),
    "sources of rows before sources of values, depth first": (
        "select (select max(w) from u) as x from (select id from (select id from t) r) q "
        "where q.id in (select id from u)",
        "MAIN_QUERY, SUBQUERY q <0, SUBQUERY r <1, SCALAR_SUBQUERY x <0, SCALAR_SUBQUERY <0",
    ),
    "target and source of an insert, its CTEs first": (
        "insert into m with c as (select id, v from t) select * from c",
        "CTE c, TARGET_TABLE m, SOURCE_QUERY",
    ),
    "target and source of a table made of a query": (
        "create table n as select id from t where exists (select 1 from u)",
        "TARGET_TABLE n, SOURCE_QUERY, SCALAR_SUBQUERY <1",
    ),
    "the source of a merge stands in USING": (
        "merge into m using (select id, v from t) s on m.id = s.id when matched then update set v = (select 1)",
        "TARGET_TABLE m, SOURCE_QUERY, SCALAR_SUBQUERY",
    ),
    "an update has a target and subqueries": (
        "update m set v = (select max(w) from u) from (select id from t) q where q.id = m.id",
        "TARGET_TABLE m, SUBQUERY q, SCALAR_SUBQUERY",
    ),
    "a join condition gives values, a join rows": (
        "select 1 from t join (select id from u) q on q.id = (select max(id) from t) cross join (select 1) z",
        "MAIN_QUERY, SUBQUERY q <0, SUBQUERY z <0, SCALAR_SUBQUERY <0",
    ),
    "a recursive CTE reads itself": (
        "with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r",
        "CTE r, UNION_BRANCH branch_1 <0, UNION_BRANCH branch_2 <0, MAIN_QUERY",
    ),
}


@pytest.mark.parametrize(("sql", "expected"), QUERIES.values(), ids=QUERIES)
def test_parts_come_in_a_fixed_order(sql: str, expected: str) -> None:
    (one,) = dissect(sql, dialect="duckdb")
    shown = [
        " ".join(
            [
                part.kind.value,
                *([part.name] if part.name else []),
                *([f"<{part.parent}"] if part.parent is not None else []),
            ]
        )
        for part in one.components
    ]
    assert ", ".join(shown) == expected
    assert [part.index for part in one.components] == list(range(len(one.components)))
    for part in one.components:
        assert part.span is not None
        assert sql[part.span.start : part.span.end] == part.sql
        assert part.depth == (0 if part.parent is None else one.components[part.parent].depth + 1)


@pytest.mark.parametrize("sql", [sql for sql, _ in QUERIES.values()], ids=QUERIES)
def test_sections_marked_as_runnable_run_in_duckdb(sql: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    (one,) = dissect(sql, dialect="duckdb")
    with duckdb.connect() as engine:
        engine.execute(TABLES)
        for part in one.executable():
            assert part.runnable is not None
            engine.execute(part.runnable)


def test_a_correlated_subquery_is_not_marked_as_runnable() -> None:
    (one,) = dissect("select (select max(w) from u where u.id = t.id) as x, (select max(u.w) from u) as y from t")
    assert [(part.name, part.executable) for part in one.of_kind("SCALAR_SUBQUERY")] == [("x", False), ("y", True)]
    (one,) = dissect("update m set v = (select max(w) from u where u.id = m.id)", dialect="postgres")
    assert [part.executable for part in one.of_kind(ComponentKind.SCALAR_SUBQUERY)] == [False]


def test_names_kinds_and_locations() -> None:
    (one,) = dissect("with A as (select 1 as x) select * from a where x > (select avg(x) from A)", dialect="postgres")
    assert one.named("a") is one.components[0]
    assert one.named("nobody") is None
    assert [part.location for part in one.components] == [
        "WITH clause",
        "top-level query",
        "WHERE clause in MAIN_QUERY",
    ]
    assert [part.dependencies for part in one.components] == [(), ("A",), ("A",)]


def test_statements_in_a_procedure_are_split_at_their_positions() -> None:
    sql = """create procedure p as
begin
    with c as (select a from t)
    insert into dbo.x (a) select a from c;
    select a into #t from [my table];
end"""
    first, second = (one for one in dissect(sql, dialect="tsql") if one.components)
    assert [(part.kind.value, part.name) for part in first.components] == [
        ("CTE", "c"),
        ("TARGET_TABLE", "dbo.x"),
        ("SOURCE_QUERY", None),
    ]
    assert first.components[0].span is not None
    assert first.components[0].span.line == 3
    assert second.components[1].sql == "select a into #t from [my table]"
    assert second.components[1].runnable == "select a from [my table]"  # it is looked at, and stores nothing


def test_keywords_in_quotes_and_strings_start_no_section() -> None:
    (one,) = dissect("""select "select", '(select 1)' as "from" from "with" where "union" = 1""", dialect="postgres")
    assert [part.kind.value for part in one.components] == ["MAIN_QUERY"]
    assert dissect("") == ()
    assert dissect("select (((") != ()


@pytest.mark.parametrize("format", ["text", "json", "csv"])
def test_dissect_writes_every_format(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.sql").write_text("with c as (select 1 as x)\nselect * from c;\ngrant select on a to b;\n")
    monkeypatch.chdir(tmp_path)
    assert main(["dissect", "a.sql", "--dialect", "postgres", "--format", format]) == 0
    shown = capsys.readouterr().out
    if format == "json":
        (statement,) = json.loads(shown)["statements"]
        assert [part["kind"] for part in statement["components"]] == ["CTE", "MAIN_QUERY"]
    elif format == "csv":
        rows = list(csv.DictReader(io.StringIO(shown)))
        assert [(row["kind"], row["executable"], row["line"], row["dependencies"]) for row in rows] == [
            ("CTE", "true", "1", ""),
            ("MAIN_QUERY", "true", "1", "c"),
        ]
    else:
        assert "[0] CTE c  (WITH clause)  a.sql:1:12" in shown
    assert main(["dissect", "a.sql", "--kind", "cte", "--executable", "-f", "json"]) == 0
    (statement,) = json.loads(capsys.readouterr().out)["statements"]
    assert [part["name"] for part in statement["components"]] == ["c"]


def test_dissect_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"select 1 as a")))
    assert main(["dissect", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["statements"][0]["path"] == "-"


@pytest.mark.parametrize("example", ["retail", "marketing"])
def test_sections_of_every_example_statement_are_slices_of_it(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "sql_assets" / example / "head"
    assert main(["dissect", str(folder), "-f", "json"]) == 0
    statements = json.loads(capsys.readouterr().out)["statements"]
    parts = [(one["path"], part) for one in statements for part in one["components"]]
    assert len(parts) >= 25
    for path, part in parts:
        text = (folder / path).read_text(encoding="utf-8-sig")
        assert text[part["span"]["start"] : part["span"]["end"]] == part["sql"]
