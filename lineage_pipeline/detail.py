"""Statement graphs on demand: each statement is linked again without collapsing its inner relations."""

from collections.abc import Iterator

from lineage_pipeline.engine.link.detail import (
    StatementSteps,
    build_statement_detail,
    link_script_steps,
    list_taken_columns,
)
from lineage_pipeline.engine.trace.statement_graph import (
    KnownObjects,
    StatementPosition,
    build_global_graph,
    build_statement_graph,
)
from lineage_pipeline.model.graph import Graph
from lineage_pipeline.model.statement_detail import StatementDetail
from lineage_pipeline.pipeline import AnalysisResult, CompiledFile


class AnalysisGraphs:
    """The graphs of one analysis."""

    def __init__(self, workings: AnalysisResult) -> None:
        """Start with the analysis result."""
        self.workings = workings
        self.lineage = workings.lineage
        self.files = {item.file.path: item for item in workings.compiled}
        self.places: dict[str, list[StatementPosition]] = {}
        self.steps: dict[str, dict[int, StatementSteps]] = {}
        self.known = KnownObjects(
            {row.object: row for row in self.lineage.objects},
            {(row.object, row.name): row for row in self.lineage.columns},
        )
        self.listed = {
            name: {column.name for column in (*schema.columns, *schema.parameters)}
            for name, schema in workings.registry.schemas.items()
        }
        self.asked: dict[str, dict[str, None]] = {}
        for row in self.lineage.columns:
            self._request_column(row.object, row.name)
        self._request_temporary_columns()

    def statement(self, path: str, ordinal: int) -> Graph:
        """The graph of one statement."""
        if path not in self.places:
            self.places[path] = list(_statement_positions(self.files[path], self.workings))
        return build_statement_graph(self.places[path][ordinal], self._statement_detail(path, ordinal), self.known)

    def statements(self) -> Iterator[Graph]:
        """The graphs of all statements, in table order."""
        return (self.statement(row.path, row.ordinal) for row in self.lineage.statements)

    def whole(self) -> Graph:
        """The graph of all statements together."""
        return build_global_graph(self.statements(), self.lineage.object_statements)

    def _statement_detail(self, path: str, ordinal: int) -> StatementDetail:
        item, bound = self.files[path], self.workings.plan.bound[path]
        if path not in self.steps:
            self.steps[path] = link_script_steps(item.script, bound, self.workings.registry.inputs, item.traits)
        statement = item.script.statements[ordinal].statement
        return build_statement_detail(statement, bound[ordinal], self.steps[path][ordinal], self.asked)

    def _request_column(self, name: str, column: str) -> bool:
        """Record a column that no schema lists, known only from its use."""
        if column in self.listed.get(name, ()) or column in self.asked.get(name, ()):
            return False
        self.asked.setdefault(name, {})[column] = None
        return True

    def _request_temporary_columns(self) -> None:
        """Add what statements take from open temporary tables, whose columns are in no table."""
        opened = {row.object for row in self.lineage.objects if row.temporary and row.open}
        readers = [
            (path, bound.ordinal)
            for path, names in self.workings.plan.bound.items()
            for bound in names
            if opened and any(name in opened for _, name in bound.names)
        ]
        grown = True
        while grown:
            taken = [pair for place in readers for pair in list_taken_columns(self._statement_detail(*place), opened)]
            grown = sum(self._request_column(name, column) for name, column in taken) > 0


def _statement_positions(item: CompiledFile, workings: AnalysisResult) -> Iterator[StatementPosition]:
    """The statements of a file with their positions."""
    bound, statements = workings.plan.bound[item.file.path], item.script.statements
    identities = tuple(_statement_identities(item))
    for ordinal, placed in enumerate(statements):
        parent = placed.parent
        while parent >= 0 and statements[parent].statement.definition is None:
            parent = statements[parent].parent
        definition = statements[parent].statement.definition if parent >= 0 else None
        module = dict(bound[parent].names)[definition.name.parts] if definition is not None else ""
        yield StatementPosition(
            text=item.text, statement=ordinal, start=placed.start, identities=identities, module=module
        )


def _statement_identities(item: CompiledFile) -> Iterator[str]:
    """Identities of the statements of a file: their content, numbered where it repeats."""
    counts: dict[str, int] = {}
    for placed in item.script.statements:
        said = placed.statement.fingerprint or item.file.text[placed.start : placed.end]
        counts[said] = counts.get(said, 0) + 1
        yield "\0".join((item.file.path, said, str(counts[said])))
