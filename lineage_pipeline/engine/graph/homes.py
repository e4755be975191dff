"""Homes: where temporary objects live that a module did not create itself."""

from collections.abc import Iterator

from lineage_pipeline.engine.graph.scopes import Extent, Scopes


class Homes:
    """Which scope creates which temporary objects, and which scopes call which module."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self._created: set[tuple[str, str]] = set()
        self._callers: dict[str, list[str]] = {}
        self._calls: dict[str, list[tuple[str, Scopes]]] = {}
        self._reached: dict[str, set[str]] = {}

    def call(self, callee: str, caller: str, scopes: Scopes) -> None:
        """Take in that one scope calls a module, and where."""
        self._callers.setdefault(callee, []).append(caller)
        self._calls.setdefault(caller, []).append((callee, scopes))

    def create(self, scope: str, name: str) -> None:
        """Take in that a scope creates a temporary object."""
        self._created.add((scope, name))

    def find(self, scope: str, name: str) -> str:
        """The scope whose object a name means: its own one, or the nearest caller's that creates it.

        T-SQL: a procedure sees the temporary tables of whoever calls it.
        """
        return next(self.all(scope, name), scope)

    def all(self, scope: str, name: str) -> Iterator[str]:
        """Every scope whose object a name may mean, the nearest first: a module may have several callers."""
        if name.startswith("##") or (scope, name) in self._created:
            yield scope
            return
        seen, pending = {scope}, list(self._callers.get(scope, ()))
        while pending:
            caller = pending.pop(0)
            if caller in seen:
                continue
            seen.add(caller)
            if (caller, name) in self._created:
                yield caller
            else:
                pending.extend(self._callers.get(caller, ()))

    def reached(self, scope: str) -> set[str]:
        """The modules that a scope calls, directly or through others, and itself."""
        known = self._reached.get(scope)
        if known is not None:
            return known
        found, pending = {scope}, [scope]
        while pending:
            fresh = {callee for callee, _ in self._calls.get(pending.pop(), ())} - found
            found |= fresh
            pending.extend(fresh)
        self._reached[scope] = found
        return found

    def runs(self, home: str, module: str) -> Extent | None:
        """From which statement of a scope to which a module may run, or None where it does not call it."""
        found = [scopes.extent for callee, scopes in self._calls.get(home, ()) if module in self.reached(callee)]
        return (min(first for first, _ in found), max(last for _, last in found)) if found else None
