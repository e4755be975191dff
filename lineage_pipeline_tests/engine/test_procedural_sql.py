"""Procedural SQL beyond the fixtures: hops, positions and parents."""

from lineage_pipeline.api import analyze
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.tables import Hop
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.paths import ROOT


def analyze_procedure(sql: str, dialect: str = "tsql") -> LineageTables:
    return build_lineage([InputFile("load.sql", sql, Options(dialect, default_schema="dbo"))])


def test_hops_name_the_variables_on_the_way() -> None:
    sql = (
        "create procedure p as\n"
        "declare @v int, @w int;\n"
        "select @v = max(a) from s;\n"
        "set @w = @v + 1;\n"
        "insert into r (x) values (@w);"
    )
    (edge,) = analyze_procedure(sql).column_edges
    assert (edge.from_object, edge.from_column, edge.to_object, edge.to_column) == ("dbo.s", "a", "dbo.r", "x")
    assert edge.hops == (Hop("dbo.p.@v", "@v"), Hop("dbo.p.@w", "@w"))
    assert edge.from_span is not None
    assert sql[edge.from_span.start : edge.from_span.end] == "@w"


def test_a_value_that_passes_a_temporary_table_keeps_the_text_and_the_place_of_the_step_that_made_it() -> None:
    sql = (
        "create procedure p as begin\n"
        "select o.id, o.amount * 2 as amount into #t from orders o;\n"
        "select t.id, t.amount into #u from #t t;\n"
        "insert into r (id, amount, more) select u.id, u.amount, u.amount + 1 from #u u;\n"
        "end"
    )
    edges = {edge.to_column: edge for edge in analyze_procedure(sql).column_edges}
    said = {"id": "u.id", "amount": "o.amount * 2", "more": "u.amount + 1"}
    assert {column: edge.expression for column, edge in edges.items()} == said
    for column, edge in edges.items():
        assert edge.span is not None
        assert sql[edge.span.start : edge.span.end] == said[column]


def test_a_procedure_reads_the_tables_that_its_variables_are_read_from() -> None:
    lineage = analyze_procedure("create procedure p as declare @v int = (select max(a) from s);")
    assert [(edge.from_object, edge.to_object, edge.kind) for edge in lineage.object_edges] == [
        ("dbo.s", "dbo.p", "read")
    ]


def test_statements_of_dynamic_sql_have_positions_inside_the_string() -> None:
    sql = "declare @q nvarchar(max) = N'insert into r (x) select a + 1 from s where k = ''z''';\nexec (@q);"
    lineage = analyze_procedure(sql)
    declared, run, inner = lineage.statements
    assert (inner.parent, inner.bytes, run.status, run.kind) == (run.ordinal, 0, "analysed", "EXECUTE")
    assert inner.span is not None
    assert sql[inner.span.start : inner.span.end] == "insert into r (x) select a + 1 from s where k = ''z''"
    assert declared.bytes + run.bytes == len(sql) - 3
    edge = next(edge for edge in lineage.column_edges if edge.from_column == "a")
    assert edge.expression == "a + 1"
    assert edge.span is not None
    assert sql[edge.span.start : edge.span.end] == "a + 1"


def test_dynamic_sql_has_positions_only_where_they_are_exact() -> None:
    sql = "exec (N'insert into r (x, y) select a ' + N'+ 1, b from s')"
    lineage = analyze_procedure(sql)
    assert lineage.statements[1].span is None
    places = {edge.from_column: edge.span for edge in lineage.column_edges}
    assert places["a"] is None
    assert places["b"] is not None
    assert sql[places["b"].start : places["b"].end] == "b"


def test_the_summary_counts_the_bytes_of_dropped_clauses() -> None:
    sql = "create table t (id int primary key clustered) on [primary];\n"
    sql += "select id from t with (nolock) option (recompile);"
    summary = analyze(sql, dialect="tsql").to_dict()["summary"]
    passed = ("clustered", "on", "[primary]", "with", "(", "nolock", ")", "option", "(", "recompile", ")")
    assert summary["dropped_bytes"] == sum(len(word) for word in passed)
    assert summary["bytes"]["analysed"] == len(sql) - 3


def test_the_example_warehouses_are_analysed_to_the_last_byte() -> None:
    assets = ROOT / "sql_assets"
    for folder, dialect in (("retail", "tsql"), ("marketing", "snowflake")):
        for revision in ("base", "head"):
            files = sorted((assets / folder / revision).rglob("*.sql"))
            inputs = [InputFile(str(file), file.read_text(encoding="utf-8"), Options(dialect)) for file in files]
            assert {row.status for row in build_lineage(inputs, reach=False).statements} == {"analysed"}
