"""States: what an object is at one place of a script that changes it, before or after that place."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.draft import Drafts
from lineage_pipeline.engine.graph.names import Namespace, Parts
from lineage_pipeline.engine.graph.objects import Draft
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.plan import MODULES, Event, Known, ScriptFace
from lineage_pipeline.vocabulary.sets import Role, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic

Inputs = Mapping[tuple[str, int], Sequence[str]]

MOST_STATES, MOST_CHANGES = 1_000, 10_000
"""How many statements may change one object and every other statement still sees it as it was before or after each of
them, and how many are followed at all: each state has all columns, so that they grow with the square."""


class States:
    """The states of those objects that several statements shape; all others have only the one."""

    def __init__(self, drafts: Drafts) -> None:
        """Look for objects that are altered, or defined more than once; what is imported is what it is."""
        self.find = drafts.find
        changing = {
            name: draft
            for name, draft in drafts.drafts.items()
            if _is_restless(draft) and not drafts.import_of(name, draft)
        }
        self.restless = {name: draft for name, draft in changing.items() if len(draft.history) <= MOST_STATES}
        self.endless = {name: draft for name, draft in changing.items() if name not in self.restless}
        self.cut = {name for name, draft in self.endless.items() if len(draft.shapers) > MOST_CHANGES}
        for name in self.cut:
            self.endless[name].shapers = self.endless[name].shapers[:MOST_CHANGES]
        self.keys: dict[str, dict[tuple[Event, ...], str]] = {}
        self._shaping: dict[tuple[int, str], list[int]] = {}
        self._seen: dict[tuple[int, str, int, int], tuple[Event, ...]] = {}

    def seen(self, names: Mapping[Parts, str], space: Namespace, scopes: Scopes, listed: str) -> dict[Parts, str]:
        """What names stand for before one statement, by keys; what it lists the columns of, for it is that list."""
        found = {}
        for parts, name in names.items():
            draft = self.restless.get(name)
            if draft is not None:
                meant = self.find(Name(parts), space, scopes) or draft
                shapers = self._shapers(meant, scopes, name == listed)
                if meant is not draft:  # which has had the name since
                    shapers = shapers or tuple(meant.shapers)
                key = self._key(name, draft, shapers)
                if key:
                    found[parts] = key
        return found

    def elsewhere(self, names: Iterable[str], path: str) -> tuple[str, ...]:
        """The objects that only other files than one shape, and several of them: nothing says when those are run."""
        found = []
        for name in dict.fromkeys(names):
            draft = self.restless.get(name) or self.endless.get(name)
            shaping = {event.path for event, _ in draft.history} if draft is not None else set()
            if len(shaping) > 1 and path not in shaping:
                found.append(name)
        return tuple(found)

    def made(self, name: str, scopes: Scopes) -> str:
        """The key of what a statement makes of an object that it defines, where other statements change it."""
        draft = self.restless.get(name)
        return self._key(name, draft, self._shapers(draft, scopes, True)) if draft is not None else ""

    def _shapers(self, draft: Draft, scopes: Scopes, after: bool) -> tuple[Event, ...]:
        """What made an object what it is at one place: the same for all statements between two that shape it."""
        path, module = scopes.path, scopes.module
        shaping = self._shaping.get((id(draft), path))
        if shaping is None:
            shaping = sorted(event.ordinal for event, _ in draft.history if event.path == path)
            self._shaping[id(draft), path] = shaping
        place = (id(draft), path, module, bisect_left(shaping, scopes.ordinal + after))
        found = self._seen.get(place)
        if found is None:
            found = self._seen[place] = shapers_at(draft.history, scopes, after)
        return found

    def _key(self, name: str, draft: Draft, shapers: tuple[Event, ...]) -> str:
        if not shapers or shapers == tuple(draft.shapers) or _is_empty(draft, shapers[0]):
            return ""
        known = self.keys.setdefault(name, {})
        return known.setdefault(shapers, f"{name} {len(known) + 1}")  # no id has a blank outside quotes

    def excess(self, faces: Mapping[str, ScriptFace]) -> Iterator[Diagnostic]:
        """A finding for each object that changes too often: its readers see what it is in the end, or at the limit."""
        for name, draft in self.endless.items():
            event, _ = draft.history[0]
            limit = MOST_CHANGES if name in self.cut else MOST_STATES
            values = {"what": f"the number of changes of {name}", "limit": str(limit)}
            start = faces[event.path].statements[event.ordinal].start
            yield diagnose(
                "LIMIT_EXCEEDED", values, faces[event.path].text(event.path), start, Stage.OBJECT_GRAPH, name
            )

    def known(self, objects: Mapping[str, Known], inputs: Inputs) -> dict[str, Known]:
        """The states that statements see, with what each needs; they are what their objects are in all else."""
        return {
            key: msgspec.structs.replace(objects[name], shapers=shapers, needs=_needs(shapers, inputs))
            for name, states in self.keys.items()
            for shapers, key in states.items()
        }


def held_as(objects: Iterable[str], names: Mapping[Parts, str], seen: Mapping[Parts, str]) -> tuple[str, ...]:
    """Objects that a statement names, by the keys of what they are there."""
    if not seen:
        return tuple(dict.fromkeys(objects))
    keys: dict[str, list[str]] = {}
    for parts, name in names.items():
        keys.setdefault(name, []).append(seen.get(parts, name))
    return tuple(dict.fromkeys(key for name in objects for key in keys.get(name, [name])))


def _is_restless(draft: Draft) -> bool:
    return len(draft.history) > 1 and draft.kind not in MODULES and draft.space.implied


def _is_empty(draft: Draft, event: Event) -> bool:
    """Whether a definition says nothing of columns: what is written tells them, and that is not followed."""
    face = draft.definitions.get(event)
    return face is not None and face.empty


def _needs(shapers: Iterable[Event], inputs: Inputs) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for event in shapers for name in inputs.get((event.path, event.ordinal), ())))


def shapers_at(history: Sequence[tuple[Event, int]], scopes: Scopes, after: bool) -> tuple[Event, ...]:
    """The statements that made an object what it is at one place; none where it is there what it is in the end.

    A script sees what the files before it and its own statements so far have made; a module runs later and sees what
    all others have made, and its own statements so far. `after` takes in the statement itself.
    """
    path, module, here = scopes.path, scopes.module, scopes.ordinal + after
    own = [event for event, owner in history if event.path == path and owner == module]
    if not own:
        return (_defined_beside(history, path) if module >= 0 else ()) or _defined_near(history, path)
    if module >= 0:
        events = [event for event, owner in history if event.path != path or owner != module]
        events.extend(event for event in own if event.ordinal < here)
    else:
        last = next(at for at in range(len(history) - 1, -1, -1) if history[at][0].path == path)
        events = [event for event, _ in history[: last + 1] if event.path != path or event.ordinal < here]
    return _since_definition(events)


def _defined_beside(history: Sequence[tuple[Event, int]], path: str) -> tuple[Event, ...]:
    """What a file makes of an object for its own modules, where another file makes another one of it."""
    last = next((event for event, _ in reversed(history) if event.role is Role.DEFINE), None)
    beside = any(event.path == path and event.role is Role.DEFINE for event, _ in history)
    if last is None or last.path == path or not beside:
        return ()
    end = max(at for at, (event, _) in enumerate(history) if event.path == path)
    return _since_definition([event for event, _ in history[: end + 1]])


def _defined_near(history: Sequence[tuple[Event, int]], path: str) -> tuple[Event, ...]:
    """What the files of one folder make of an object for each other, where those of another one make another of it."""
    folder = path.rpartition("/")[0]
    near = [event.path.rpartition("/")[0] == folder for event, _ in history]
    last = next((at for at in range(len(history) - 1, -1, -1) if history[at][0].role is Role.DEFINE), -1)
    if last < 0 or near[last]:
        return ()
    return _since_definition([event for (event, _), here in zip(history, near, strict=True) if here])


def _since_definition(events: Sequence[Event]) -> tuple[Event, ...]:
    """The last definition and what follows it, or nothing where none is known."""
    for at in range(len(events) - 1, -1, -1):
        if events[at].role is Role.DEFINE:
            return tuple(events[at:])
    return ()
