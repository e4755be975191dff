"""Accounting: a table or a selected item that is lost on the way to the IR is noticed."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec
import pytest

from lineage_pipeline import analyze
from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.compile import compiler
from lineage_pipeline.engine.compile.accounting import account_for_references
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.model import ir
from lineage_pipeline_tests.support.cases import case_inputs, load_cases

BEHIND_KEYWORD = re.compile(r"\b(?:from|join|into|update|using|table|references)\s+\Z", re.IGNORECASE)
FUNCTION = re.compile(r"[\w.]+\s*\(")
OTHER_KINDS = frozenset({"COPY", "LOAD DATA", "IMPORT", "UNLOAD", "EXPORT", "BULK INSERT"})
"""Statements that name files and stages where others name tables."""


class Compiled(NamedTuple):
    """A statement of a fixture before it is accounted for."""

    piece: RawStatement
    placed: ir.Placed
    traits: DialectTraits
    text: str

    def count_findings(self, statement: ir.Statement) -> int:
        """How many tables and items the accounting misses in a statement."""
        placed = msgspec.structs.replace(self.placed, statement=statement)
        findings = account_for_references(self.piece, placed, self.traits, self.text).statement.findings
        return sum(finding.code == "UNACCOUNTED_REFERENCE" for finding in findings)


@pytest.fixture(scope="module")
def compiled() -> list[Compiled]:
    found: list[Compiled] = []

    def keep(piece: RawStatement, placed: ir.Placed, traits: DialectTraits, text: str) -> ir.Placed:
        if placed.statement.status != "failed" and piece.tokens:
            found.append(Compiled(piece, placed, traits, text))
        return placed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "account_for_references", keep)
        for case in load_cases("link"):
            file = case_inputs(case)[0][0]
            compiler.compile_source(file.text, file.options)
    return found


def delete_names(one: Compiled) -> Iterator[ir.Statement]:
    """The statement without one of the tables that a keyword stands before."""
    statement = one.placed.statement
    if statement.kind in OTHER_KINDS or statement.kind.startswith("ALTER"):
        return
    selects = [relation for relation in statement.relations if isinstance(relation, ir.Select)]
    starts = {source.name.start for select in selects for source in select.sources if source.name is not None}
    for start in sorted(starts | {write.target.start for write in statement.writes}):
        before, behind = one.text[one.piece.start :][:start], one.text[one.piece.start + start :]
        called = FUNCTION.match(behind) and not before.rstrip().lower().endswith("into")
        if start < 0 or called or not re.match(r"[\w\[\"`#]", behind) or before.count("'") % 2:
            continue
        if BEHIND_KEYWORD.search(before):
            writes = tuple(write for write in statement.writes if write.target.start != start)
            relations = tuple(drop_source(relation, start) for relation in statement.relations)
            yield msgspec.structs.replace(statement, relations=relations, writes=writes)


def drop_source(relation: ir.Relation, start: int) -> ir.Relation:
    if not isinstance(relation, ir.Select):
        return relation
    kept = tuple(source for source in relation.sources if source.name is None or source.name.start != start)
    return msgspec.structs.replace(relation, sources=kept)


def delete_items(one: Compiled) -> Iterator[ir.Statement]:
    """The statement without the first item of one of its select lists."""
    statement = one.placed.statement
    selects = [relation for relation in statement.relations if isinstance(relation, ir.Select)]
    for start in sorted({output.start for select in selects for output in select.outputs if output.start >= 0}):
        if re.search(r"\bselect\s+\Z", one.text[one.piece.start :][:start], re.IGNORECASE):
            relations = tuple(drop_output(relation, start) for relation in statement.relations)
            yield msgspec.structs.replace(statement, relations=relations)


def drop_output(relation: ir.Relation, start: int) -> ir.Relation:
    if not isinstance(relation, ir.Select):
        return relation
    return msgspec.structs.replace(relation, outputs=tuple(item for item in relation.outputs if item.start != start))


@pytest.mark.parametrize(("delete", "least"), [(delete_names, 0.99), (delete_items, 0.96)])
def test_a_deleted_reference_is_noticed(
    delete: Callable[[Compiled], Iterator[ir.Statement]], least: float, compiled: list[Compiled]
) -> None:
    seen: Counter[bool] = Counter()
    for one in compiled:
        before = one.count_findings(one.placed.statement)
        seen.update(one.count_findings(mutant) > before for mutant in delete(one))
    assert seen.total() > 2_000
    assert seen[True] / seen.total() >= least, seen


def test_no_statement_of_the_fixtures_loses_anything(compiled: list[Compiled]) -> None:
    lost = [one.text[one.piece.start : one.piece.end] for one in compiled if one.count_findings(one.placed.statement)]
    assert lost == []


@pytest.mark.parametrize(
    ("dialect", "text", "table"),
    [
        ("tsql", "print (select max(a) from t)", "t"),
        ("postgres", "create policy p on s using (id in (select id from t))", "t"),
        ("postgres", "explain analyze select a from s join t on s.id = t.id", "t"),
        ("snowflake", "create masking policy p as (v string) returns string -> (select max(x) from t)", "T"),
        ("bigquery", "assert (select count(*) from d.t) > 0", "d.t"),
    ],
)
def test_a_query_inside_a_statement_without_lineage_reads_its_tables(dialect: str, text: str, table: str) -> None:
    lineage = analyze(text, dialect=dialect).lineage
    assert table in {row.object for row in lineage.object_statements if row.role == "read"}
    assert "UNACCOUNTED_REFERENCE" not in {row.code for row in lineage.diagnostics}


def test_a_table_that_is_not_followed_is_read_and_reported() -> None:
    text = "create view v as select a from t tablesample bernoulli ((select n from cfg))"
    lineage = analyze(text, dialect="postgres").lineage
    assert {row.object for row in lineage.object_statements if row.role == "read"} == {"t", "cfg"}
    found = [row for row in lineage.diagnostics if row.code == "UNACCOUNTED_REFERENCE"]
    assert [(row.message, row.column) for row in found] == [("cfg is not in the lineage of this statement", 72)]
    assert [row.status for row in lineage.statements] == ["partial"]
