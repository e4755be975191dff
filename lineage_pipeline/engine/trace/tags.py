"""Tag propagation: tags follow values along every DIRECT edge that does not mask them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

import msgspec

from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.model.plan import Plan
from lineage_pipeline.model.tables import Column, ColumnEdge

TagNode = tuple[str, str]
ColumnTags = tuple[str, ...]


def is_tag_carrier(edge: ColumnEdge) -> bool:
    """Say whether an edge passes a value on unmasked."""
    return edge.type is EdgeType.DIRECT and not edge.masking


def propagate_tags(
    tagged: Mapping[TagNode, Iterable[str]], edges: Iterable[tuple[TagNode, TagNode]]
) -> dict[TagNode, ColumnTags]:
    """The tags of every column that has some: its own, and those of the columns its values come from."""
    readers: dict[TagNode, list[TagNode]] = defaultdict(list)
    for source, target in edges:
        readers[source].append(target)
    found: dict[TagNode, set[str]] = {node: set(tags) for node, tags in tagged.items() if tags}
    pending = list(found)
    while pending:
        node = pending.pop()
        for target in readers.get(node, ()):
            known = found.setdefault(target, set())
            if not found[node] <= known:
                known |= found[node]
                pending.append(target)
    return {node: tuple(sorted(tags)) for node, tags in found.items()}


def with_propagated_tags(
    columns: Iterable[Column], edges: Iterable[ColumnEdge], temporary: Collection[str]
) -> list[Column]:
    """The columns with the tags that reach them."""
    rows = list(columns)
    own = {(row.object, row.name): row.tags for row in rows}
    tags = propagate_tags(
        own, (step for edge in edges if is_tag_carrier(edge) for step in list_tag_steps(edge, temporary))
    )
    return [with_column_tags(row, tags) for row in rows]


def list_temporary_objects(plan: Plan) -> frozenset[str]:
    """The objects that edges pass through instead of ending there."""
    return frozenset(name for name, known in plan.objects.items() if known.row.temporary)


def list_tag_steps(edge: ColumnEdge, temporary: Collection[str]) -> Iterator[tuple[TagNode, TagNode]]:
    """The path of a value along an edge, through columns of temporary tables, which have tags of their own."""
    ends = (edge.from_object, edge.from_column), (edge.to_object, edge.to_column)
    return connect_hops(ends, [(hop.object, hop.column) for hop in edge.hops], temporary)


def connect_hops(
    ends: tuple[TagNode, TagNode], hops: Iterable[TagNode], temporary: Collection[str]
) -> Iterator[tuple[TagNode, TagNode]]:
    """The steps from one end to the other through the hops that are temporary tables."""
    return pairwise([ends[0], *(hop for hop in hops if hop[0] in temporary), ends[1]])


def with_column_tags(row: Column, tags: Mapping[TagNode, ColumnTags]) -> Column:
    """A column with its propagated tags."""
    found = tags.get((row.object, row.name), row.tags)
    return row if found == row.tags else msgspec.structs.replace(row, tags=found)
