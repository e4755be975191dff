"""Words of grammar rules as names: where a column, a table, an alias or a CTE has such a name, no rule loses it.

Every statement here has something that sqlglot does not read (`< =`, an unknown clause of a table), so that all rules
are tried on it, also those that are only tried when parsing failed.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.dialects.statement_words import IGNORED_ALTER_ACTIONS, NON_COLUMN_WORDS, TYPE_ENDS
from lineage_pipeline.engine.compile.grammar.rules import RULES, GrammarRule
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.pipeline import build_lineage

STATEMENTS = (
    "create view v as select {name}, b from t where k < = 5",
    "create view v as select t.{name} as c, t.b from t where k < = 5",
    "create view v as select t.a as {name}, t.b from t where k < = 5",
    "create view v as select a, b from t as {name} where k < = 5",
    "create view v as select {name}.a, b from {name} where k < = 5",
    "create view v as select a, b from s.{name} where k < = 5",
    "create view v as select a, b from t join u using ({name}) where k < = 5",
    "create view v as select a from t where k < = 5 and {name} > 1 and b > 2",
    "create view v as select a from t where k < = 5 group by {name}, b order by {name}, b",
    "create view v as select f({name}, b) as c from t where k < = 5",
    "create view v as with {name} as (select a, b from t) select a, b from {name} where k < = 5",
    "create view v as select a, sum(b) over (partition by {name} order by {name}) as c from t where k < = 5",
    "create view v (a, {name}, b) as select c, d, e from t where k < = 5",
    "insert into t (a, {name}, b) select c, d, e from s where k < = 5",
    "insert into {name} (a, b) select c, {name} from s where k < = 5",
    "update t set {name} = b, a = {name} where k < = 5",
    "create table t (a int, {name} int, b int)",
    "create table t (a int, {name} int, b int) frob = 1",
    "create table {name} (a int, b int) frob = 1",
    "delete from t where {name} = 1 and k < = 5",
    "merge into t using s on t.{name} = s.{name} when matched then update set {name} = s.{name}, b = s.b",
    "select case when {name} then {name} else b end as c from t where k < = 5",
)
"""Statements with a gap for a name."""

DEFINITIONS = (
    "create table t (b int, {name} int, c int)",
    "create table t (b int, {name} int, c int) frob = 1",
    "create table t ({name} int, b int); alter table t drop {name}",
    "create table u ({name} int); create table t (b int); alter table t add {name} int, add d int",
    "create table u ({name} int); create table t (b int); alter table t add {name} varchar(9)",
    "create table t ({name} int, b int); alter table t rename {name} to e",
    "create table t ({name} int, b int); alter table t alter {name} type bigint",
    "create table t ({name} int, b int); alter table t alter column {name} type bigint",
    "create table t ({name} int, b int); alter table t modify {name} bigint",
)
"""Definitions and alterations with a gap for a name."""

RESERVED = frozenset(
    "all alter and any array as asc between bulk by case cast check clustered column create cross date default "
    "delete desc distinct drop else end except exists false for foreign from full group having if in index inner "
    "insert intersect into is join lateral left like limit match_recognize merge natural nonclustered not null on "
    "openrowset openxml option or order outer partition pivot primary references replace right rowguidcol select "
    "set table then to top trigger true truncate union unique uniquejoin unpivot update use user using values variadic "
    "view when where window with xmlnamespaces".split()
)
"""Words that the manuals of their dialects reserve: nobody has such a name without quotes."""


WORD_SETS = {
    word.lower() for word in TYPE_ENDS | NON_COLUMN_WORDS | IGNORED_ALTER_ACTIONS if " " not in word
} - RESERVED
"""Words that end the type of a column or begin an item of a table that is none, in any dialect."""


def list_words(rule: GrammarRule) -> set[str]:
    """The words of a rule and of its example that are not reserved."""
    texts = (*rule.needs, *(word for one in rule.phrases for word in one.words), rule.example)
    words = {word.lower() for text in texts for word in re.findall(r"\b[A-Z][A-Z0-9_]+\b", text)}
    return words - RESERVED


def write_plain_name(word: str) -> str:
    """A name of the same length that no rule knows."""
    return ("zq" * len(word))[: len(word)]


@cache
def read_names(statement: str, name: str, dialect: str) -> str:
    """A statement without what sqlglot cannot read, as sqlglot prints it; nothing if it stops at the name."""
    text = statement.format(name=name).replace("< =", "<=").removesuffix(" frob = 1").partition("; alter")[0]
    try:
        trees = sqlglot.parse(text, dialect=DIALECTS[dialect].grammar or dialect)
    except SqlglotError:
        return ""
    known = all(tree is not None and not isinstance(tree, exp.Command) for tree in trees)
    return re.sub('["`]', "", ";".join(map(str, trees)).lower()) if known else ""


@cache
def list_lineage(statement: str, name: str, dialect: str) -> tuple[tuple[str, ...], ...]:
    """The columns, edges and findings of a statement, without their places."""
    lineage = build_lineage([InputFile("-", statement.format(name=name), Options(dialect))])
    columns = [(row.object, row.name, row.type or "") for row in lineage.columns]
    edges = [
        (row.from_object, row.from_column, row.to_object, row.to_column, row.subtype) for row in lineage.column_edges
    ]
    findings = [(row.code, row.message) for row in lineage.diagnostics]
    return tuple(tuple(part.lower() for part in row) for row in (*columns, *edges, *findings))


def find_lost_names(dialect: str, words: set[str], statements: Sequence[str]) -> Iterator[str]:
    """The statements of a dialect in which a word is a name that is lost."""
    for word in sorted(words):
        plain = write_plain_name(word)
        for statement in statements:
            known = read_names(statement, plain, dialect).replace(plain, word)
            if not known or read_names(statement, word, dialect) != known:
                continue
            expected = [
                tuple(part.replace(plain, word) for part in row) for row in list_lineage(statement, plain, dialect)
            ]
            if sorted(list_lineage(statement, word, dialect)) != sorted(expected):
                yield statement.format(name=word)


@pytest.mark.parametrize("dialect", sorted({rule.dialect for rule in RULES}), ids=lambda name: name or "any")
def test_a_word_of_a_rule_is_a_name_where_a_name_stands(dialect: str) -> None:
    words = {word for rule in RULES if rule.dialect == dialect for word in list_words(rule)}
    assert list(find_lost_names(dialect, words, STATEMENTS)) == []


@pytest.mark.parametrize("dialect", ["clickhouse", "mysql", "postgres"])
def test_a_word_of_a_definition_is_a_name_where_a_name_stands(dialect: str) -> None:
    assert list(find_lost_names(dialect, WORD_SETS, DEFINITIONS)) == []


def test_most_words_of_rules_are_tried() -> None:
    words = {(rule.dialect, word) for rule in RULES for word in list_words(rule)}
    tried = {pair for pair in words if read_names(STATEMENTS[0], pair[1], pair[0])}
    assert len(tried) > 300
    assert len(tried) > 0.8 * len(words)
