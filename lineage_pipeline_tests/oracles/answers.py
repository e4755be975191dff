"""What an engine says about a query, column by column, and the queries that engines are asked."""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "oracle"

Sources = frozenset[str]
"""Columns of tables, as `table.column`."""


@dataclass(frozen=True)
class Answered:
    """One column of a result: what it is called, what it holds, and the columns that its values come from.

    An engine that does not say whether it may be null, or where it comes from, leaves that open.
    """

    name: str
    type: str | None
    nullable: bool = True
    sources: Sources = frozenset()


Answer = tuple[Answered, ...]


@dataclass(frozen=True)
class Question:
    """A query of a fixture file, under its title."""

    title: str
    sql: str


def questions(folder: str) -> list[Question]:
    """All queries of a folder of fixtures: a title in a comment, the query, a blank line."""
    found = []
    for file in sorted((FIXTURES / folder).glob("*.sql")):
        for block in re.split(r"\n{2,}", file.read_text().strip()):
            title, _, sql = block.partition("\n")
            assert title.startswith("-- ") and sql.rstrip().endswith(";"), block
            found.append(Question(f"{file.stem}: {title[3:]}", sql.strip().removesuffix(";")))
    assert len({question.title for question in found}) == len(found), "two queries have one title"
    return found


@cache
def tables(folder: str) -> dict[str, str]:
    """The tables that the queries of a folder read: by name, their columns as a list of definitions."""
    text = (FIXTURES / folder / "tables.txt").read_text()
    return dict(re.findall(r"^(\w+)\(\n(.*?)^\)$", text, flags=re.MULTILINE | re.DOTALL))


def shared(answer: Answer) -> Answer:
    """The answer with the sources of all columns of a name at each of them: edges know names, not positions."""
    found: dict[str, Sources] = {}
    for column in answer:
        found[column.name.lower()] = found.get(column.name.lower(), frozenset()) | column.sources
    return tuple(replace(column, sources=found[column.name.lower()]) for column in answer)
