"""A lineage as boxes and arrows, at the grain of files, objects or columns, and no more of them than can be drawn."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import EdgeType, Grain, Role

WRITING = frozenset({Role.DEFINE, Role.WRITE, Role.ALTER})
READING = frozenset({Role.READ, Role.CALL})
NOUNS = {Grain.SCRIPT: "files", Grain.TABLE: "objects", Grain.COLUMN: "objects"}
UNRESOLVED = "?"
APPROXIMATE = "approximate"
"""What is said of an arrow that is not certain."""


class Box(msgspec.Struct, frozen=True):
    """A file or an object; `kind` is what it is, `columns` are its names and types at the finest grain.

    `state` says what became of it between two revisions (`added`, `removed`, `changed` or nothing), `states` the same
    of its columns by their names; `label` is what it is called, where that is not its id.
    """

    id: str
    kind: str
    columns: tuple[tuple[str, str], ...] = ()
    place: str = ""
    label: str = ""
    state: str = ""
    states: Mapping[str, str] = {}


class Arrow(msgspec.Struct, frozen=True, order=True):
    """What flows from one box to another, at the finest grain from column to column; None is all of a box."""

    source: str
    target: str
    how: tuple[str, ...]
    direct: bool = True
    source_column: str | None = None
    target_column: str | None = None
    state: str = ""


class Picture(msgspec.Struct, frozen=True):
    """Boxes and arrows in the order of their names; `cut` says what was left out."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    cut: str = ""


def draw(lineage: Lineage, grain: Grain, most: int) -> Picture:
    """Draw a lineage with at most so many boxes, the most connected ones, and four times as many arrows."""
    picture = DRAWN[grain](lineage)
    return _bounded(picture, grain, most)


def _scripts(lineage: Lineage) -> Picture:
    """Files, and what one writes that another reads."""
    writers: dict[str, set[str]] = defaultdict(set)
    readers: dict[str, set[str]] = defaultdict(set)
    for row in lineage.object_statements:
        if row.role in WRITING:
            writers[row.object].add(row.path)
        elif row.role in READING:
            readers[row.object].add(row.path)
    carried: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, paths in writers.items():
        for source in paths:
            for target in readers.get(name, set()) - {source}:
                carried[source, target].add(name)
    arrows = sorted(Arrow(*ends, tuple(sorted(names))) for ends, names in carried.items())
    boxes = tuple(Box(path, "script") for path in sorted({row.path for row in lineage.statements}))
    return Picture(boxes, tuple(arrows))


def _objects(lineage: Lineage) -> Picture:
    """Objects, and which is made of which."""
    how: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in lineage.object_edges:
        how[edge.from_object, edge.to_object].add(edge.kind.value)
    boxes = tuple(Box(row.object, row.kind.value, (), _place(row.path, row.line)) for row in lineage.objects)
    arrows = sorted(Arrow(*ends, tuple(sorted(kinds))) for ends, kinds in how.items())
    return Picture(boxes, _between(boxes, arrows))


def _columns(lineage: Lineage) -> Picture:
    """Objects with their columns, and which column feeds which."""
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for column in lineage.columns:
        columns[column.object].append((column.name, column.type or ""))
    boxes = tuple(
        Box(row.object, row.kind.value, tuple(columns[row.object]), _place(row.path, row.line))
        for row in lineage.objects
    )
    how: dict[tuple[str, str, bool, str | None, str | None], set[str]] = defaultdict(set)
    for edge in lineage.column_edges:
        ends = tuple(None if name == "*" else name for name in (edge.from_column, edge.to_column))
        direct = edge.type is EdgeType.DIRECT
        words = {edge.subtype.value, APPROXIMATE} if edge.approximate else {edge.subtype.value}
        how[edge.from_object, edge.to_object, direct, ends[0], ends[1]] |= words
    arrows = [
        Arrow(source, target, tuple(sorted(words)), direct, source_column, target_column)
        for (source, target, direct, source_column, target_column), words in how.items()
    ]
    return Picture(boxes, _between(boxes, sorted(arrows, key=_order)))


DRAWN = {Grain.SCRIPT: _scripts, Grain.TABLE: _objects, Grain.COLUMN: _columns}


def _order(arrow: Arrow) -> tuple[str, str, bool, str, str]:
    return arrow.source, arrow.target, not arrow.direct, arrow.source_column or "", arrow.target_column or ""


def _between(boxes: Iterable[Box], arrows: Iterable[Arrow]) -> tuple[Arrow, ...]:
    known = {box.id for box in boxes}
    return tuple(arrow for arrow in arrows if arrow.source in known and arrow.target in known)


def _place(path: str | None, line: int | None) -> str:
    return "" if path is None else path if line is None else f"{path}:{line}"


def _bounded(picture: Picture, grain: Grain, most: int) -> Picture:
    """Keep the most connected boxes, then arrows of values before the others; say what was left out."""
    boxes, arrows = picture.boxes, picture.arrows
    if len(boxes) > most:
        kept = _foremost(boxes, _degrees(arrows), most)
        boxes = tuple(box for box in boxes if box.id in kept)
        arrows = _between(boxes, arrows)
    if len(arrows) > 4 * most:
        first = set(sorted(arrows, key=lambda arrow: not arrow.direct)[: 4 * most])
        arrows = tuple(arrow for arrow in arrows if arrow in first)
    cut = [
        f"{len(drawn):,} of {len(found):,} {noun}"
        for drawn, found, noun in ((boxes, picture.boxes, NOUNS[grain]), (arrows, picture.arrows, "arrows"))
        if len(drawn) < len(found)
    ]
    return Picture(boxes, arrows, " and ".join(cut))


def _degrees(arrows: Iterable[Arrow]) -> Mapping[str, int]:
    return Counter(name for arrow in arrows for name in {arrow.source, arrow.target})


def _foremost(boxes: Sequence[Box], degrees: Mapping[str, int], most: int) -> frozenset[str]:
    ranked = sorted(boxes, key=lambda box: (-degrees.get(box.id, 0), box.id))
    return frozenset(box.id for box in ranked[:most])
