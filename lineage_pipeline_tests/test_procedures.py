"""What fixtures do not show of procedural SQL: hops, places, parents."""

from lineage_pipeline.pipeline import analyse
from lineage_pipeline.vocabulary.analysis import InputFile, Lineage, Options
from lineage_pipeline.vocabulary.tables import Hop


def analysed(sql: str, dialect: str = "tsql") -> Lineage:
    return analyse([InputFile("load.sql", sql, Options(dialect, default_schema="dbo"))])


def test_hops_name_the_variables_on_the_way() -> None:
    sql = (
        "create procedure p as\n"
        "declare @v int, @w int;\n"
        "select @v = max(a) from s;\n"
        "set @w = @v + 1;\n"
        "insert into r (x) values (@w);"
    )
    (edge,) = analysed(sql).column_edges
    assert (edge.from_object, edge.from_column, edge.to_object, edge.to_column) == ("dbo.s", "a", "dbo.r", "x")
    assert edge.hops == (Hop("dbo.p.@v", "@v"), Hop("dbo.p.@w", "@w"))
    assert edge.from_span is not None
    assert sql[edge.from_span.start : edge.from_span.end] == "@w"


def test_a_module_reads_what_its_variables_are_read_from() -> None:
    lineage = analysed("create procedure p as declare @v int = (select max(a) from s);")
    assert [(edge.from_object, edge.to_object, edge.kind) for edge in lineage.object_edges] == [
        ("dbo.s", "dbo.p", "read")
    ]
