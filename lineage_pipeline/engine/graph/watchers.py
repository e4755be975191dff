"""Watchers: which tables hand their rows to a function, by way of the triggers that run it."""

from lineage_pipeline.engine.graph.names import Namespace
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.vocabulary.ir import ROWS, Name
from lineage_pipeline.vocabulary.plan import Face

Point = tuple[Name, Namespace, Scopes]
"""A name, what completes it, and where it stands."""


class Watchers:
    """The tables that triggers watch, by the function that they run; a function may serve many."""

    def __init__(self) -> None:
        """Start without triggers."""
        self._tables: dict[str, list[Point]] = {}
        self._transitions: dict[tuple[str, str], Point] = {}

    def prepare(self, face: Face, space: Namespace, scopes: Scopes) -> None:
        """Take in what one trigger watches, and what it calls the rows that its statement changed."""
        if face.watches is None:
            return
        point = (face.watches, space, scopes)
        for function in face.calls:
            key = space.id(space.complete(function.parts))
            self._tables.setdefault(key, []).append(point)
            for name in face.transitions:
                self._transitions[key, name] = point

    def given(self, name: Name, space: Namespace, scopes: Scopes) -> list[Point]:
        """What a name stands for at one point: itself, or the tables whose rows its function is given."""
        if not self._tables:
            return [] if name.parts == ROWS else [(name, space, scopes)]
        if name.parts == ROWS:
            tables: dict[str, Point] = {}
            for point in self._tables.get(self._function(space, scopes), ()):
                tables.setdefault(point[1].id(point[1].complete(point[0].parts)), point)
            return list(tables.values())
        renamed = self._transitions.get((self._function(space, scopes), name.parts[0])) if self._transitions else None
        return [renamed if renamed is not None and len(name.parts) == 1 else (name, space, scopes)]

    @staticmethod
    def _function(space: Namespace, scopes: Scopes) -> str:
        """The module around a point, or the one that it defines."""
        module = scopes.module if scopes.module >= 0 else scopes.ordinal
        function = scopes.statements[module].defines
        return space.id(space.complete(function.parts)) if function is not None else ""
