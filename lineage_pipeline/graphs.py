"""The graphs of an analysis, on demand: the inside of each statement is linked again, without collapsing it."""

from collections.abc import Iterator

from lineage_pipeline.engine.link.inside import inside_of, taken_from
from lineage_pipeline.engine.link.steps import Steps, script_steps
from lineage_pipeline.engine.trace.global_graph import global_graph
from lineage_pipeline.engine.trace.statement_graph import Place, Surroundings, statement_graph
from lineage_pipeline.pipeline import Compiled, Workings
from lineage_pipeline.vocabulary.graph import Graph
from lineage_pipeline.vocabulary.inside import Inside


class Graphs:
    """The graphs of one analysis."""

    def __init__(self, workings: Workings) -> None:
        """Start with what the lineage was worked out from."""
        self.workings = workings
        self.lineage = workings.lineage
        self.files = {item.file.path: item for item in workings.compiled}
        self.places: dict[str, list[Place]] = {}
        self.steps: dict[str, dict[int, Steps]] = {}
        self.known = Surroundings(
            {row.object: row for row in self.lineage.objects},
            {(row.object, row.name): row for row in self.lineage.columns},
        )
        self.listed = {
            name: {column.name for column in (*schema.columns, *schema.parameters)}
            for name, schema in workings.registry.schemas.items()
        }
        self.asked: dict[str, dict[str, None]] = {}
        for row in self.lineage.columns:
            self._ask(row.object, row.name)
        self._ask_temporary()

    def statement(self, path: str, ordinal: int) -> Graph:
        """The graph of one statement."""
        if path not in self.places:
            self.places[path] = list(_places(self.files[path], self.workings))
        return statement_graph(self.places[path][ordinal], self._inside(path, ordinal), self.known)

    def statements(self) -> Iterator[Graph]:
        """The graphs of all statements, in the order of the table."""
        return (self.statement(row.path, row.ordinal) for row in self.lineage.statements)

    def whole(self) -> Graph:
        """The graph of all statements together."""
        return global_graph(self.statements(), self.lineage.object_statements)

    def _inside(self, path: str, ordinal: int) -> Inside:
        item, bound = self.files[path], self.workings.plan.bound[path]
        if path not in self.steps:
            self.steps[path] = script_steps(item.script, bound, self.workings.registry.inputs, item.traits)
        statement = item.script.statements[ordinal].statement
        return inside_of(statement, bound[ordinal], self.steps[path][ordinal], self.asked)

    def _ask(self, name: str, column: str) -> bool:
        """Remember a column that no schema lists, because it is known from its use only."""
        if column in self.listed.get(name, ()) or column in self.asked.get(name, ()):
            return False
        self.asked.setdefault(name, {})[column] = None
        return True

    def _ask_temporary(self) -> None:
        """Add what statements take from open temporary objects: those have no columns in the tables."""
        opened = {row.object for row in self.lineage.objects if row.temporary and row.open}
        readers = [
            (path, bound.ordinal)
            for path, names in self.workings.plan.bound.items()
            for bound in names
            if opened and any(name in opened for _, name in bound.names)
        ]
        grown = True
        while grown:
            taken = [pair for place in readers for pair in taken_from(self._inside(*place), opened)]
            grown = sum(self._ask(name, column) for name, column in taken) > 0


def _places(item: Compiled, workings: Workings) -> Iterator[Place]:
    """The statements of a file at their places."""
    bound, statements = workings.plan.bound[item.file.path], item.script.statements
    identities = tuple(_identities(item))
    for ordinal, placed in enumerate(statements):
        parent = placed.parent
        while parent >= 0 and statements[parent].statement.definition is None:
            parent = statements[parent].parent
        definition = statements[parent].statement.definition if parent >= 0 else None
        module = dict(bound[parent].names)[definition.name.parts] if definition is not None else ""
        yield Place(item.text, ordinal, placed.start, identities, module)


def _identities(item: Compiled) -> Iterator[str]:
    """What tells the statements of a file apart: what they say, and which of those that say the same they are."""
    counts: dict[str, int] = {}
    for placed in item.script.statements:
        said = placed.statement.fingerprint or item.file.text[placed.start : placed.end]
        counts[said] = counts.get(said, 0) + 1
        yield "\0".join((item.file.path, said, str(counts[said])))
