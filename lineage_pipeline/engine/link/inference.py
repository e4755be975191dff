"""Inference: columns that are known only because somebody reads them, passed back through open stars."""

from collections.abc import Iterable, Mapping

from lineage_pipeline.engine.link.rows import Passing
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge

Request = tuple[str, str]


class Listed:
    """The names of columns that schemas list, of each object once somebody asks."""

    def __init__(self, schemas: Mapping[str, TableSchema]) -> None:
        """Take the schemas."""
        self._schemas = schemas
        self._names: dict[str, set[str]] = {}

    def lacks(self, name: str, column: str) -> bool:
        """Whether an object is known and does not list a column."""
        names = self._names.get(name)
        if names is None:
            schema = self._schemas.get(name)
            if schema is None:
                return False
            names = self._names[name] = _listed(schema)
        return column not in names


def requested(edges: Iterable[ColumnEdge], listed: Listed) -> set[Request]:
    """The columns that edges name and that no schema lists."""
    found: set[Request] = set()
    for edge in edges:
        for name, column in ((edge.from_object, edge.from_column), (edge.to_object, edge.to_column)):
            if column != "*" and listed.lacks(name, column):
                found.add((name, column))
    return found


def passed(
    requests: set[Request], passings: Iterable[Passing], schemas: Mapping[str, TableSchema]
) -> tuple[set[Request], list[ColumnEdge]]:
    """Every column that is asked for through stars, and the edges that carry it."""
    stars: dict[str, list[Passing]] = {}
    for passing in passings:
        stars.setdefault(passing.target, []).append(passing)
    listed = Listed(schemas)
    everything, pending = set(requests), sorted(requests)
    edges: dict[tuple[str, ...], ColumnEdge] = {}  # two arms of a MERGE may carry the same column
    while pending:
        target, column = pending.pop()
        for passing in stars.get(target, ()):
            if column in passing.exclude:
                continue
            edges.setdefault(
                (passing.path, str(passing.statement), passing.source, target, column), _edge(passing, column)
            )
            request = (passing.source, column)
            if request not in everything and (passing.source not in schemas or listed.lacks(*request)):
                everything.add(request)
                pending.append(request)
    return everything, list(edges.values())


def _listed(schema: TableSchema) -> set[str]:
    return {column.name for column in (*schema.columns, *schema.parameters)}


def _edge(passing: Passing, column: str) -> ColumnEdge:
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
