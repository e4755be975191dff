"""What linking gave before, by all that it looked at: a statement whose names mean the same is not linked again."""

from collections.abc import Iterator, Mapping

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.link.model import Input
from lineage_pipeline.engine.link.shaping import input_of
from lineage_pipeline.engine.link.statement import LinkedStatement, link_statement
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.plan import Bound


class LinkMemory:
    """Linked statements by their link keys: the statement, what its names stand for, and the schemas of those.

    Statements and schemas are told apart by identity, which is why they are held: equal ones are made the same first.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self.count = 0
        self._linked: dict[tuple[object, ...], LinkedStatement] = {}
        self._inputs: dict[str, list[tuple[TableSchema, bool, Input]]] = {}
        self._held: list[object] = []

    def link(
        self, statement: ir.Statement, bound: Bound, inputs: Mapping[str, Input], traits: Traits
    ) -> LinkedStatement:
        """Link a statement, unless one like it was linked before."""
        key = (id(statement), bound, self.inputs_key(bound, inputs))
        found = self._linked.get(key)
        if found is None:
            self.count += 1
            self._held.append(statement)
            found = self._linked[key] = link_statement(statement, bound, inputs, traits)
        return found

    def input(self, schema: TableSchema, temporary: bool) -> Input:
        """Give what a schema is to its readers, the same thing for the same schema."""
        known = self._inputs.setdefault(schema.object, [])
        for before, lasts, made in known:
            if lasts is temporary and before == schema:
                return made
        known.append((schema, temporary, input_of(schema, temporary)))
        return known[-1][2]

    @staticmethod
    def inputs_key(bound: Bound, inputs: Mapping[str, Input]) -> tuple[int, ...]:
        """Name the schemas of what a statement names."""
        names = [bound.result, bound.made, *(name for _, name in bound.names), *(key for _, key in bound.states)]
        return tuple([id(inputs.get(name)) for name in names])


def named(bound: Bound) -> Iterator[str]:
    """All objects, and states of objects, that linking a statement looks at."""
    yield from (name for _, name in bound.names)
    yield from (key for _, key in bound.states)
    if bound.made:
        yield bound.made
    if bound.result:
        yield bound.result
