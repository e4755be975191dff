"""Homes: where temporary objects live that a module did not create itself."""


class Homes:
    """Which scope creates which temporary objects, and which scopes call which module."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self._created: set[tuple[str, str]] = set()
        self._callers: dict[str, list[str]] = {}

    def call(self, callee: str, caller: str) -> None:
        """Take in that one scope calls a module."""
        self._callers.setdefault(callee, []).append(caller)

    def create(self, scope: str, name: str) -> None:
        """Take in that a scope creates a temporary object."""
        self._created.add((scope, name))

    def find(self, scope: str, name: str) -> str:
        """The scope whose object a name means: its own one, or the nearest caller's that creates it.

        T-SQL: a procedure sees the temporary tables of whoever calls it.
        """
        if name.startswith("##") or (scope, name) in self._created:
            return scope
        seen, pending = {scope}, list(self._callers.get(scope, ()))
        while pending:
            caller = pending.pop(0)
            if (caller, name) in self._created:
                return caller
            if caller not in seen:
                seen.add(caller)
                pending.extend(self._callers.get(caller, ()))
        return scope
