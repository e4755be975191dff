"""Tags travel with values: along every DIRECT edge, up to whatever masks them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

import msgspec

from lineage_pipeline.vocabulary.plan import Plan
from lineage_pipeline.vocabulary.sets import EdgeType
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge

Node = tuple[str, str]
Tags = tuple[str, ...]


def carries(edge: ColumnEdge) -> bool:
    """Whether a value passes an edge so that what it was can still be told."""
    return edge.type is EdgeType.DIRECT and not edge.masking


def spread(tagged: Mapping[Node, Iterable[str]], edges: Iterable[tuple[Node, Node]]) -> dict[Node, Tags]:
    """The tags of every column that has some, its own and those of the columns that its values come from."""
    readers: dict[Node, list[Node]] = defaultdict(list)
    for source, target in edges:
        readers[source].append(target)
    found: dict[Node, set[str]] = {node: set(tags) for node, tags in tagged.items() if tags}
    pending = list(found)
    while pending:
        node = pending.pop()
        for target in readers.get(node, ()):
            known = found.setdefault(target, set())
            if not found[node] <= known:
                known |= found[node]
                pending.append(target)
    return {node: tuple(sorted(tags)) for node, tags in found.items()}


def with_tags(columns: Iterable[Column], edges: Iterable[ColumnEdge], temporary: Collection[str]) -> list[Column]:
    """The columns with the tags that travel to them."""
    rows = list(columns)
    own = {(row.object, row.name): row.tags for row in rows}
    tags = spread(own, (step for edge in edges if carries(edge) for step in steps(edge, temporary)))
    return [retagged(row, tags) for row in rows]


def temporary_objects(plan: Plan) -> frozenset[str]:
    """The objects that edges pass through instead of ending there."""
    return frozenset(name for name, known in plan.objects.items() if known.row.temporary)


def steps(edge: ColumnEdge, temporary: Collection[str]) -> Iterator[tuple[Node, Node]]:
    """The way of a value along an edge, through columns of temporary objects, which have and give tags of their own."""
    ends = (edge.from_object, edge.from_column), (edge.to_object, edge.to_column)
    return way(ends, [(hop.object, hop.column) for hop in edge.hops], temporary)


def way(ends: tuple[Node, Node], hops: Iterable[Node], temporary: Collection[str]) -> Iterator[tuple[Node, Node]]:
    """The steps from one end to the other; what is no temporary object has no columns to stop at."""
    return pairwise([ends[0], *(hop for hop in hops if hop[0] in temporary), ends[1]])


def retagged(row: Column, tags: Mapping[Node, Tags]) -> Column:
    """A column with the tags that are known of it."""
    found = tags.get((row.object, row.name), row.tags)
    return row if found == row.tags else msgspec.structs.replace(row, tags=found)
