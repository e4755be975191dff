"""Lending: temporary objects that modules share with those that they call, and where each of them uses them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.draft import Drafts
from lineage_pipeline.engine.graph.names import Namespace, quote
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.vocabulary.plan import Bound, Face, Lent
from lineage_pipeline.vocabulary.sets import ObjectKind

Walks = Sequence[tuple[str, Sequence[tuple[int, Face, Namespace, Scopes]]]]
"""The statements of every file, each with its surroundings."""

ALWAYS = (-1, 1 << 60)
"""When something happens of which nobody knows when: at any time."""


def lend(walks: Walks, bound: dict[str, tuple[Bound, ...]], drafts: Drafts) -> tuple[Lent, ...]:
    """The uses of all temporary objects that more than one module or script knows of; `bound` gets to know them."""
    lent = _lendings(walks, bound, drafts)
    if lent:
        bound.update(_with_lent(walks, bound, lent, drafts))
    return lent


def _lendings(walks: Walks, bound: Mapping[str, Sequence[Bound]], drafts: Drafts) -> tuple[Lent, ...]:
    temporary = {
        name
        for name, draft in drafts.drafts.items()
        if draft.kind is ObjectKind.TEMP_TABLE and draft.parts[-1][:1] == "#"
    }
    if not temporary:
        return ()
    found = [use for path, steps in walks for use in _uses(path, steps, bound[path], temporary, drafts)]
    users: dict[str, set[tuple[str, str]]] = {}
    for use in found:
        for home, _, _ in use.homes:
            users.setdefault(home, set()).add((use.path, use.module))
    return tuple(use for use in found if any(len(users[home]) > 1 for home, _, _ in use.homes))


def _uses(
    path: str,
    steps: Iterable[tuple[int, Face, Namespace, Scopes]],
    bound: Sequence[Bound],
    temporary: set[str],
    drafts: Drafts,
) -> Iterator[Lent]:
    for ordinal, face, space, scopes in steps:
        named = {parts[-1]: name for parts, name in bound[ordinal].names if name in temporary}
        made = (face.defines,) if face.defines is not None and not face.has_columns else ()
        written = {name.parts[-1] for name in (*face.writes, *made)}
        used = written | {name.parts[-1] for name in face.reads}  # who only creates or drops it takes nothing from it
        for last, name in sorted(named.items()):
            if last in used:
                module = drafts.around(space, scopes)
                homes = tuple(_homes(module, last, name, (space, scopes), drafts))
                yield Lent(path, ordinal, name, module, homes, last in written)


def _homes(
    module: str, last: str, name: str, point: tuple[Namespace, Scopes], drafts: Drafts
) -> Iterator[tuple[str, int, int]]:
    """The objects that a name may mean, and when that is."""
    space, scopes = point
    if last.startswith("##"):
        yield (name, *ALWAYS)
        return
    for home in drafts.homes.all(module, last):
        when = scopes.extent if home == module else drafts.homes.runs(home, module)
        yield (f"{home}.{quote(last, space.traits.tables)}" if home else name, *(when or ALWAYS))


def _with_lent(
    walks: Walks, bound: Mapping[str, tuple[Bound, ...]], lent: Sequence[Lent], drafts: Drafts
) -> dict[str, tuple[Bound, ...]]:
    """What names stand for, together with the temporary objects that statements use as others do, or hand on."""
    named: dict[tuple[str, int], set[str]] = {}
    users: dict[str, set[str]] = {}
    for use in lent:
        named.setdefault((use.path, use.ordinal), set()).add(use.object)
        if use.fills:
            users.setdefault(use.module, set()).update(home for home, _, _ in use.homes)
    found: dict[str, tuple[Bound, ...]] = {}
    for path, steps in walks:
        own = list(bound[path])
        for ordinal, face, space, _ in steps:
            callees = [space.id(space.complete(name.parts)) for name in face.calls]
            called = {module for callee in callees for module in drafts.homes.reached(callee)}
            objects = {home for module in called for home in users.get(module, ())} | named.get((path, ordinal), set())
            if objects:
                own[ordinal] = msgspec.structs.replace(own[ordinal], lent=tuple(sorted(objects)))
        found[path] = tuple(own)
    return found
