"""A lineage or one statement as boxes and arrows, limited to what can be drawn, by file, object or column."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeType, Grain, GraphEdgeType, NodeType, Operation, Role
from lineage_pipeline.model.graph import Graph, GraphEdge, GraphNode

WRITING_ROLES = frozenset({Role.DEFINE, Role.WRITE, Role.ALTER})
READING_ROLES = frozenset({Role.READ, Role.CALL})
GRAIN_NOUNS = {Grain.SCRIPT: "files", Grain.TABLE: "objects", Grain.COLUMN: "objects"}
UNRESOLVED = "?"
APPROXIMATE = "approximate"
"""Mark of an arrow that is not certain."""


class Box(msgspec.Struct, frozen=True):
    """A file or an object; `columns` are its names and types at the finest grain.

    `state` is its state between two revisions (`added`, `removed`, `changed` or empty), `states` the same
    of its columns by name; `label` is the shown name where that is not the id.
    """

    id: str
    kind: str
    columns: tuple[tuple[str, str], ...] = ()
    place: str = ""
    label: str = ""
    state: str = ""
    states: Mapping[str, str] = {}


class Arrow(msgspec.Struct, frozen=True, order=True):
    """A flow from one box to another, at the finest grain from column to column; None is a whole box."""

    source: str
    target: str
    how: tuple[str, ...]
    direct: bool = True
    source_column: str | None = None
    target_column: str | None = None
    state: str = ""


class Picture(msgspec.Struct, frozen=True):
    """Boxes and arrows in the order of their names; `cut` says what was omitted."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    cut: str = ""


def draw_lineage(lineage: LineageTables, grain: Grain, most: int) -> Picture:
    """Draw a lineage with at most `most` boxes, the most connected ones, and four times as many arrows."""
    picture = DRAWERS[grain](lineage)
    return _limit_picture(picture, grain, most)


def _draw_scripts(lineage: LineageTables) -> Picture:
    """Draw files, and the objects that one writes and another reads."""
    writers: dict[str, set[str]] = defaultdict(set)
    readers: dict[str, set[str]] = defaultdict(set)
    for row in lineage.object_statements:
        if row.role in WRITING_ROLES:
            writers[row.object].add(row.path)
        elif row.role in READING_ROLES:
            readers[row.object].add(row.path)
    carried: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, paths in writers.items():
        for source in paths:
            for target in readers.get(name, set()) - {source}:
                carried[source, target].add(name)
    arrows = sorted(Arrow(*ends, tuple(sorted(names))) for ends, names in carried.items())
    boxes = tuple(Box(path, "script") for path in sorted({row.path for row in lineage.statements}))
    return Picture(boxes, tuple(arrows))


def _draw_objects(lineage: LineageTables) -> Picture:
    """Draw objects, and which is made from which."""
    how: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in lineage.object_edges:
        how[edge.from_object, edge.to_object].add(edge.kind.value)
    boxes = tuple(Box(row.object, row.kind.value, (), _box_location(row.path, row.line)) for row in lineage.objects)
    arrows = sorted(Arrow(*ends, tuple(sorted(kinds))) for ends, kinds in how.items())
    return Picture(boxes, _arrows_between(boxes, arrows))


def _draw_columns(lineage: LineageTables) -> Picture:
    """Draw objects with their columns, and which column feeds which."""
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append((column.name, column.type or ""))
    boxes = tuple(
        Box(row.object, row.kind.value, tuple(columns[row.object]), _box_location(row.path, row.line))
        for row in lineage.objects
    )
    how: dict[tuple[str, str, bool, str | None, str | None], set[str]] = defaultdict(set)
    for edge in lineage.column_edges:
        ends = tuple(None if name == "*" else name for name in (edge.from_column, edge.to_column))
        direct = edge.type is EdgeType.DIRECT
        words = {edge.subtype.value, APPROXIMATE} if edge.approximate else {edge.subtype.value}
        how[edge.from_object, edge.to_object, direct, ends[0], ends[1]] |= words
    arrows = [
        Arrow(
            source=source,
            target=target,
            how=tuple(sorted(words)),
            direct=direct,
            source_column=source_column,
            target_column=target_column,
        )
        for (source, target, direct, source_column, target_column), words in how.items()
    ]
    return Picture(boxes, _arrows_between(boxes, sorted(arrows, key=_arrow_order)))


DRAWERS = {Grain.SCRIPT: _draw_scripts, Grain.TABLE: _draw_objects, Grain.COLUMN: _draw_columns}


def _arrow_order(arrow: Arrow) -> tuple[str, str, bool, str, str]:
    return arrow.source, arrow.target, not arrow.direct, arrow.source_column or "", arrow.target_column or ""


def _arrows_between(boxes: Iterable[Box], arrows: Iterable[Arrow]) -> tuple[Arrow, ...]:
    known = {box.id for box in boxes}
    return tuple(arrow for arrow in arrows if arrow.source in known and arrow.target in known)


def _box_location(path: str | None, line: int | None) -> str:
    return "" if path is None else path if line is None else f"{path}:{line}"


def _limit_picture(picture: Picture, grain: Grain, most: int) -> Picture:
    """Keep the most connected boxes, then arrows of values before the others; say what was omitted."""
    boxes, arrows = picture.boxes, picture.arrows
    if len(boxes) > most:
        kept = _most_connected(boxes, _count_degrees(arrows), most)
        boxes = tuple(box for box in boxes if box.id in kept)
        arrows = _arrows_between(boxes, arrows)
    if len(arrows) > 4 * most:
        first = set(sorted(arrows, key=lambda arrow: not arrow.direct)[: 4 * most])
        arrows = tuple(arrow for arrow in arrows if arrow in first)
    cut = [
        f"{len(drawn):,} of {len(found):,} {noun}"
        for drawn, found, noun in ((boxes, picture.boxes, GRAIN_NOUNS[grain]), (arrows, picture.arrows, "arrows"))
        if len(drawn) < len(found)
    ]
    return Picture(boxes, arrows, " and ".join(cut))


def _count_degrees(arrows: Iterable[Arrow]) -> Mapping[str, int]:
    return Counter(name for arrow in arrows for name in {arrow.source, arrow.target})


def _most_connected(boxes: Sequence[Box], degrees: Mapping[str, int], most: int) -> frozenset[str]:
    ranked = sorted(boxes, key=lambda box: (-degrees.get(box.id, 0), box.id))
    return frozenset(box.id for box in ranked[:most])


VALUE_OPERATIONS = frozenset({Operation.IDENTITY, Operation.TRANSFORMATION, Operation.AGGREGATION})


def draw_statement(graph: Graph) -> tuple[Picture, tuple[Arrow, ...]]:
    """Draw the graph of a statement, and the flows between its columns."""
    owners = {edge.target: edge.source for edge in graph.edges if edge.type is GraphEdgeType.OWNERSHIP}
    names = _unique_names([node for node in graph.nodes if node.type is not NodeType.COLUMN])
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for node in graph.nodes:
        if node.id in owners:
            columns[owners[node.id]].append((node.label, ""))
    boxes = [
        Box(names[node.id], node.type.value, tuple(dict.fromkeys(columns[node.id])), _node_location(graph, node))
        for node in graph.nodes
        if node.id in names
    ]
    links = [edge for edge in graph.edges if edge.type is not GraphEdgeType.OWNERSHIP]
    flows = tuple(_column_flow(graph, edge, owners, names) for edge in links if _touches_column(edge, owners))
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in links:
        source, target = (names[owners.get(end, end)] for end in (edge.source, edge.target))
        if source != target:
            between[source, target] |= {edge.operation.value} if edge.operation else set()
    arrows = sorted(Arrow(source, target, tuple(sorted(how))) for (source, target), how in between.items())
    return Picture(tuple(boxes), tuple(arrows)), flows


def _unique_names(nodes: list[GraphNode]) -> dict[str, str]:
    """Give each box a unique name: two relations of a statement may have the same name."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for node in nodes:
        wanted = name = node.qualified_name or node.label or node.type.value
        number = 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        names[node.id] = name
    return names


def _node_location(graph: Graph, node: GraphNode) -> str:
    return f"{graph.path}:{node.span.line}" if node.span else ""


def _touches_column(edge: GraphEdge, owners: Mapping[str, str]) -> bool:
    return edge.source in owners or edge.target in owners


def _column_flow(graph: Graph, edge: GraphEdge, owners: Mapping[str, str], names: Mapping[str, str]) -> Arrow:
    how = (edge.operation.value,) if edge.operation else ()
    return Arrow(
        source=names[owners.get(edge.source, edge.source)],
        target=names[owners.get(edge.target, edge.target)],
        how=(*how, APPROXIMATE) if edge.approximate else how,
        direct=edge.operation in VALUE_OPERATIONS,
        source_column=graph.node(edge.source).label if edge.source in owners else None,
        target_column=graph.node(edge.target).label if edge.target in owners else None,
    )
