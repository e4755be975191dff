"""Temporary tables that modules share with the modules they call, and the statements that use them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.namespace import Namespace, quote_part
from lineage_pipeline.engine.graph.object_builder import ObjectBuilder
from lineage_pipeline.engine.graph.script_scopes import StatementScope
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.plan import NameBindings, SharedTempUse, StatementInterface

ScopedFiles = Sequence[tuple[str, Sequence[tuple[int, StatementInterface, Namespace, StatementScope]]]]
"""The statements of every file, each with its namespace and scope."""

ANY_TIME = (-1, 1 << 60)
"""The range of statements of something that may happen at any time."""


def find_shared_tables(
    walks: ScopedFiles, bound: dict[str, tuple[NameBindings, ...]], drafts: ObjectBuilder
) -> tuple[SharedTempUse, ...]:
    """The uses of all temporary tables that several modules or scripts share; they are added to `bound`."""
    lent = _find_shared_uses(walks, bound, drafts)
    if lent:
        bound.update(_add_shared_tables(walks, bound, lent, drafts))
    return lent


def _find_shared_uses(
    walks: ScopedFiles, bound: Mapping[str, Sequence[NameBindings]], drafts: ObjectBuilder
) -> tuple[SharedTempUse, ...]:
    temporary = {
        name
        for name, draft in drafts.drafts.items()
        if draft.kind is ObjectKind.TEMP_TABLE and draft.parts[-1][:1] == "#"
    }
    if not temporary:
        return ()
    found = [use for path, steps in walks for use in _iter_uses(path, steps, bound[path], temporary, drafts)]
    users: dict[str, set[tuple[str, str]]] = {}
    for use in found:
        for home, _, _ in use.homes:
            users.setdefault(home, set()).add((use.path, use.module))
    return tuple(use for use in found if any(len(users[home]) > 1 for home, _, _ in use.homes))


def _iter_uses(
    path: str,
    steps: Iterable[tuple[int, StatementInterface, Namespace, StatementScope]],
    bound: Sequence[NameBindings],
    temporary: set[str],
    drafts: ObjectBuilder,
) -> Iterator[SharedTempUse]:
    for ordinal, face, space, scopes in steps:
        named = {parts[-1]: name for parts, name in bound[ordinal].names if name in temporary}
        made = (face.defines,) if face.defines is not None and not face.has_columns else ()
        written = {name.parts[-1] for name in (*face.writes, *made)}
        used = written | {name.parts[-1] for name in face.reads}  # who only creates or drops it takes nothing from it
        for last, name in sorted(named.items()):
            if last in used:
                module = drafts.enclosing_scope(space, scopes)
                homes = tuple(_possible_tables(module, last, name, (space, scopes), drafts))
                yield SharedTempUse(
                    path=path, ordinal=ordinal, object=name, module=module, homes=homes, fills=last in written
                )


def _possible_tables(
    module: str, last: str, name: str, point: tuple[Namespace, StatementScope], drafts: ObjectBuilder
) -> Iterator[tuple[str, int, int]]:
    """The tables that a name may mean, each with its range of statements."""
    space, scopes = point
    if last.startswith("##"):
        yield (name, *ANY_TIME)
        return
    for home in drafts.homes.iter_owners(module, last):
        when = scopes.extent if home == module else drafts.homes.find_run_range(home, module)
        yield (f"{home}.{quote_part(last, space.traits.tables)}" if home else name, *(when or ANY_TIME))


def _add_shared_tables(
    walks: ScopedFiles,
    bound: Mapping[str, tuple[NameBindings, ...]],
    lent: Sequence[SharedTempUse],
    drafts: ObjectBuilder,
) -> dict[str, tuple[NameBindings, ...]]:
    """The bindings with the shared tables that each statement uses or passes on by a call."""
    named: dict[tuple[str, int], set[str]] = {}
    users: dict[str, set[str]] = {}
    for use in lent:
        named.setdefault((use.path, use.ordinal), set()).add(use.object)
        if use.fills:
            users.setdefault(use.module, set()).update(home for home, _, _ in use.homes)
    found: dict[str, tuple[NameBindings, ...]] = {}
    for path, steps in walks:
        own = list(bound[path])
        for ordinal, face, space, _ in steps:
            callees = [space.id(space.complete(name.parts)) for name in face.calls]
            called = {module for callee in callees for module in drafts.homes.find_called_modules(callee)}
            objects = {home for module in called for home in users.get(module, ())} | named.get((path, ordinal), set())
            if objects:
                own[ordinal] = msgspec.structs.replace(own[ordinal], lent=tuple(sorted(objects)))
        found[path] = tuple(own)
    return found
