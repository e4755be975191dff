"""Every dialect that the parser knows comes through: a view, a join, an insert, quotes; an unknown one falls back."""

import re

import pytest
from sqlglot.dialects.dialect import Dialect

from lineage_pipeline.api import analyze
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline_tests.support.paths import ROOT

DIALECT_MADE = re.compile(r"^[A-Z]+ = (?:DialectTraits|derive_dialect)\(", re.MULTILINE)
"""How the file of a dialect makes its traits."""

NOT_SQL = {"prql", "dax"}
"""Languages of their own among sqlglot's dialects."""

SCRIPT = """create table t (a int, b int);
create table u (a int, c int);
create view v as select t.a, u.c + 1 as d from t join u on u.a = t.a where t.b > 0;
insert into u (a, c) select b, a from t;
"""


def names() -> list[str]:
    return sorted(name for name in Dialect.classes if name not in NOT_SQL)


def test_every_dialect_of_the_parser_has_rules() -> None:
    assert set(names()) <= set(DIALECTS)


def test_every_file_of_a_dialect_is_registered() -> None:
    files = (ROOT / "lineage_pipeline" / "dialects").glob("*.py")
    made = {file.stem for file in files if DIALECT_MADE.search(file.read_text(encoding="utf-8"))}
    assert made - {"generic"} <= set(DIALECTS)


def test_dialects_of_a_family_share_their_types() -> None:
    for traits in DIALECTS.values():
        main = DIALECTS[traits.family]
        assert (traits.types, traits.type_rules) == (main.types, main.type_rules), traits.name
        assert traits.types.name in ("", traits.family)


@pytest.mark.parametrize("dialect", names())
def test_a_script_that_all_dialects_share_comes_through_whole(dialect: str) -> None:
    lineage = analyze(SCRIPT, dialect=dialect).lineage
    assert [row.status.value for row in lineage.statements] == ["analysed"] * 4
    assert not lineage.diagnostics
    edges = {
        (edge.from_object, edge.from_column, edge.to_object, edge.to_column, edge.subtype.value)
        for edge in lineage.column_edges
    }
    assert {
        tuple(part.lower() for part in edge[:4]) for edge in edges if edge[4] in ("IDENTITY", "TRANSFORMATION")
    } == {
        ("t", "a", "v", "a"),
        ("u", "c", "v", "d"),
        ("t", "b", "u", "a"),
        ("t", "a", "u", "c"),
    }
    assert {edge[4] for edge in edges} == {"IDENTITY", "TRANSFORMATION", "JOIN", "FILTER"}


@pytest.mark.parametrize("dialect", names())
def test_quotes_of_the_dialect_name_one_object(dialect: str) -> None:
    quote = Dialect.get_or_raise(dialect or None).tokenizer_class.IDENTIFIERS[0]
    opened, closed = (quote, quote) if isinstance(quote, str) else quote
    upper = DIALECTS[dialect].tables is IdentifierFolding.UPPER
    table, column = ("T", "A") if upper else ("t", "a")
    sql = f"create table t (a int);\ncreate view v as select {opened}{column}{closed} from {opened}{table}{closed};\n"
    lineage = analyze(sql, dialect=dialect).lineage
    assert [(edge.from_object, edge.from_column) for edge in lineage.column_edges] == [(table, column)]


def test_an_unknown_dialect_is_read_as_generic_sql_with_a_finding() -> None:
    lineage = analyze(SCRIPT, dialect="postgras").lineage
    assert [row.code for row in lineage.diagnostics] == ["DIALECT_FALLBACK"]
    assert len([edge for edge in lineage.column_edges if edge.to_column != "*"]) == 4


def test_a_quoted_psql_variable_is_a_value_and_does_not_end_the_statement() -> None:
    text = "create view v as select :'month' as m, a from t where d = :'month' and b::text = 'x';"
    lineage = analyze(text, dialect="postgres").lineage
    assert {row.status for row in lineage.statements} == {"analysed"}
    direct = {(row.from_column, row.to_column) for row in lineage.column_edges if row.type == "DIRECT"}
    assert direct == {("a", "a")}
