"""What the parts of the linker ask of whoever links a statement's relations."""

from collections.abc import Mapping
from typing import Protocol

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.budget import Budget
from lineage_pipeline.engine.link.model import Input, Linked, Out, Variables
from lineage_pipeline.engine.link.scope import Report, Scope
from lineage_pipeline.vocabulary import ir


class Links(Protocol):
    """Whoever knows the inputs of a statement, what variables hold, and links the other relations."""

    traits: Traits
    report: Report
    variables: Variables
    functions: Mapping[str, Input]
    budget: Budget
    handed: dict[tuple[str, str], Out]

    def relation(self, index: int, outer: Scope | None) -> Linked:
        """The relation at an index."""

    def input(self, name: ir.Name) -> Input:
        """The object that a name stands for."""

    def function(self, parts: tuple[str, ...]) -> Input | None:
        """The function of the user's own that a dotted name calls, where it is known."""
