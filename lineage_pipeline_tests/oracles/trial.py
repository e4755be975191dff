"""One engine put to the question: what it says about queries, which of them we answer otherwise, and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from lineage_pipeline_tests.oracles import engine
from lineage_pipeline_tests.oracles.answers import Answer, Question, questions
from lineage_pipeline_tests.oracles.generator.judgement import Asked, Compared, Judgement, judge
from lineage_pipeline_tests.oracles.generator.writer import Generated


@dataclass(frozen=True)
class Engine:
    """An engine by its name: how it is asked, and how tables are made in it."""

    name: str
    dialect: str
    describe: Asked
    create: Callable[[Mapping[str, str]], None]
    differences: Mapping[str, tuple[str, ...]]

    def __hash__(self) -> int:
        """Engines are told apart by their dialects."""
        return hash(self.dialect)


def _ours(dialect: str) -> Callable[[str], Answer]:
    return lambda sql: engine.ask(sql, dialect)


@cache
def written(asked: Engine) -> Judgement:
    """What came of the queries that are written by hand."""
    made = (Generated(question.sql, (), ()) for question in questions(asked.dialect))
    return judge(made, asked.describe, _ours(asked.dialect))


def titled(asked: Engine, columns: list[Compared]) -> list[str]:
    """Columns by the titles of their queries and what the engine calls them."""
    titles: dict[str, Question] = {question.sql: question for question in questions(asked.dialect)}
    return [f"{titles[column.sql].title} | {column.theirs.name}" for column in columns]
