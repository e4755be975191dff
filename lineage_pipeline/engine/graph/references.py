"""References: every name of every statement is looked up once, at the point where it stands."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.catalogs import is_own
from lineage_pipeline.engine.graph.draft import Drafts
from lineage_pipeline.engine.graph.names import Namespace
from lineage_pipeline.engine.graph.objects import Draft, unknown
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.engine.graph.states import States, held_as
from lineage_pipeline.engine.graph.watchers import Point
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.ir import RELAYS, ROWS, Name
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import CALL, MODULES, Bound, Event, Face, ScriptFace
from lineage_pipeline.vocabulary.sets import EdgeKind, ObjectKind, Role, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic, ObjectEdge, ObjectStatement, StatementRef

MOST_RELAYS = 3
"""How many calls of one procedure by another are asked for result sets: all give the same ones."""

Step = tuple[int, Face, Namespace, Scopes]


class References:
    """What the names of a snapshot stand for, gathered file by file."""

    def __init__(self, drafts: Drafts) -> None:
        """Start with the objects that statements define or write."""
        self.drafts = drafts
        self.bound: dict[str, tuple[Bound, ...]] = {}
        self.inputs: dict[tuple[str, int], tuple[str, ...]] = {}
        self.states = States(drafts)
        self.stars: dict[tuple[str, int], tuple[str, ...]] = {}
        self.findings: list[Diagnostic] = []
        self.texts: dict[str, Text] = {}
        self.owners: dict[str, Sequence[str]] = {}
        self._parts: set[tuple[str, str, int, Role]] = set()
        self._edges: dict[tuple[str, str, EdgeKind], set[StatementRef]] = defaultdict(set)

    def resolve(self, path: str, script: ScriptFace, steps: Iterable[Step]) -> None:
        """Resolve the names of one file."""
        self.texts[path] = script.text(path)
        self.bound[path] = tuple(self._statement(path, step) for step in steps)

    def line(self, path: str, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return self.texts[path].position(offset)[0]

    def _statement(self, path: str, step: Step) -> Bound:
        ordinal, face, space, scopes = step
        names: dict[tuple[str, ...], str] = {}
        reads = [found for name in face.reads for found in self._reads(name, path, step, names)]
        called = [callee for name in face.calls if (callee := self._call(name, path, step, names))]
        targets = [found for name in face.writes for found in self._targets(name, path, step, names)]
        defined = self._defined(path, step, names)
        result = self._result(path, step) if face.has_result else ""
        superseded = self._superseded(path, ordinal)
        self._record(path, ordinal, reads, targets, defined, result)
        for source, target in face.hands:
            if source.parts in names and target.parts in names:
                self._edges[names[source.parts], names[target.parts], EdgeKind.WRITE].add(StatementRef(path, ordinal))
        if superseded:
            defined = ""
        if not targets and not result and not defined:
            self._read_by_module(reads, path, step)
        if face.like is not None:
            reads.append(self._read(face.like, path, step, names))
        if face.returns is not None:
            reads.extend(self._row_type(face.returns, step, names))
        changed = targets if result else []  # what a statement gives back are rows of what it changed
        listed = defined if face.has_columns else ""  # computed columns read those of the list
        bound = face.define_kind != "view" or space.traits.fixes_views
        seen = self.states.seen(names, space, scopes, listed) if self.states.restless and bound else {}
        self._changed(path, step, names)  # what is altered or dropped is not looked at: it has no state there
        self.inputs[(path, ordinal)] = held_as([*reads, *changed, *called], names, seen)
        stars = (*face.stars, face.like) if face.like is not None else face.stars
        if stars:
            self.stars[path, ordinal] = tuple(seen.get(name.parts, names[name.parts]) for name in stars)
        read = tuple(dict.fromkeys(name.parts for name in face.reads))
        held, states = tuple(sorted(names.items())), tuple(sorted(seen.items()))
        made = self.states.made(defined, scopes) if self.states.restless and defined else ""
        elsewhere = self.states.elsewhere(targets, path) if self.states.restless and targets else ()
        bare = (ordinal, held, read, result, scopes.conditional, superseded, states, made)
        return Bound(*bare, elsewhere=elsewhere)

    def _row_type(self, name: Name, step: Step, names: dict[tuple[str, ...], str]) -> Iterator[str]:
        """The type or table whose rows a function returns; most types are nobody's rows."""
        _, face, space, scopes = step
        around = face.defines.parts[:-1] if face.defines is not None else ()
        for parts in ((*around, *name.parts), name.parts):
            draft = self.drafts.find(msgspec.structs.replace(name, parts=parts), space, scopes)
            if draft is not None and draft.kind not in MODULES:
                names[name.parts] = self.drafts.id_of(draft)
                yield names[name.parts]
                return

    def _changed(self, path: str, step: Step, names: dict[tuple[str, ...], str]) -> None:
        """Find the objects that a statement alters, renames or drops."""
        ordinal, face, space, scopes = step
        renamed = {new: _beside(old, new) for old, new in face.renames}
        indexed = self.drafts.indexes.dropped(face, space)
        for name in (*face.alters, *renamed, *face.drops, *indexed):
            draft = self.drafts.find(*indexed.get(name, (renamed.get(name, name), space)), scopes)
            if draft is not None:
                role = Role.DROP if name in face.drops else Role.ALTER
                names[name.parts] = self.drafts.id_of(draft)
                self._parts.add((names[name.parts], path, ordinal, role))

    def _superseded(self, path: str, ordinal: int) -> bool:
        """Whether a statement defines a view that a later one defines anew, or what is there already."""
        own = self.drafts.defined.get((path, ordinal))
        if own is None:
            return False
        if own.kind not in (ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW):
            return Event(path, ordinal, Role.DEFINE) not in own.definitions
        return own.definition is None or own.definition[0] != Event(path, ordinal, Role.DEFINE)

    def _defined(self, path: str, step: Step, names: dict[tuple[str, ...], str]) -> str:
        """The object that a statement defines, which may have another name by now."""
        ordinal, face, _, _ = step
        if face.defines is None:
            return ""
        own = self.drafts.defined.get((path, ordinal))
        if own is None:
            return self._target(face.defines, path, step, names)
        names[face.defines.parts] = self.drafts.id_of(own)
        return names[face.defines.parts]

    def _read_by_module(self, reads: Sequence[str], path: str, step: Step) -> None:
        """What a statement reads into variables or for a condition, its module reads."""
        ordinal, _, space, scopes = step
        module = scopes.statements[scopes.module].defines if reads and scopes.module >= 0 else None
        owner = self.drafts.find(module, space, scopes) if module is not None else None
        if owner is not None:
            for source in reads:
                self._edges[source, self.drafts.id_of(owner), EdgeKind.READ].add(StatementRef(path, ordinal))

    def _reads(self, name: Name, path: str, step: Step, names: dict[tuple[str, ...], str]) -> list[str]:
        """What a name that is read stands for: one object, or the tables whose rows a trigger's function is given."""
        given = self.drafts.watchers.given(name, step[2], step[3])
        if given == [(name, step[2], step[3])]:
            return [self._read(name, path, step, names)]
        return self._given(name, given, names)

    def _given(self, name: Name, given: Sequence[Point], names: dict[tuple[str, ...], str]) -> list[str]:
        """The tables that triggers watch; the first goes by the name itself, so that it can be asked for."""
        found = [self._identity(*point) for point in given]
        for position, identity in enumerate(found):
            names[(*name.parts, identity) if position else name.parts] = identity
        return found

    def _identity(self, name: Name, space: Namespace, scopes: Scopes) -> str:
        draft = self.drafts.find(name, space, scopes)
        meant, space = self.drafts.meant(name, space)
        return self.drafts.id_of(draft) if draft is not None else space.id(space.complete(meant.parts))

    def _callee(self, name: Name, space: Namespace, scopes: Scopes) -> Draft | None:
        """The module that a name calls: one beside or inside the module around, in its package, or any other."""
        if name.parts[-1] not in self.drafts.modules:
            return None
        around = scopes.statements[scopes.module].defines if scopes.module >= 0 else None
        prefixes = [around.parts[:size] for size in range(len(around.parts), 0, -1)] if around is not None else []
        tried = [*((*prefix, *name.parts) for prefix in prefixes), name.parts, (space.schema, *name.parts)]
        tried.extend(name.parts[size:] for size in range(1, len(name.parts) - 1))  # a schema before a package
        for parts in tried:
            draft = self.drafts.find(msgspec.structs.replace(name, parts=parts), space, scopes)
            if draft is not None and draft.kind in MODULES:
                return draft
        return None

    def _targets(self, name: Name, path: str, step: Step, names: dict[tuple[str, ...], str]) -> list[str]:
        """What a name that is written stands for, likewise."""
        if name.parts == ROWS:
            return self._given(name, self.drafts.watchers.given(name, step[2], step[3]), names)
        return [self._target(name, path, step, names)]

    def _read(self, name: Name, path: str, step: Step, names: dict[tuple[str, ...], str]) -> str:
        ordinal, face, space, scopes = step
        draft = self.drafts.find(name, space, scopes, reading=True)
        if draft is None:
            meant, space = self.drafts.meant(name, space)
            draft = self.drafts.catalogued(meant, space)
        if draft is None:
            parts = space.complete(meant.parts)
            draft = self.drafts.drafts.setdefault(space.id(parts), unknown(space, parts, name.written))
        identity = self.drafts.id_of(draft)
        names[name.parts] = identity
        strange = draft.kind is ObjectKind.UNKNOWN or (draft.drops and draft.is_gone(scopes))
        if strange and identity not in self.drafts.imported.schemas:
            own = is_own(space.traits.name, name.parts)
            self._unknown(name, identity, path, face, "SYSTEM_TABLE" if own else "UNKNOWN_TABLE")
        return identity

    def _call(self, name: Name, path: str, step: Step, names: dict[tuple[str, ...], str]) -> str:
        """The module that is called, where it is known; whoever calls it depends on it."""
        ordinal, face, space, scopes = step
        draft = self._callee(name, space, scopes)
        if draft is None:
            return ""
        identity = names[name.parts + CALL] = self.drafts.id_of(draft)
        self._parts.add((identity, path, ordinal, Role.CALL))
        module = scopes.module
        caller = scopes.statements[module].defines if module >= 0 else face.defines
        owner = self.drafts.find(caller, space, scopes) if caller is not None else None
        if owner is not None:
            self._edges[identity, self.drafts.id_of(owner), EdgeKind.CALL].add(StatementRef(path, ordinal))
            relays = face.kind in RELAYS and not face.writes and not face.has_result
            if relays and draft.kind is ObjectKind.PROCEDURE and owner is not draft:
                times = owner.relayed[identity] = owner.relayed.get(identity, 0) + 1
                if times <= MOST_RELAYS:
                    owner.results.append(Event(path, ordinal, Role.CALL))
        return identity

    def _target(self, name: Name, path: str, step: Step, names: dict[tuple[str, ...], str]) -> str:
        """The object that a statement fills, which may have another name by now."""
        ordinal, face, space, scopes = step
        draft = self.drafts.filled.get((path, ordinal, name.parts))
        identity = self.drafts.id_of(draft) if draft is not None else self._identity(name, space, scopes)
        names[name.parts] = identity
        if draft is not None and self.drafts.imported.schemas and self._is_missing(identity, draft):
            self._unknown(name, identity, path, face)
        return identity

    def _is_missing(self, name: str, draft: Draft) -> bool:
        """Whether nobody makes what a statement fills, although the objects around it are known."""
        strange = draft.kind is ObjectKind.TABLE and not draft.definitions and not draft.shapers and not draft.scope
        return (
            strange
            and not self.drafts.import_of(name, draft)
            and self.drafts.imported.surrounds(draft.space, draft.parts)
        )

    def _unknown(self, name: Name, identity: str, path: str, face: Face, code: str = "UNKNOWN_TABLE") -> None:
        text, offset = self.texts[path], face.start + max(name.start, 0)
        self.findings.append(diagnose(code, {"name": identity}, text, offset, Stage.OBJECT_GRAPH, identity))

    def _result(self, path: str, step: Step) -> str:
        """The object that a bare query makes: the result of its module, or `query`, `query_2` and so on."""
        ordinal, _, space, scopes = step
        module = scopes.module
        owner = scopes.statements[module].defines if module >= 0 else None
        draft = self.drafts.find(owner, space, scopes) if owner is not None else None
        if draft is None:
            self.drafts.queries += 1
            name = "query" if self.drafts.queries == 1 else f"query_{self.drafts.queries}"
            draft = self.drafts.drafts[name] = unknown(space, (name,), name)
            draft.kind = ObjectKind.QUERY
            draft.results.append(Event(path, ordinal, Role.WRITE))
            return name  # no system and no folding: nobody wrote it
        draft.results.append(Event(path, ordinal, Role.WRITE))
        return self.drafts.id_of(draft)

    def _record(
        self, path: str, ordinal: int, reads: Sequence[str], written: Sequence[str], defined: str, result: str
    ) -> None:
        here = StatementRef(path, ordinal)
        roles = ((reads, Role.READ), ((*written, result), Role.WRITE), ((defined,), Role.DEFINE))
        self._parts |= {(name, path, ordinal, role) for names, role in roles for name in names if name}
        for source in reads:
            for target in written:
                self._edges[source, target, EdgeKind.WRITE].add(here)
            if defined and not self._superseded(path, ordinal):
                self._edges[source, defined, EdgeKind.READ].add(here)
        for source in (*reads, *written):  # what a statement gives back are rows of what it changed
            if result:
                self._edges[source, result, EdgeKind.READ].add(here)

    def edges(self) -> tuple[ObjectEdge, ...]:
        """Producers and consumers, sorted."""
        return tuple(
            ObjectEdge(source, target, kind, tuple(sorted(places)))
            for (source, target, kind), places in sorted(self._edges.items())
        )

    def parts(self) -> tuple[ObjectStatement, ...]:
        """The part of each statement in each object, sorted."""
        return tuple(ObjectStatement(*part) for part in sorted(self._parts))


def _beside(old: Name, new: Name) -> Name:
    """The new name of an object, which stays where it was unless the name says otherwise."""
    return new if len(new.parts) > 1 else msgspec.structs.replace(new, parts=(*old.parts[:-1], *new.parts))
