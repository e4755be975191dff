"""Trigger rows: which tables pass their rows to a trigger function."""

from lineage_pipeline.engine.graph.namespace import Namespace
from lineage_pipeline.engine.graph.script_scopes import StatementScope
from lineage_pipeline.model.ir import TRIGGER_ROWS, Name
from lineage_pipeline.model.plan import StatementInterface

NamePosition = tuple[Name, Namespace, StatementScope]
"""A name, the namespace that completes it, and the scope it is in."""


class TriggerTables:
    """The tables of triggers, by the function that the trigger runs; one function may serve many tables."""

    def __init__(self) -> None:
        """Start without triggers."""
        self._tables: dict[str, list[NamePosition]] = {}
        self._transitions: dict[tuple[str, str], NamePosition] = {}

    def add_trigger(self, face: StatementInterface, space: Namespace, scopes: StatementScope) -> None:
        """Record the table of a trigger, and its names for the changed rows (REFERENCING)."""
        if face.watches is None:
            return
        point = (face.watches, space, scopes)
        for function in face.calls:
            key = space.id(space.complete(function.parts))
            self._tables.setdefault(key, []).append(point)
            for name in face.transitions:
                self._transitions[key, name] = point

    def resolve_rows(self, name: Name, space: Namespace, scopes: StatementScope) -> list[NamePosition]:
        """What a name means at one point: itself, or the tables whose rows its function gets."""
        if not self._tables:
            return [] if name.parts == TRIGGER_ROWS else [(name, space, scopes)]
        if name.parts == TRIGGER_ROWS:
            tables: dict[str, NamePosition] = {}
            for point in self._tables.get(self._function(space, scopes), ()):
                tables.setdefault(point[1].id(point[1].complete(point[0].parts)), point)
            return list(tables.values())
        renamed = self._transitions.get((self._function(space, scopes), name.parts[0])) if self._transitions else None
        return [renamed if renamed is not None and len(name.parts) == 1 else (name, space, scopes)]

    @staticmethod
    def _function(space: Namespace, scopes: StatementScope) -> str:
        """The enclosing module, or the one that the statement defines."""
        module = scopes.module if scopes.module >= 0 else scopes.ordinal
        function = scopes.statements[module].defines
        return space.id(space.complete(function.parts)) if function is not None else ""
