"""Object states: what an object looks like at one point of a script whose statements change it."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.namespace import NameParts, Namespace
from lineage_pipeline.engine.graph.object_builder import ObjectBuilder, ObjectDraft
from lineage_pipeline.engine.graph.script_scopes import StatementScope
from lineage_pipeline.model.enums import ObjectKind, Origin, Role, Stage
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.ir import Name
from lineage_pipeline.model.plan import CALLABLE_KINDS, ObjectEntry, ObjectEvent, ScriptInterface
from lineage_pipeline.model.tables import Diagnostic

DROPPED_KINDS = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL})
"""What has no columns once it is dropped; the content of temporary tables is followed statement by statement."""

StatementInputs = Mapping[tuple[str, int], Sequence[str]]

MAX_STATES, MAX_CHANGES = 1_000, 10_000
"""Statements that may change an object while each state is tracked, and while changes are followed at all.

Each state has all columns, so the cost grows with the square.
"""


class ObjectStates:
    """The states of the objects that several statements shape; all others have only one."""

    def __init__(self, drafts: ObjectBuilder) -> None:
        """Find objects that are altered, or defined more than once; imported ones do not change."""
        self.find = drafts.find
        altered = {
            name: draft
            for name, draft in drafts.drafts.items()
            if _is_changing(draft) and not drafts.find_import(name, draft)
        }
        self.restless = {name: draft for name, draft in altered.items() if len(draft.history) <= MAX_STATES}
        self.endless = {name: draft for name, draft in altered.items() if name not in self.restless}
        self.cut = {name for name, draft in self.endless.items() if len(draft.shapers) > MAX_CHANGES}
        for name in self.cut:
            self.endless[name].shapers = self.endless[name].shapers[:MAX_CHANGES]
        self.dropping = {name: draft for name, draft in drafts.drafts.items() if _is_dropped_for_readers(draft)}
        self.changing = bool(self.restless or self.dropping)
        self.keys: dict[str, dict[tuple[ObjectEvent, ...], str]] = {}
        self._shaping: dict[tuple[int, str], list[int]] = {}
        self._seen: dict[tuple[int, str, int, int], tuple[ObjectEvent, ...]] = {}

    def find_states(
        self, names: Mapping[NameParts, str], space: Namespace, scopes: StatementScope, listed: str, *, final: bool
    ) -> dict[NameParts, str]:
        """The state keys of the names of a statement, before it runs; for the object it lists columns of, after it.

        A view that sees the `final` state of what is altered later still cannot see what its script has dropped.
        """
        found = {}
        for parts, name in names.items():
            dropped = self.dropping.get(name)
            if dropped is not None and dropped.is_dropped_before(scopes):
                found[parts] = self.keys.setdefault(name, {}).setdefault((), f"{name} dropped")
                continue
            draft = self.restless.get(name) if not final else None
            if draft is not None:
                meant = self.find(Name(parts), space, scopes) or draft
                shapers = self._shapers_at(meant, scopes, name == listed)
                if meant is not draft:  # which has had the name since
                    shapers = shapers or tuple(meant.shapers)
                key = self._state_key(name, draft, shapers)
                if key:
                    found[parts] = key
        return found

    def find_foreign_shaped(self, names: Iterable[str], path: str) -> tuple[str, ...]:
        """The objects that only other files shape, and several of them: their order is unknown."""
        found = []
        for name in dict.fromkeys(names):
            draft = self.restless.get(name) or self.endless.get(name)
            shaping = {event.path for event, _ in draft.history} if draft is not None else set()
            if len(shaping) > 1 and path not in shaping:
                found.append(name)
        return tuple(found)

    def find_made_state(self, name: str, scopes: StatementScope) -> str:
        """The state key of the object that a statement defines, where other statements change it."""
        draft = self.restless.get(name)
        return self._state_key(name, draft, self._shapers_at(draft, scopes, True)) if draft is not None else ""

    def _shapers_at(self, draft: ObjectDraft, scopes: StatementScope, after: bool) -> tuple[ObjectEvent, ...]:
        """The statements that shaped an object up to one point, cached between two of them."""
        path, module = scopes.path, scopes.module
        shaping = self._shaping.get((id(draft), path))
        if shaping is None:
            shaping = sorted(event.ordinal for event, _ in draft.history if event.path == path)
            self._shaping[id(draft), path] = shaping
        place = (id(draft), path, module, bisect_left(shaping, scopes.ordinal + after))
        found = self._seen.get(place)
        if found is None:
            found = self._seen[place] = find_shapers(draft.history, scopes, after)
        return found

    def _state_key(self, name: str, draft: ObjectDraft, shapers: tuple[ObjectEvent, ...]) -> str:
        if not shapers or shapers == tuple(draft.shapers) or _lists_no_columns(draft, shapers[0]):
            return ""
        known = self.keys.setdefault(name, {})
        return known.setdefault(shapers, f"{name} {len(known) + 1}")  # no id has a blank outside quotes

    def report_excess(self, faces: Mapping[str, ScriptInterface]) -> Iterator[Diagnostic]:
        """A finding for each object that changes too often: readers see its last state, or the one at the limit."""
        for name, draft in self.endless.items():
            event, _ = draft.history[0]
            limit = MAX_CHANGES if name in self.cut else MAX_STATES
            values = {"what": f"the number of changes of {name}", "limit": str(limit)}
            start = faces[event.path].statements[event.ordinal].start
            yield build_diagnostic(
                "LIMIT_EXCEEDED", values, faces[event.path].text(event.path), start, Stage.OBJECT_GRAPH, name
            )

    def build_entries(self, objects: Mapping[str, ObjectEntry], inputs: StatementInputs) -> dict[str, ObjectEntry]:
        """The object entries of all states, with what each needs."""
        return {
            key: _enter_state(objects[name], shapers, inputs)
            for name, states in self.keys.items()
            for shapers, key in states.items()
        }


def _enter_state(known: ObjectEntry, shapers: tuple[ObjectEvent, ...], inputs: StatementInputs) -> ObjectEntry:
    """The entry of an object at one point; without shapers it is dropped there, and its columns are not known."""
    origin = known.origin if shapers else Origin.UNKNOWN
    return msgspec.structs.replace(known, origin=origin, shapers=shapers, needs=_list_needs(shapers, inputs))


def map_to_states(
    objects: Iterable[str], names: Mapping[NameParts, str], seen: Mapping[NameParts, str]
) -> tuple[str, ...]:
    """Objects that a statement names, by their state keys."""
    if not seen:
        return tuple(dict.fromkeys(objects))
    keys: dict[str, list[str]] = {}
    for parts, name in names.items():
        keys.setdefault(name, []).append(seen.get(parts, name))
    return tuple(dict.fromkeys(key for name in objects for key in keys.get(name, [name])))


def _is_changing(draft: ObjectDraft) -> bool:
    return len(draft.history) > 1 and draft.kind not in CALLABLE_KINDS and draft.space.implied


def _is_dropped_for_readers(draft: ObjectDraft) -> bool:
    """Say whether a script drops an object that others of its statements may still name."""
    return bool(draft.drops) and draft.kind in DROPPED_KINDS and draft.space.implied


def _lists_no_columns(draft: ObjectDraft, event: ObjectEvent) -> bool:
    """Say whether a definition lists no columns: they come from its writers, which is not tracked."""
    face = draft.definitions.get(event)
    return face is not None and face.empty


def _list_needs(shapers: Iterable[ObjectEvent], inputs: StatementInputs) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for event in shapers for name in inputs.get((event.path, event.ordinal), ())))


def find_shapers(
    history: Sequence[tuple[ObjectEvent, int]], scopes: StatementScope, after: bool
) -> tuple[ObjectEvent, ...]:
    """The statements that shaped an object up to one point; none where it has its final state there.

    A script sees the files before it and its own statements so far; a module runs later and sees all other
    statements and its own so far. With `after`, the statement itself counts.
    """
    path, module, here = scopes.path, scopes.module, scopes.ordinal + after
    own = [event for event, owner in history if event.path == path and owner == module]
    if not own:
        return (_find_shapers_in_file(history, path) if module >= 0 else ()) or _find_shapers_in_folder(history, path)
    if module >= 0:
        events = [event for event, owner in history if event.path != path or owner != module]
        events.extend(event for event in own if event.ordinal < here)
    else:
        last = next(at for at in range(len(history) - 1, -1, -1) if history[at][0].path == path)
        events = [event for event, _ in history[: last + 1] if event.path != path or event.ordinal < here]
    return _from_last_definition(events)


def _find_shapers_in_file(history: Sequence[tuple[ObjectEvent, int]], path: str) -> tuple[ObjectEvent, ...]:
    """The shapers in a module's own file, where another file defines the same object differently."""
    last = next((event for event, _ in reversed(history) if event.role is Role.DEFINE), None)
    beside = any(event.path == path and event.role is Role.DEFINE for event, _ in history)
    if last is None or last.path == path or not beside:
        return ()
    end = max(at for at, (event, _) in enumerate(history) if event.path == path)
    return _from_last_definition([event for event, _ in history[: end + 1]])


def _find_shapers_in_folder(history: Sequence[tuple[ObjectEvent, int]], path: str) -> tuple[ObjectEvent, ...]:
    """The shapers in the same folder, where another folder defines the same object differently."""
    folder = path.rpartition("/")[0]
    near = [event.path.rpartition("/")[0] == folder for event, _ in history]
    last = next((at for at in range(len(history) - 1, -1, -1) if history[at][0].role is Role.DEFINE), -1)
    if last < 0 or near[last]:
        return ()
    return _from_last_definition([event for (event, _), here in zip(history, near, strict=True) if here])


def _from_last_definition(events: Sequence[ObjectEvent]) -> tuple[ObjectEvent, ...]:
    """The last definition and the statements after it, or nothing where there is none."""
    for at in range(len(events) - 1, -1, -1):
        if events[at].role is Role.DEFINE:
            return tuple(events[at:])
    return ()
