"""Inferred columns: known only because a statement reads them, and passed back through unexpanded stars."""

from collections.abc import Iterable, Mapping

from lineage_pipeline.engine.link.rows import StarEdge
from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.tables import ColumnEdge

ColumnRequest = tuple[str, str]


class ListedColumns:
    """The column names that schemas list, by object, built on demand."""

    def __init__(self, schemas: Mapping[str, TableSchema]) -> None:
        """Take the schemas."""
        self._schemas = schemas
        self._names: dict[str, set[str]] = {}

    def lacks(self, name: str, column: str) -> bool:
        """Say whether an object is known and does not list a column."""
        names = self._names.get(name)
        if names is None:
            schema = self._schemas.get(name)
            if schema is None:
                return False
            names = self._names[name] = _column_names(schema)
        return column not in names


def find_requested_columns(edges: Iterable[ColumnEdge], listed: ListedColumns) -> set[ColumnRequest]:
    """The columns that edges name and no schema lists."""
    found: set[ColumnRequest] = set()
    for edge in edges:
        for name, column in ((edge.from_object, edge.from_column), (edge.to_object, edge.to_column)):
            if column != "*" and listed.lacks(name, column):
                found.add((name, column))
    return found


def propagate_requests(
    requests: set[ColumnRequest], passings: Iterable[StarEdge], schemas: Mapping[str, TableSchema]
) -> tuple[set[ColumnRequest], list[ColumnEdge]]:
    """All columns requested through stars, and the edges that carry them."""
    stars: dict[str, list[StarEdge]] = {}
    for passing in passings:
        stars.setdefault(passing.target, []).append(passing)
    listed = ListedColumns(schemas)
    everything, pending = set(requests), sorted(requests)
    edges: dict[tuple[str, ...], ColumnEdge] = {}  # two arms of a MERGE may carry the same column
    while pending:
        target, column = pending.pop()
        for passing in stars.get(target, ()):
            if column in passing.exclude:
                continue
            edges.setdefault(
                (passing.path, str(passing.statement), passing.source, target, column),
                _build_request_edge(passing, column),
            )
            request = (passing.source, column)
            if request not in everything and (passing.source not in schemas or listed.lacks(*request)):
                everything.add(request)
                pending.append(request)
    return everything, list(edges.values())


def _column_names(schema: TableSchema) -> set[str]:
    return {column.name for column in (*schema.columns, *schema.parameters)}


def _build_request_edge(passing: StarEdge, column: str) -> ColumnEdge:
    return ColumnEdge(
        path=passing.path,
        statement=passing.statement,
        from_object=passing.source,
        from_column=column,
        from_path=None,
        to_object=passing.target,
        to_column=column,
        type=EdgeType.DIRECT,
        subtype=Subtype.IDENTITY,
        masking=False,
        approximate=passing.approximate,
        conditional=passing.conditional,
        expression=passing.expression,
        span=passing.span,
        from_span=passing.span,
        hops=(),
        uses=(),
    )
