"""How much one statement may come to: a few words can ask for more columns than any machine holds."""

from lineage_pipeline.engine.link.model import Linked
from lineage_pipeline.vocabulary.analysis import Limits

FEW = 10_000
"""As long as a statement has fewer columns in all, its edges need not be counted."""


class TooMuch(Exception):
    """A statement has more edges than it may; it is caught where the statement is linked."""

    def __init__(self, limit: int) -> None:
        """Say how many it may have."""
        super().__init__(f"{limit} column edges")


STATEMENTS = 5
"""As many of the largest statements that there may be are the most that one file may come to."""


class Tally:
    """What the statements of one file have come to: views of views of wide tables are many columns in few words."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.edges = 0

    def excess(self, edges: int) -> str:
        """The limit of a file that is reached, if it is."""
        limit = STATEMENTS * (edges or Limits().edges)
        return f"{limit} column edges" if self.edges > limit else ""


class Budget:
    """What the relations of one statement have come to."""

    def __init__(self, edges: int = 0) -> None:
        """Start with nothing; without a limit, the usual one holds."""
        self.limit = edges or Limits().edges
        self.columns = 0
        self.edges = 0

    def hold(self, columns: int) -> None:
        """Refuse a select list that alone is too long."""
        if columns > self.limit:
            raise TooMuch(self.limit)

    def pay(self, linked: Linked) -> None:
        """Count one more relation."""
        self.columns += len(linked.columns)
        if self.columns > FEW or self.columns > self.limit:
            self.edges += sum([len(column.value.flows) or 1 for column in linked.columns]) + len(linked.indirect)
            if self.edges > self.limit:
                raise TooMuch(self.limit)
