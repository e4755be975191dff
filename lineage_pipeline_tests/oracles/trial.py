"""One engine put to the question: what it says about queries, which of them we answer otherwise, and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from lineage_pipeline_tests.oracles import engine
from lineage_pipeline_tests.oracles.answers import questions
from lineage_pipeline_tests.oracles.generator.grammar import Grammar
from lineage_pipeline_tests.oracles.generator.judgement import Asked, Compared, Judgement, judge
from lineage_pipeline_tests.oracles.generator.scopes import tables as generated_tables
from lineage_pipeline_tests.oracles.generator.writer import Generated, generate


@dataclass(frozen=True)
class Engine:
    """An engine by its name: how it is asked, and how tables are made in it."""

    name: str
    dialect: str
    describe: Asked
    create: Callable[[Mapping[str, str]], None]
    grammar: Grammar
    differences: Mapping[str, tuple[str, ...]]

    def __hash__(self) -> int:
        """Engines are told apart by their dialects."""
        return hash(self.dialect)


@cache
def written(asked: Engine) -> Judgement:
    """What came of the queries that are written by hand."""
    made = (Generated(question.sql, (), ()) for question in questions(asked.dialect))
    return judge(made, asked.describe, lambda sql: engine.ask(sql, asked.dialect))


@cache
def generated(asked: Engine, seed: int, count: int) -> Judgement:
    """What came of so many queries that are generated."""
    wanted = generated_tables(asked.grammar, seed)
    asked.create(wanted)
    given = engine.schemas(wanted, asked.dialect)
    made = generate(asked.grammar, seed, count)
    return judge(made, asked.describe, lambda sql: engine.ask(sql, asked.dialect, given))


def titled(asked: Engine, columns: list[Compared]) -> list[str]:
    """Columns by the titles of their queries and what the engine calls them."""
    titles = {question.sql: question.title for question in questions(asked.dialect)}
    return [f"{titles[column.sql]} | {column.theirs.name}" for column in columns]
