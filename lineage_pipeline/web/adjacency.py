"""Who reads whom in one snapshot, kept in memory: the first question loads it, a new file of marts forgets it."""

from collections import defaultdict
from collections.abc import Iterable

from lineage_pipeline.web.marts import Marts

UNRESOLVED = "?"


class Adjacency:
    """The objects of a snapshot with their neighbours, in the order of names."""

    def __init__(self, links: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        """Take links in the order of names: from, to, and their kinds."""
        up: dict[str, list[str]] = defaultdict(list)
        down: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        for source, target, kinds in links:
            down[source][target] = shared.setdefault(kinds, kinds)
            up[target].append(source)
        self._up, self._down = dict(up), dict(down)

    def step(self, border: Iterable[str], upwards: bool) -> list[str]:
        """Give the neighbours of some objects on one side."""
        sides = self._up if upwards else self._down
        return sorted({name for start in border for name in sides.get(start, ()) if name != UNRESOLVED})

    def between(self, names: Iterable[str]) -> list[tuple[str, str, tuple[str, ...]]]:
        """Give the links between some objects, with their kinds."""
        known = set(names)
        return [
            (source, target, kinds)
            for source in sorted(known)
            for target, kinds in self._down.get(source, {}).items()
            if target in known and target != source
        ]


def adjacency_of(marts: Marts, snapshot: str) -> Adjacency:
    """Give the adjacency of a snapshot; one query, once for each state of the marts."""

    def load() -> Adjacency:
        rows = marts.ask(
            "select from_object, to_object, list(distinct kind order by kind) as kinds from marts.object_lineage"
            " where snapshot = ? group by from_object, to_object order by from_object, to_object",
            snapshot,
        )
        return Adjacency((row["from_object"], row["to_object"], tuple(row["kinds"])) for row in rows)

    return marts.remembered(snapshot, load)
