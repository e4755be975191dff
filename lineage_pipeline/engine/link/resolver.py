"""The protocol by which expressions, stars and selects reach the relations, inputs and budget of their statement."""

from collections.abc import Mapping
from typing import Protocol

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.budget import LinkBudget
from lineage_pipeline.engine.link.model import BoundRelation, FindingReporter, OutputColumn, TableInput, VariableValues
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.model import ir


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
