"""Spark's analyzer as oracle: the name of each column and the source of its values are those that we give."""

from collections.abc import Callable
from functools import cache

import pytest

from lineage_pipeline_tests.oracles import engine, spark
from lineage_pipeline_tests.oracles.answers import Answer, Answered, Question, questions, shared

pytestmark = pytest.mark.spark

QUESTIONS = questions("spark")

DIFFERENCES: dict[str, tuple[str, ...]] = {}
"""Where we differ from Spark: the reason, and the queries that show it. What agrees again has to leave the list."""


@cache
def ask_spark(question: Question) -> tuple[Answer, Answer]:
    """What Spark says about a query, and what we say; columns that share a name share their sources."""
    return shared(spark.ask(question.sql)), shared(engine.ask(question.sql, "spark"))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_names_and_values_are_those_of_spark(question: Question) -> None:
    theirs, ours = ([(item.name, sorted(item.sources)) for item in answer] for answer in ask_spark(question))
    if any(question.title in titles for titles in DIFFERENCES.values()):
        assert ours != theirs, "this is no difference any more: take it off the list"
    else:
        assert ours == theirs


def test_every_difference_names_a_query() -> None:
    listed = [title for titles in DIFFERENCES.values() for title in titles]
    assert set(listed) <= {question.title for question in QUESTIONS}
    assert len(set(listed)) == len(listed)


JUDGED: dict[str, Callable[[Answered, Answered], bool]] = {
    "names": lambda theirs, ours: theirs.name == ours.name,
    "values": lambda theirs, ours: theirs.sources == ours.sources,
    "types": lambda theirs, ours: theirs.type == (ours.type or "").lower(),
    "nullability": lambda theirs, ours: theirs.nullable == ours.nullable,
    "not null where Spark knows nulls": lambda theirs, ours: theirs.nullable and not ours.nullable,
}


def test_most_columns_agree(record_property: Callable[[str, object], None]) -> None:
    pairs: list[tuple[Answered, Answered]] = []
    total = 0
    for question in QUESTIONS:
        theirs, ours = ask_spark(question)
        total += len(theirs)
        pairs.extend(zip(theirs, ours, strict=True) if len(theirs) == len(ours) else [])
    counts = {name: sum(agree(*pair) for pair in pairs) for name, agree in JUDGED.items()}
    shares = ", ".join(f"{name} {100 * count / total:.1f} %" for name, count in counts.items())
    record_property("figure", f"Spark's analyser: {len(QUESTIONS)} queries, {total} columns; exact: {shares}")
    assert counts["values"] > 0.99 * total
    assert counts["types"] > 0.99 * total
    assert counts["nullability"] > 0.98 * total
    assert counts["not null where Spark knows nulls"] == 0
