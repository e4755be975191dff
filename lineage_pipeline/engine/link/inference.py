"""Inference: columns that are known only because somebody reads them, passed back through open stars."""

from collections.abc import Iterable, Mapping

from lineage_pipeline.engine.link.rows import Passing
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge

Request = tuple[str, str]


def requested(edges: Iterable[ColumnEdge], schemas: Mapping[str, TableSchema]) -> set[Request]:
    """The columns that edges name and that no schema lists."""
    listed = {name: _listed(schema) for name, schema in schemas.items()}
    found: set[Request] = set()
    for edge in edges:
        for name, column in ((edge.from_object, edge.from_column), (edge.to_object, edge.to_column)):
            if column != "*" and name in listed and column not in listed[name]:
                found.add((name, column))
    return found


def passed(
    requests: set[Request], passings: Iterable[Passing], schemas: Mapping[str, TableSchema]
) -> tuple[set[Request], list[ColumnEdge]]:
    """Every column that is asked for through stars, and the edges that carry it."""
    stars: dict[str, list[Passing]] = {}
    for passing in passings:
        stars.setdefault(passing.target, []).append(passing)
    known = {name: _listed(schema) for name, schema in schemas.items()}
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
            if request not in everything and column not in known.get(passing.source, ()):
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
        approximate=passing.sources > 1,
        conditional=False,
        expression=passing.expression,
        span=passing.span,
        from_span=passing.span,
        hops=(),
        uses=(),
    )
