"""Link cache: a statement whose names and schemas are the same as before is not linked again."""

from collections.abc import Iterator, Mapping

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.link.model import TableInput
from lineage_pipeline.engine.link.statement import LinkedStatement, link_statement
from lineage_pipeline.engine.link.table_schema import build_table_input
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline.model.plan import NameBindings


class LinkCache:
    """Linked statements by link key: the statement, its bound names, and the schemas of those objects.

    Statements and schemas are compared by identity, so the cache holds them; equal ones are made identical first.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.count = 0
        self._linked: dict[tuple[object, ...], LinkedStatement] = {}
        self._inputs: dict[str, list[tuple[TableSchema, bool, TableInput]]] = {}
        self._held: list[object] = []

    def link(
        self, statement: ir.Statement, bound: NameBindings, inputs: Mapping[str, TableInput], traits: DialectTraits
    ) -> LinkedStatement:
        """Link a statement, unless one with the same key was linked before."""
        key = (id(statement), bound, self.inputs_key(bound, inputs))
        found = self._linked.get(key)
        if found is None:
            self.count += 1
            self._held.append(statement)
            found = self._linked[key] = link_statement(statement, bound, inputs, traits)
        return found

    def input(self, schema: TableSchema, temporary: bool) -> TableInput:
        """The table input of a schema, the same object for the same schema."""
        known = self._inputs.setdefault(schema.object, [])
        for before, lasts, made in known:
            if lasts is temporary and before == schema:
                return made
        known.append((schema, temporary, build_table_input(schema, temporary)))
        return known[-1][2]

    @staticmethod
    def inputs_key(bound: NameBindings, inputs: Mapping[str, TableInput]) -> tuple[int, ...]:
        """Identities of the schemas of all objects that a statement names."""
        names = [bound.result, bound.made, *(name for _, name in bound.names), *(key for _, key in bound.states)]
        return tuple([id(inputs.get(name)) for name in names])


def list_bound_objects(bound: NameBindings) -> Iterator[str]:
    """All objects, and states of objects, that linking a statement looks at."""
    yield from (name for _, name in bound.names)
    yield from (key for _, key in bound.states)
    if bound.made:
        yield bound.made
    if bound.result:
        yield bound.result
