"""How much one statement may come to: a few words can ask for more columns than any machine holds."""

from lineage_pipeline.engine.link.model import Linked
from lineage_pipeline.vocabulary.analysis import Limits

FEW = 10_000
"""As long as a statement has fewer columns in all, the edges of its relations are not added up."""

MANY = 50
"""Ways into one value from which they are counted: few values have more than a handful."""

TURNS = 50
"""How often each of the edges that a statement may have may be taken up while it is linked: a few seconds in all."""


SOURCES = 16
"""How many sources can be asked for a column in the time of one step."""

TEXTS = 4
"""How many steps a way counts for whose text is put together with others."""


USUAL = Limits().edges
"""The limit of one statement where nothing else is set."""


class TooMuch(Exception):
    """A statement comes to more than it may; it is caught where the statement is linked."""

    def __init__(self, limit: str, turns: int) -> None:
        """Say what it may have, and what it took until then."""
        super().__init__(limit)
        self.turns = turns


STATEMENTS = 5
"""As many of the largest statements that there may be are the most that one file may come to."""


class Tally:
    """What the statements of one file have come to: views of views of wide tables are many columns in few words."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.edges = 0
        self.turns = 0

    def excess(self, edges: int) -> str:
        """The limit of a file that is reached, if it is."""
        limit = STATEMENTS * (edges or USUAL)
        if self.edges > limit:
            return f"{limit} column edges"
        return _steps(limit) if self.turns > TURNS * limit else ""


def _steps(edges: int) -> str:
    return f"{TURNS * edges} steps on the ways of columns"


class Budget:
    """What the relations of one statement have come to, and what it took: the same on every machine, unlike a clock."""

    def __init__(self, edges: int = 0) -> None:
        """Start with nothing; without a limit, the usual one holds."""
        self.limit = edges or USUAL
        self.columns = 0
        self.edges = 0
        self.turns = 0

    def hold(self, columns: int) -> None:
        """Refuse a select list that alone is too long."""
        if columns > self.limit:
            raise TooMuch(f"{self.limit} column edges", self.turns)

    def pay(self, linked: Linked) -> None:
        """Count one more relation; its edges are added up as soon as there are many columns."""
        ways = sum([len(column.value.flows) or 1 for column in linked.columns])
        self.hold(ways)
        self.columns += len(linked.columns)
        if self.columns > FEW or self.columns > self.limit:
            self.edges += ways + len(linked.indirect)
            self.hold(self.edges)
        elif ways + len(linked.indirect) > MANY:
            self.turn(ways + len(linked.indirect))

    def turn(self, ways: int) -> None:
        """Count ways that were taken up once more, on the way to whatever becomes of them."""
        self.turns += ways
        if self.turns > TURNS * self.limit:
            raise TooMuch(_steps(self.limit), self.turns)

    def foresee(self, ways: int) -> None:
        """Count what may come; what would be too much is not begun, and costs nothing else its share."""
        if self.turns + ways > TURNS * self.limit:
            raise TooMuch(_steps(self.limit), self.turns)
        self.turns += ways
