"""Temporary tables that modules share with the modules they call, and the statements that use them."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.namespace import Namespace, quote_part
from lineage_pipeline.engine.graph.object_builder import ObjectBuilder
from lineage_pipeline.engine.graph.script_scopes import ScopeSite, StatementScope
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.plan import NameBindings, ScriptInterface, SharedTempUse, StatementInterface, TempTableHome

ScopedFiles = Sequence[tuple[str, Sequence[tuple[int, StatementInterface, Namespace, StatementScope]]]]
"""The statements of every file, each with its namespace and scope."""

ScriptInterfaces = Mapping[str, ScriptInterface]
"""The interface of every script, by path."""

ANY_TIME = (-1, 1 << 60)
"""The range of statements of something that may happen at any time."""


class ScopeSites:
    """Where scopes are defined: a repository may define a module several times, and only one of them can be installed.

    A file means the definition that is nearest to it: its own, that of the nearest folder, and of several the last.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._last: dict[tuple[str, str], ScopeSite] = {}

    def add(self, scope: str, site: ScopeSite) -> None:
        """Record a definition of a scope; files come in their order."""
        for around in _iter_enclosing_paths(site[0]):
            self._last[scope, around] = site

    def find_nearest(self, scope: str, path: str) -> ScopeSite | None:
        """The definition of a scope that a file means, or None where it has none."""
        found = (self._last.get((scope, around)) for around in _iter_enclosing_paths(path))
        return next((site for site in found if site is not None), None)

    def is_last(self, scope: str, site: ScopeSite) -> bool:
        """Say whether a definition of a scope is the last of all."""
        return self._last.get((scope, _ROOT)) == site


_ROOT = "/"


def _iter_enclosing_paths(path: str) -> Iterator[str]:
    """A path, the folders around it from the inside out, and the root."""
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{path}/"
    yield _ROOT


def find_shared_tables(
    walks: ScopedFiles, bound: dict[str, tuple[NameBindings, ...]], drafts: ObjectBuilder, faces: ScriptInterfaces
) -> tuple[SharedTempUse, ...]:
    """The uses of all temporary tables that several modules or scripts share; they are added to `bound`."""
    lent = _find_shared_uses(walks, bound, drafts, faces)
    if lent:
        bound.update(_add_shared_tables(walks, bound, lent, drafts))
    return lent


def _find_shared_uses(
    walks: ScopedFiles, bound: Mapping[str, Sequence[NameBindings]], drafts: ObjectBuilder, faces: ScriptInterfaces
) -> tuple[SharedTempUse, ...]:
    temporary = {
        name
        for name, draft in drafts.drafts.items()
        if draft.kind is ObjectKind.TEMP_TABLE and draft.parts[-1][:1] == "#"
    }
    if not temporary:
        return ()
    points = [
        point
        for path, steps in walks
        for step in steps
        if (point := _find_point(step, bound[path][step[0]], temporary, drafts)) is not None
    ]
    sites = ScopeSites()
    for point in points:
        sites.add(point.module, point.scopes.site)
    found = [use for point in points for use in _iter_uses(point, sites, drafts, faces)]
    users: dict[tuple[str, str, int], set[str]] = {}
    for use in found:
        for home in use.homes:
            users.setdefault(home.key, set()).add(use.module)
    shared = {use.object for use in found if any(len(users[home.key]) > 1 for home in use.homes)}
    return tuple(use for use in found if use.object in shared)


class SharingPoint(msgspec.Struct, frozen=True):
    """A statement that names temporary tables, by the last part of the name, or that calls a module."""

    module: str
    face: StatementInterface
    space: Namespace
    scopes: StatementScope
    named: dict[str, str]


def _find_point(
    step: tuple[int, StatementInterface, Namespace, StatementScope],
    names: NameBindings,
    temporary: set[str],
    drafts: ObjectBuilder,
) -> SharingPoint | None:
    _, face, space, scopes = step
    named = {parts[-1]: name for parts, name in names.names if name in temporary}
    if not named and not face.calls:
        return None
    return SharingPoint(drafts.enclosing_scope(space, scopes), face, space, scopes, named)


def _iter_uses(
    point: SharingPoint, sites: ScopeSites, drafts: ObjectBuilder, faces: ScriptInterfaces
) -> Iterator[SharedTempUse]:
    face, scopes = point.face, point.scopes
    made = (face.defines,) if face.defines is not None and not face.has_columns else ()
    written = {name.parts[-1] for name in (*face.writes, *made)}
    used = written | {name.parts[-1] for name in face.reads}  # who only creates or drops it takes nothing from it
    for last, name in sorted(point.named.items()):
        if last in used:
            line, column = faces[scopes.path].text(scopes.path).position(face.start)
            yield SharedTempUse(
                path=scopes.path,
                ordinal=scopes.ordinal,
                object=name,
                module=point.module,
                homes=tuple(_possible_tables(point, last, sites, drafts)),
                fills=last in written,
                line=line,
                column=column,
            )


def _possible_tables(
    point: SharingPoint, last: str, sites: ScopeSites, drafts: ObjectBuilder
) -> Iterator[TempTableHome]:
    """The tables that a name may mean here.

    Where a module has several definitions, each belongs to the nearest definition of the others.
    """
    module, scopes, name = point.module, point.scopes, point.named[last]
    if last.startswith("##"):
        met = sites.is_last(module, scopes.site)  # one that is replaced meets nobody
        yield TempTableHome(name, *(("", -1) if met else scopes.site), *ANY_TIME)
        return
    for owner in drafts.homes.iter_owners(module, last):
        table = f"{owner}.{quote_part(last, point.space.traits.tables)}" if owner else name
        if owner == module:
            yield TempTableHome(table, *scopes.site, *scopes.extent)
            continue
        site = sites.find_nearest(owner, scopes.path)
        if site is not None and sites.find_nearest(module, site[0]) == scopes.site:
            when = drafts.homes.find_run_range(site, module)
            if when is not None:
                yield TempTableHome(table, *site, *when)


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
            users.setdefault(use.module, set()).update(home.table for home in use.homes)
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
