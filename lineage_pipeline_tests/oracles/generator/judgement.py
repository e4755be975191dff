"""How an engine and ours agree on generated queries: column by column, and which cells have been seen."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from lineage_pipeline_tests.oracles.answers import Answer, Answered
from lineage_pipeline_tests.oracles.generator.cells import Cell
from lineage_pipeline_tests.oracles.generator.writer import Generated

Asked = Callable[[str], Answer | str]
"""What an engine says about a query, or why it refuses it."""


@dataclass(frozen=True)
class Compared:
    """A column of a query that the engine took: its text, what the engine says, and what we say."""

    sql: str
    text: str
    theirs: Answered
    ours: Answered | None

    @property
    def named(self) -> bool:
        """Whether the names agree."""
        return self.ours is not None and self.ours.name == self.theirs.name

    @property
    def typed(self) -> bool:
        """Whether the types agree."""
        return self.ours is not None and (self.ours.type or "").lower() == (self.theirs.type or "").lower()

    @property
    def nulled(self) -> bool:
        """Whether both say the same of nulls."""
        return self.ours is not None and self.ours.nullable == self.theirs.nullable

    @property
    def unsound(self) -> bool:
        """Whether we rule nulls out that the engine expects."""
        return self.ours is not None and self.theirs.nullable and not self.ours.nullable


@dataclass
class Judgement:
    """What came of a run: columns, refusals with their reasons, and how often each cell was seen."""

    columns: list[Compared] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    seen: Counter[Cell] = field(default_factory=Counter)
    queries: int = 0

    def empty(self, wanted: Iterable[Cell]) -> list[Cell]:
        """The cells that no query has shown that the engine took."""
        return [cell for cell in wanted if not self.seen[cell]]

    def share(self, holds: Callable[[Compared], bool]) -> float:
        """How many of a hundred columns something holds of."""
        return 100 * sum(map(holds, self.columns)) / max(len(self.columns), 1)

    def figure(self, engine: str, kind: str = "generated", knows_nulls: bool = True) -> str:
        """What a run found, in a line; not every engine says what may be null."""
        shares: dict[str, Callable[[Compared], bool]] = {
            "names": lambda column: column.named,
            "types": lambda column: column.typed,
        }
        if knows_nulls:
            shares["nullability"] = lambda column: column.nulled
            shares["not null where it knows nulls"] = lambda column: column.unsound
        exact = ", ".join(f"{name} {self.share(holds):.2f} %" for name, holds in shares.items())
        taken = f"{self.queries - len(self.refused)} of {self.queries} {kind} queries taken"
        return f"{engine}: {taken}, {len(self.columns)} columns; exact: {exact}"


def judge(generated: Iterable[Generated], theirs: Asked, ours: Callable[[str], Answer]) -> Judgement:
    """Ask an engine and ours about queries."""
    found = Judgement()
    for query in generated:
        found.queries += 1
        answer = theirs(query.sql)
        if isinstance(answer, str):
            found.refused.append((query.sql, answer))
            continue
        found.seen.update(query.cells)
        found.columns.extend(_compared(query, answer, ours(query.sql)))
    return found


def _compared(query: Generated, theirs: Answer, ours: Answer) -> Iterator[Compared]:
    same = len(ours) == len(theirs)
    for position, column in enumerate(theirs):
        text = query.columns[position] if len(query.columns) == len(theirs) else ""
        yield Compared(query.sql, text, column, ours[position] if same else None)
