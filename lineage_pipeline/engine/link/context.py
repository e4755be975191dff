"""The context of linking one statement: its relations, inputs and functions, and the budget of edges and steps."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.model import BoundRelation, FindingReporter, OutputColumn, TableInput, VariableValues
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Limits

EDGE_COUNT_THRESHOLD = 10_000
"""Below this many columns in a statement, the edges of its relations are not added up."""

FLOW_COUNT_THRESHOLD = 50
"""Flows into one value from which they are counted; few values have more than a handful."""

STEPS_PER_EDGE = 50
"""Steps that linking may take for each edge that a statement may have: a few seconds in total."""


SOURCES_PER_STEP = 16
"""Sources that can be searched for a column in the time of one step."""

STEPS_PER_TEXT = 4
"""Steps that a flow costs when its text is combined with others."""


DEFAULT_EDGE_LIMIT = Limits().edges
"""The edge limit of a statement where none is configured."""


class BudgetExceeded(Exception):
    """A statement needs more than its limit; caught where the statement is linked."""

    def __init__(self, limit: str, turns: int) -> None:
        """Take the limit as text, and the steps used so far."""
        super().__init__(limit)
        self.turns = turns


FILE_LIMIT_FACTOR = 5
"""The limit of a file, as a multiple of the limit of one statement."""


class FileTally:
    """Edges and steps used by the statements of one file: views over views of wide tables add up quickly."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.edges = 0
        self.turns = 0

    def exceeded_limit(self, edges: int) -> str:
        """The limit of the file that is exceeded, or an empty text."""
        limit = FILE_LIMIT_FACTOR * (edges or DEFAULT_EDGE_LIMIT)
        if self.edges > limit:
            return f"{limit} column edges"
        return _describe_step_limit(limit) if self.turns > STEPS_PER_EDGE * limit else ""


def _describe_step_limit(edges: int) -> str:
    return f"{STEPS_PER_EDGE * edges} steps on the ways of columns"


class LinkBudget:
    """Edges and steps used by the relations of one statement; deterministic, unlike a clock."""

    def __init__(self, edges: int = 0) -> None:
        """Start at zero; without a limit, the default applies."""
        self.limit = edges or DEFAULT_EDGE_LIMIT
        self.columns = 0
        self.edges = 0
        self.turns = 0

    def check_column_count(self, columns: int) -> None:
        """Refuse a select list that alone exceeds the limit."""
        if columns > self.limit:
            raise BudgetExceeded(f"{self.limit} column edges", self.turns)

    def charge_relation(self, linked: BoundRelation) -> None:
        """Count one relation; its edges are added up once there are many columns."""
        ways = sum([len(column.value.flows) or 1 for column in linked.columns])
        self.check_column_count(ways)
        self.columns += len(linked.columns)
        if self.columns > EDGE_COUNT_THRESHOLD or self.columns > self.limit:
            self.edges += ways + len(linked.indirect)
            self.check_column_count(self.edges)
        elif ways + len(linked.indirect) > FLOW_COUNT_THRESHOLD:
            self.charge_steps(ways + len(linked.indirect))

    def charge_steps(self, ways: int) -> None:
        """Count flows that are processed once more."""
        self.turns += ways
        if self.turns > STEPS_PER_EDGE * self.limit:
            raise BudgetExceeded(_describe_step_limit(self.limit), self.turns)

    def reserve_steps(self, ways: int) -> None:
        """Count expected steps; a computation that would exceed the limit is not started."""
        if self.turns + ways > STEPS_PER_EDGE * self.limit:
            raise BudgetExceeded(_describe_step_limit(self.limit), self.turns)
        self.turns += ways


MAX_EXPONENT = 60
"""The exponent above which the estimate is cut off."""


def estimate_match_steps(pattern: str, length: int) -> int:
    """Worst-case steps of matching a regular expression against a name of this length."""
    repeats, nested = _count_repeats(pattern)
    return 1 << min(length, MAX_EXPONENT) if nested else int(length ** min(repeats, MAX_EXPONENT))


@lru_cache(maxsize=256)
def _count_repeats(pattern: str) -> tuple[int, bool]:
    """The number of repeated parts of a pattern, and whether a repeated group contains a choice or a repeat."""
    found, nested, groups, skip = 0, False, [False], False
    for place, sign in enumerate(pattern):
        if skip or sign == "\\":
            skip = not skip
            continue
        behind = pattern[place + 1 : place + 2]
        match sign:
            case "(":
                groups.append(False)
            case ")" if len(groups) > 1:
                choice = groups.pop()
                nested |= choice and behind in ("*", "+", "{")
                groups[-1] |= choice
            case "*" | "+" | "{" | "|":
                found += sign != "|"
                groups[-1] = True
    return found, nested


class RelationResolver(Protocol):
    """Resolves the relations, inputs and user-defined functions of one statement."""

    traits: DialectTraits
    report: FindingReporter
    variables: VariableValues
    functions: Mapping[str, TableInput]
    budget: LinkBudget
    handed: dict[tuple[str, str], OutputColumn]

    def relation(self, index: int, outer: Scope | None) -> BoundRelation:
        """The bound relation at an index."""

    def input(self, name: ir.Name) -> TableInput:
        """The object that a name refers to."""

    def function(self, parts: tuple[str, ...]) -> TableInput | None:
        """The user-defined function that a dotted name calls, or None where it is unknown."""
