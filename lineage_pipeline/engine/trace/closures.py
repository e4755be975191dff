"""What each node of a condensed graph reaches, counted in one pass over sets of labels.

A set is a dict from pieces of the label range to integers, one bit for each label: most columns reach few others, and
those lie close together in component order, so that a set has few pieces however many labels there are. A set is
dropped once no component needs it any more.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.condensation import Condensation

PIECE = 1_024
"""Labels in a piece."""

ROOM = 1_500_000
"""Pieces held at a time, of some 250 bytes each; a graph that needs more is swept in several windows of labels."""

NARROW = 4_096
"""The smallest window of labels, which is swept however many pieces it takes."""

ReachSet = tuple[dict[int, int], int, int, int]
"""A set of labels, and how many of them are columns, leaves and objects."""

EMPTY_REACH: ReachSet = ({}, 0, 0, 0)


class NodeLabels(msgspec.Struct, frozen=True):
    """The label of each node and that of its object, -1 for none; column labels come first.

    Labels from `leaves` on belong to columns that feed nothing, from `objects` on to objects; there are `count` labels.
    Each sort begins a piece.
    """

    own: "array[int]"
    object: "array[int]"
    leaves: int
    objects: int
    count: int


class ReachTally(msgspec.Struct, frozen=True):
    """How many columns each column reaches, how many of them are leaves, and how many objects."""

    columns: "array[int]"
    leaves: "array[int]"
    objects: "array[int]"


def count_labels(way: Condensation, labels: NodeLabels, columns: int) -> ReachTally:
    """Count the labels that each of the first nodes reaches, without its own."""
    width = max(labels.count, 1)
    while True:
        found = ReachTally(*(array("q", bytes(8 * columns)) for _ in range(3)))
        windows = [range(first, first + width) for first in range(0, labels.count, width)]
        if all(_Sweep(way, labels, window, found).run(columns) for window in windows):
            return found
        width = max(width // 4, NARROW)


class _Sweep:
    """One pass over all components, for a window of labels."""

    def __init__(self, way: Condensation, labels: NodeLabels, window: range, found: ReachTally) -> None:
        self.way, self.labels, self.window, self.found = way, labels, window, found
        self.room = ROOM if len(window) > NARROW else None
        self.leaf, self.object = labels.leaves // PIECE, labels.objects // PIECE

    def run(self, columns: int) -> bool:
        """Count for all components; False where the sets exceed their room."""
        way, targets, single = self.way, self.way.next.targets, self.way.single
        starts, ends = way.next.starts, way.next.ends
        reached, asking, held = [EMPTY_REACH] * len(single), _count_readers(targets, len(single)), 0
        for number in way.order:
            start, end = starts[number], ends[number]
            beyond = reached[targets[start]] if end - start == 1 else self._union_sets(reached, targets[start:end])
            node = single[number]
            if node < 0:
                beyond = self._count_cycle([one for one in way.cycles[number] if one < columns], beyond)
            elif node < columns:
                self._add_counts(node, beyond)
                beyond = self._add_labels(node, beyond) if asking[number] else EMPTY_REACH
            if asking[number]:
                reached[number] = beyond
                held += len(beyond[0])
            held -= _drop_unread_sets(reached, asking, targets[start:end])
            if self.room is not None and held > self.room:
                return False
        return True

    def _add_counts(self, node: int, reach: ReachSet) -> None:
        """Add the counts of a set to a column."""
        _, columns, leaves, objects = reach
        if columns or objects:
            self.found.columns[node] += columns
            self.found.leaves[node] += leaves
            self.found.objects[node] += objects

    def _union_sets(self, reached: Sequence[ReachSet], targets: Sequence[int]) -> ReachSet:
        """The union of the sets of some components: the largest one, extended by the others."""
        if not targets:
            return EMPTY_REACH
        sets = [reached[other] for other in targets]
        joint = largest = max(sets, key=_size)
        for one in sets:
            if one is not largest:
                joint = self._extend_set(joint, one[0], joint is not largest)
        return joint

    def _extend_set(self, reach: ReachSet, others: Mapping[int, int], mine: bool) -> ReachSet:
        """A set extended by another one; changed in place where it is `mine`, else copied when needed."""
        joint, columns, leaves, objects = reach
        for piece, bits in others.items():
            new = bits & ~joint.get(piece, 0)
            if not new:
                continue
            if not mine:
                joint, mine = dict(joint), True
            joint[piece] = joint.get(piece, 0) | new
            if piece >= self.object:
                objects += new.bit_count()
            else:
                columns += new.bit_count()
                leaves += new.bit_count() if piece >= self.leaf else 0
        return reach if joint is reach[0] and not mine else (joint, columns, leaves, objects)

    def _add_labels(self, node: int, beyond: ReachSet) -> ReachSet:
        """A set with the labels of a node added."""
        joint, columns, leaves, objects = beyond
        own, owner = self.labels.own[node], self.labels.object[node]
        if own in self.window:
            joint = {**joint, own // PIECE: joint.get(own // PIECE, 0) | 1 << own % PIECE}
            columns += 1
            leaves += own >= self.labels.leaves
        if owner in self.window and not _has(joint, owner):
            joint = {**joint, owner // PIECE: joint.get(owner // PIECE, 0) | 1 << owner % PIECE}
            objects += 1
        return joint, columns, leaves, objects

    def _count_cycle(self, members: Sequence[int], beyond: ReachSet) -> ReachSet:
        """Count for columns that reach each other: a label that only the column itself has does not count."""
        closed = beyond
        owners = Counter(self.labels.object[node] for node in members)
        for node in members:
            closed = self._add_labels(node, closed)
        joint, columns, leaves, objects = closed
        for node in members:
            own, owner = self.labels.own[node], self.labels.object[node]
            alone = owner in self.window and owners[owner] == 1 and not _has(beyond[0], owner)
            self._add_counts(node, (joint, columns - (own in self.window), leaves, objects - alone))
        return closed


def _size(reach: ReachSet) -> int:
    return len(reach[0])


def _has(joint: dict[int, int], label: int) -> bool:
    return bool(joint.get(label // PIECE, 0) >> label % PIECE & 1)


def _count_readers(targets: Iterable[int], count: int) -> "array[int]":
    """Count the components that read each component's set."""
    asking = array("i", bytes(array("i").itemsize * count))
    for other in targets:
        asking[other] += 1
    return asking


def _drop_unread_sets(reached: list[ReachSet], asking: "array[int]", targets: Iterable[int]) -> int:
    """Drop the sets that no component reads any more, and count their pieces."""
    pieces = 0
    for other in targets:
        asking[other] -= 1
        if not asking[other]:
            pieces += len(reached[other][0])
            reached[other] = EMPTY_REACH
    return pieces
