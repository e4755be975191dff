"""sqlglot writes queries from its trees: over many lines, with every name qualified, and in another dialect."""

from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.optimizer import optimize
from sqlglot.optimizer.qualify import qualify

from lineage_pipeline_tests.oracles import engine
from lineage_pipeline_tests.oracles.rewrites.portraits import Portrait, portray
from lineage_pipeline_tests.oracles.rewrites.queries import Corpus
from lineage_pipeline_tests.oracles.rewrites.rewriter import Judge, Rewritten
from lineage_pipeline_tests.support.dialect_syntax import SOURCE_TABLES

Change = Callable[[exp.Expr, str], str]


def print_pretty(tree: exp.Expr, dialect: str) -> str:
    """The query over many lines."""
    return tree.sql(dialect=dialect, pretty=True)


COLUMNS: dict[str, object] = {"s": {table: dict.fromkeys(names, "int") for table, names in SOURCE_TABLES.items()}}
"""The tables of drawn queries as sqlglot wants them."""


def print_qualified(tree: exp.Expr, dialect: str) -> str:
    """The query with stars expanded, and every name qualified and quoted."""
    return qualify(tree, schema=COLUMNS, dialect=dialect).sql(dialect=dialect)


def print_optimized(tree: exp.Expr, dialect: str) -> str:
    """The query after all rules of sqlglot: subqueries merged and unnested, conditions and columns pushed down."""
    return optimize(tree, schema=COLUMNS, dialect=dialect).sql(dialect=dialect)


def print_trees(corpus: Corpus, change: Change) -> list[Rewritten]:
    """What sqlglot prints of each query that it reads."""
    found = []
    for query in corpus.queries:
        try:
            text = change(sqlglot.parse_one(query.sql, dialect=corpus.dialect), corpus.dialect)
        except SqlglotError:
            continue
        found.append(Rewritten(query, f"create view asked as {text}"))
    return found


def judge_translations(judge: Judge, corpus: Corpus, target: str) -> None:
    """Compare names and values of queries with those of their translations; types are those of the other dialect."""
    given, others = corpus.schemas(), engine.schemas(corpus.tables, target)
    for query in corpus.queries:
        text = sqlglot.transpile(query.sql, read=corpus.dialect, write=target)[0]
        before = portray(f"create view asked as {query.sql}", corpus.dialect, given)
        after = portray(f"create view asked as {text}", target, others)
        judge.compare(query, _lowered(before), _lowered(after), text, "types", "indirect", "findings")


def _lowered(portrait: Portrait) -> Portrait:
    names = tuple(name.lower() for name in portrait.names)
    direct = tuple(frozenset(source.lower() for source in sources) for sources in portrait.direct)
    return Portrait(names, portrait.types, direct, portrait.indirect, portrait.findings)
