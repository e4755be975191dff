"""Which objects a statement reads, besides those that feed its columns."""

import pytest

from lineage_pipeline.api import analyze


@pytest.mark.parametrize(
    ("dialect", "sql", "reads"),
    [
        ("tsql", "update x set a = s.a from dbo.t as x join dbo.s as s on s.id = x.id", ("dbo.s", "dbo.t")),
        ("tsql", "update dbo.t set a = s.a from dbo.s as s", ("dbo.s",)),
        ("mysql", "update t join s on s.id = t.id set t.a = s.a", ("s",)),
        ("", "create table t like s", ("s",)),
        ("clickhouse", "select a from s final", ("s",)),
        ("", "insert into t values (1, (select max(a) from s))", ("s",)),
    ],
)
def test_a_statement_reads_what_it_names_as_a_source(dialect: str, sql: str, reads: tuple[str, ...]) -> None:
    (statement,) = analyze(sql, dialect=dialect).lineage.statements
    assert tuple(sorted(statement.reads)) == reads
