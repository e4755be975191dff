"""Scopes of a script: module and branches of a statement, owners of temporary tables, and what is dropped for good."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from lineage_pipeline.model.enums import Role
from lineage_pipeline.model.ir import BRANCH_KINDS, LOOP_KINDS
from lineage_pipeline.model.plan import StatementInterface
from lineage_pipeline.model.tables import ObjectStatement

StatementRange = tuple[int, int]
"""First and last statement of a range: a single statement, or all of the loop it is in."""

ScopeSite = tuple[str, int]
"""A path, and the ordinal of the CREATE statement of a module in it; -1 for the script itself."""

_DIGITS = re.compile(r"(\d+)")


@lru_cache(maxsize=1 << 14)  # the same paths are put in order again and again: found, planned, shown
def natural_path_key(path: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """A sort key for paths, folder by folder, with numbers in numeric order: `2_b` before `10_a`; keys are unique."""
    parts = [tuple(map(_piece_key, filter(None, _DIGITS.split(part)))) for part in path.split("/")]
    return (*parts, ((1, 0, path),))


def _piece_key(piece: str) -> tuple[int, int, str]:
    """The sort key of a text or a number of any length; of equal numbers, fewer leading zeros come first."""
    if not piece.isdecimal():
        return 1, 0, piece
    number = piece.lstrip("0")
    return 0, len(number), number + piece


class StatementScope(msgspec.Struct, frozen=True):
    """The position of one statement in its script."""

    path: str
    ordinal: int
    statements: Sequence[StatementInterface]

    @property
    def module(self) -> int:
        """The ordinal of the CREATE statement of the enclosing module, or -1."""
        for parent in self._enclosing():
            if self.statements[parent].defines is not None:
                return parent
        return -1

    @property
    def site(self) -> ScopeSite:
        """The definition of a module that the statement is in, or the script."""
        return self.path, self.module

    @property
    def conditional(self) -> bool:
        """Say whether a branch decides if the statement runs."""
        return any(self.statements[parent].kind in BRANCH_KINDS for parent in self._enclosing())

    @property
    def extent(self) -> StatementRange:
        """The statement alone, or the range of the outermost loop around it."""
        loops = [parent for parent in self._enclosing() if self.statements[parent].kind in LOOP_KINDS]
        if not loops:
            return self.ordinal, self.ordinal
        first = last = loops[-1]
        while last + 1 < len(self.statements) and self.statements[last + 1].parent >= first:
            last += 1
        return first, last

    def _enclosing(self) -> list[int]:
        found = []
        parent = self.statements[self.ordinal].parent
        while parent >= 0 and parent not in found:
            found.append(parent)
            parent = self.statements[parent].parent
        return found


class TempTableScopes:
    """Which scope creates which temporary tables, and which scopes call which module."""

    def __init__(self) -> None:
        """Start empty."""
        self._created: set[tuple[str, str]] = set()
        self._callers: dict[str, dict[str, None]] = {}
        self._callees: dict[str, set[str]] = {}
        self._calls: dict[ScopeSite, dict[str, list[StatementScope]]] = {}
        self._reached: dict[str, set[str]] = {}

    def add_call(self, callee: str, caller: str, scopes: StatementScope) -> None:
        """Record that a scope calls a module, and where."""
        self._callers.setdefault(callee, {})[caller] = None
        self._callees.setdefault(caller, set()).add(callee)
        self._calls.setdefault(scopes.site, {}).setdefault(callee, []).append(scopes)

    def add_table(self, scope: str, name: str) -> None:
        """Record that a scope creates a temporary table."""
        self._created.add((scope, name))

    def find_owner(self, scope: str, name: str) -> str:
        """The scope whose temporary table a name means: its own, or the nearest caller's that creates it.

        T-SQL: a procedure sees the temporary tables of its callers.
        """
        return next(self.iter_owners(scope, name), scope)

    def iter_owners(self, scope: str, name: str) -> Iterator[str]:
        """Every scope whose temporary table a name may mean, the nearest first: a module may have several callers."""
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

    def find_called_modules(self, scope: str) -> set[str]:
        """The modules that a scope calls, directly or through others, and itself."""
        known = self._reached.get(scope)
        if known is not None:
            return known
        found, pending = {scope}, [scope]
        while pending:
            fresh = self._callees.get(pending.pop(), set()) - found
            found |= fresh
            pending.extend(fresh)
        self._reached[scope] = found
        return found

    def find_run_range(self, site: ScopeSite, module: str) -> StatementRange | None:
        """The range of statements of a scope during which a module may run, or None where it is not called."""
        found = [
            scopes.extent
            for callee, calls in self._calls.get(site, {}).items()
            if module in self.find_called_modules(callee)
            for scopes in calls
        ]
        return (min(first for first, _ in found), max(last for _, last in found)) if found else None


CREATING_ROLES = frozenset({Role.DEFINE, Role.ALTER, Role.WRITE})


def find_dropped(parts: Iterable[ObjectStatement]) -> frozenset[str]:
    """The objects that are dropped and not created again, in the order in which files run."""
    last: dict[str, tuple[tuple[object, int], Role]] = {}
    gone = {part.object for part in parts if part.role is Role.DROP}
    for part in parts:
        if part.object in gone and (part.role is Role.DROP or part.role in CREATING_ROLES):
            place = ((natural_path_key(part.path), part.ordinal), part.role)
            last[part.object] = max(last.get(part.object, place), place)
    return frozenset(name for name, (_, role) in last.items() if role is Role.DROP)
