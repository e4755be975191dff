"""What each node of a folded graph reaches, counted in one pass: sets of labels, dropped once nobody asks for them.

A set is a dict from pieces of the row of labels to integers, a bit a label: most columns reach few others, and those
lie close together in the order of components, so that a set has few pieces however many labels there are.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.trace.components import Flow

PIECE = 1_024
"""Labels in a piece."""

ROOM = 1_500_000
"""Pieces held at a time, of some 250 bytes; a graph that needs more is swept for some labels, then for others."""

NARROW = 4_096
"""Labels that are swept together however many pieces they take."""

Reach = tuple[dict[int, int], int, int, int]
"""A set, and how many of its labels are columns, leaves among them, and objects."""

NOTHING: Reach = ({}, 0, 0, 0)


class Labels(msgspec.Struct, frozen=True):
    """The labels of each node, its own and that of its object, -1 for none; those of columns come first.

    Labels from `leaves` on are those of columns that lead nowhere, from `objects` on those of objects, and there are
    `count` of them. Each sort begins a piece.
    """

    own: "array[int]"
    object: "array[int]"
    leaves: int
    objects: int
    count: int


class Tally(msgspec.Struct, frozen=True):
    """How many columns each column reaches, how many of them are leaves, and how many objects."""

    columns: "array[int]"
    leaves: "array[int]"
    objects: "array[int]"


def count_labels(way: Flow, labels: Labels, columns: int) -> Tally:
    """Count the labels that each of the first nodes reaches, itself left out."""
    width = max(labels.count, 1)
    while True:
        found = Tally(*(array("q", bytes(8 * columns)) for _ in range(3)))
        windows = [range(first, first + width) for first in range(0, labels.count, width)]
        if all(_Sweep(way, labels, window, found).run(columns) for window in windows):
            return found
        width = max(width // 4, NARROW)


class _Sweep:
    """One pass over all components, for some of the labels."""

    def __init__(self, way: Flow, labels: Labels, window: range, found: Tally) -> None:
        self.way, self.labels, self.window, self.found = way, labels, window, found
        self.room = ROOM if len(window) > NARROW else None
        self.leaf, self.object = labels.leaves // PIECE, labels.objects // PIECE

    def run(self, columns: int) -> bool:
        """Count for all components; say whether the sets had room."""
        way, targets, single = self.way, self.way.next.targets, self.way.single
        starts, ends = way.next.starts, way.next.ends
        reached, asking, held = [NOTHING] * len(single), _asking(targets, len(single)), 0
        for number in way.order:
            start, end = starts[number], ends[number]
            beyond = reached[targets[start]] if end - start == 1 else self._joint(reached, targets[start:end])
            node = single[number]
            if node < 0:
                beyond = self._cycle([one for one in way.cycles[number] if one < columns], beyond)
            elif node < columns:
                self._note(node, beyond)
                beyond = self._with(node, beyond) if asking[number] else NOTHING
            if asking[number]:
                reached[number] = beyond
                held += len(beyond[0])
            held -= _dropped(reached, asking, targets[start:end])
            if self.room is not None and held > self.room:
                return False
        return True

    def _note(self, node: int, reach: Reach) -> None:
        """Add what was found to the counts of a column."""
        _, columns, leaves, objects = reach
        if columns or objects:
            self.found.columns[node] += columns
            self.found.leaves[node] += leaves
            self.found.objects[node] += objects

    def _joint(self, reached: Sequence[Reach], targets: Sequence[int]) -> Reach:
        """Give all that some components have: the largest set as it is, and what the others have beyond it."""
        if not targets:
            return NOTHING
        sets = [reached[other] for other in targets]
        joint = largest = max(sets, key=_size)
        for one in sets:
            if one is not largest:
                joint = self._beyond(joint, one[0], joint is not largest)
        return joint

    def _beyond(self, reach: Reach, others: Mapping[int, int], mine: bool) -> Reach:
        """Give a set with what others have beyond it; it is changed where it is `mine`, else copied when need be."""
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

    def _with(self, node: int, beyond: Reach) -> Reach:
        """Give the same with the labels of a node."""
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

    def _cycle(self, members: Sequence[int], beyond: Reach) -> Reach:
        """Count for columns that reach each other: a label that only the column itself has does not count."""
        closed = beyond
        owners = Counter(self.labels.object[node] for node in members)
        for node in members:
            closed = self._with(node, closed)
        joint, columns, leaves, objects = closed
        for node in members:
            own, owner = self.labels.own[node], self.labels.object[node]
            alone = owner in self.window and owners[owner] == 1 and not _has(beyond[0], owner)
            self._note(node, (joint, columns - (own in self.window), leaves, objects - alone))
        return closed


def _size(reach: Reach) -> int:
    return len(reach[0])


def _has(joint: dict[int, int], label: int) -> bool:
    return bool(joint.get(label // PIECE, 0) >> label % PIECE & 1)


def _asking(targets: Iterable[int], count: int) -> "array[int]":
    """Count who asks for each component."""
    asking = array("i", bytes(array("i").itemsize * count))
    for other in targets:
        asking[other] += 1
    return asking


def _dropped(reached: list[Reach], asking: "array[int]", targets: Iterable[int]) -> int:
    """Forget the sets that nobody asks for any more, and say how many pieces they had."""
    pieces = 0
    for other in targets:
        asking[other] -= 1
        if not asking[other]:
            pieces += len(reached[other][0])
            reached[other] = NOTHING
    return pieces
