"""The queries that are rewritten: those of the fixtures, and generated ones, each with the tables that it reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline_tests.oracles import engine
from lineage_pipeline_tests.oracles.answers import questions, tables
from lineage_pipeline_tests.oracles.generator.grammar import Grammar
from lineage_pipeline_tests.oracles.generator.scopes import tables as generated_tables
from lineage_pipeline_tests.oracles.generator.writer import generate
from lineage_pipeline_tests.oracles.rewrites.recipes import SEED, TEXTS, SqlBuilder, build_queries
from lineage_pipeline_tests.support.dialect_syntax import DIALECT_SYNTAXES, SOURCE_TABLES, DialectSyntax
from lineage_pipeline_tests.support.generated_sql import fill_aliases
from lineage_pipeline_tests.support.query_writer import QueryWriter


@dataclass(frozen=True)
class Query:
    """A query: where it comes from, and its text."""

    title: str
    sql: str


@dataclass(frozen=True)
class Corpus:
    """Queries in one dialect, and the tables that they read: by name, their columns as a list of definitions."""

    dialect: str
    tables: Mapping[str, str]
    queries: tuple[Query, ...]

    def schemas(self) -> dict[str, TableSchema]:
        """The tables as the engine reads their definitions."""
        return engine.schemas(self.tables, self.dialect)


class SeededWriter(QueryWriter):
    """A writer of queries that draws from a seed."""

    def __init__(self, chance: Random, syntax: DialectSyntax) -> None:
        """Draw numbers from `chance` alone."""
        super().__init__(lambda *_: None, syntax)
        self.chance = chance

    def number(self, highest: int) -> int:
        """A number from 0."""
        return self.chance.randint(0, highest)


def written(dialect: str) -> Corpus:
    """The queries of the fixtures."""
    found = (Query(item.title, item.sql) for item in questions(dialect))
    return Corpus(dialect, tables(dialect), tuple(found))


def generated(grammar: Grammar, count: int) -> Corpus:
    """Queries over every operator and function that an engine has."""
    made = (Query(f"generated {at}", item.sql) for at, item in enumerate(generate(grammar, SEED, count)))
    return Corpus(grammar.dialect, generated_tables(grammar, SEED), tuple(made))


def drawn(dialect: str, count: int, *, texts: bool = True, syntax: str | None = None, **changed: Any) -> Corpus:
    """Queries of many shapes in the syntax of the dialect or of another, some of whose fields are `changed`."""
    own = replace(find_syntax(dialect if syntax is None else syntax), **changed)
    return Corpus(dialect, _drawn_tables(texts), tuple(_draw(own, count)))


def from_recipes(dialect: str, count: int) -> Corpus:
    """Queries of joins, groups, windows and unions, which libraries build as well."""
    texts = build_queries(SqlBuilder(), count)
    return Corpus(dialect, _drawn_tables(True), tuple(Query(f"recipe {at}", text) for at, text in enumerate(texts)))


def find_syntax(dialect: str) -> DialectSyntax:
    """The row of a dialect."""
    return next(syntax for syntax in DIALECT_SYNTAXES if syntax.dialect == dialect)


def _draw(syntax: DialectSyntax, count: int) -> Iterator[Query]:
    for at in range(count):
        program = SeededWriter(Random(f"{SEED} {at}"), syntax).program()
        yield Query(f"drawn {at}", fill_aliases(program.text()))


def _drawn_tables(texts: bool) -> dict[str, str]:
    kinds = dict.fromkeys(TEXTS, "varchar(20)") if texts else {}
    return {
        f"s.{table}": ", ".join(f"{name} {kinds.get(name, 'int')}" for name in names)
        for table, names in SOURCE_TABLES.items()
    }
