"""References: every name of every statement is resolved once, at its position in the script."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.system_catalogs import is_system_object
from lineage_pipeline.engine.graph.namespace import Namespace
from lineage_pipeline.engine.graph.object_builder import NamePosition, ObjectBuilder, ObjectDraft, draft_unknown
from lineage_pipeline.engine.graph.object_states import ObjectStates, map_to_states
from lineage_pipeline.engine.graph.script_scopes import StatementScope
from lineage_pipeline.model.enums import EdgeKind, ObjectKind, Role, Stage
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.ir import RELAYING_KINDS, TRIGGER_ROWS, Name
from lineage_pipeline.model.plan import (
    CALL_SUFFIX,
    CALLABLE_KINDS,
    NameBindings,
    ObjectEvent,
    ScriptInterface,
    StatementInterface,
)
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Diagnostic, ObjectEdge, ObjectStatement, StatementRef

MAX_RELAYED_CALLS = 3
"""Calls of one procedure by another whose result sets are followed: all return the same ones."""

ScopedStatement = tuple[int, StatementInterface, Namespace, StatementScope]


class ReferenceResolver:
    """The objects that the names of a snapshot refer to, collected file by file."""

    def __init__(self, drafts: ObjectBuilder) -> None:
        """Start with the objects that statements define or write."""
        self.drafts = drafts
        self.bound: dict[str, tuple[NameBindings, ...]] = {}
        self.inputs: dict[tuple[str, int], tuple[str, ...]] = {}
        self.states = ObjectStates(drafts)
        self.stars: dict[tuple[str, int], tuple[str, ...]] = {}
        self.findings: list[Diagnostic] = []
        self.texts: dict[str, SourceText] = {}
        self.starts: dict[tuple[str, int], int] = {}
        self.owners: dict[str, Sequence[str]] = {}
        self._parts: set[tuple[str, str, int, Role]] = set()
        self._edges: dict[tuple[str, str, EdgeKind], set[StatementRef]] = defaultdict(set)

    def resolve(self, path: str, script: ScriptInterface, steps: Iterable[ScopedStatement]) -> None:
        """Resolve the names of one file."""
        self.texts[path] = script.text(path)
        self.starts |= {(path, ordinal): face.start for ordinal, face in enumerate(script.statements)}
        self.bound[path] = tuple(self._resolve_statement(path, step) for step in steps)

    def find_line(self, event: ObjectEvent) -> int:
        """The line on which a statement begins, counted from 1."""
        return self.texts[event.path].position(self.starts[event.path, event.ordinal])[0]

    def _resolve_statement(self, path: str, step: ScopedStatement) -> NameBindings:
        ordinal, face, space, scopes = step
        names: dict[tuple[str, ...], str] = {}
        reads = [found for name in face.reads for found in self._resolve_reads(name, path, step, names)]
        called = [callee for name in face.calls if (callee := self._resolve_call(name, path, step, names))]
        targets = [found for name in face.writes for found in self._resolve_targets(name, path, step, names)]
        defined = self._resolve_defined(path, step, names)
        result = self._resolve_result(path, step) if face.has_result else ""
        superseded = self._is_superseded(path, ordinal)
        self._add_edges(path, ordinal, reads, targets, defined, result)
        for source, target in face.hands:
            if source.parts in names and target.parts in names:
                self._edges[names[source.parts], names[target.parts], EdgeKind.WRITE].add(StatementRef(path, ordinal))
        if superseded:
            defined = ""
        if not targets and not result and not defined:
            self._add_module_reads(reads, path, step)
        if face.like is not None:
            reads.append(self._resolve_read(face.like, path, step, names))
        if face.returns is not None:
            reads.extend(self._resolve_row_type(face.returns, step, names))
        changed = targets if result else []  # what a statement gives back are rows of what it changed
        listed = defined if face.has_columns else ""  # computed columns read those of the list
        bound = face.define_kind != "view" or space.traits.fixes_views
        seen = self.states.find_states(names, space, scopes, listed, final=not bound) if self.states.changing else {}
        self._resolve_changed(path, step, names)  # what is altered or dropped is not looked at: it has no state there
        self.inputs[(path, ordinal)] = map_to_states([*reads, *changed, *called], names, seen)
        stars = (*face.stars, face.like) if face.like is not None else face.stars
        if stars:
            self.stars[path, ordinal] = tuple(seen.get(name.parts, names[name.parts]) for name in stars)
        read = tuple(dict.fromkeys(name.parts for name in face.reads))
        held, states = tuple(sorted(names.items())), tuple(sorted(seen.items()))
        made = self.states.find_made_state(defined, scopes) if self.states.restless and defined else ""
        elsewhere = self.states.find_foreign_shaped(targets, path) if self.states.restless and targets else ()
        bare = (ordinal, held, read, result, scopes.conditional, superseded, states, made)
        return NameBindings(*bare, elsewhere=elsewhere)

    def _resolve_row_type(self, name: Name, step: ScopedStatement, names: dict[tuple[str, ...], str]) -> Iterator[str]:
        """The table or type whose rows a function returns; most return types are neither."""
        _, face, space, scopes = step
        around = face.defines.parts[:-1] if face.defines is not None else ()
        for parts in ((*around, *name.parts), name.parts):
            draft = self.drafts.find(msgspec.structs.replace(name, parts=parts), space, scopes)
            if draft is not None and draft.kind not in CALLABLE_KINDS:
                names[name.parts] = self.drafts.object_id(draft)
                yield names[name.parts]
                return

    def _resolve_changed(self, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]) -> None:
        """Resolve the objects that a statement alters, renames or drops."""
        ordinal, face, space, scopes = step
        renamed = {new: _qualify_new_name(old, new) for old, new in face.renames}
        indexed = self.drafts.indexes.find_dropped_tables(face, space)
        for name in (*face.alters, *renamed, *face.drops, *indexed):
            draft = self.drafts.find(*indexed.get(name, (renamed.get(name, name), space)), scopes)
            if draft is not None:
                role = Role.DROP if name in face.drops else Role.ALTER
                names[name.parts] = self.drafts.object_id(draft)
                self._parts.add((names[name.parts], path, ordinal, role))

    def _is_superseded(self, path: str, ordinal: int) -> bool:
        """Say whether a statement defines a view that a later one defines again, or an object that already exists."""
        own = self.drafts.defined.get((path, ordinal))
        if own is None:
            return False
        if own.kind not in (ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW):
            return ObjectEvent(path, ordinal, Role.DEFINE) not in own.definitions
        return own.definition is None or own.definition[0] != ObjectEvent(path, ordinal, Role.DEFINE)

    def _resolve_defined(self, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]) -> str:
        """The object that a statement defines, which may have been renamed since."""
        ordinal, face, _, _ = step
        if face.defines is None:
            return ""
        own = self.drafts.defined.get((path, ordinal))
        if own is None:
            return self._resolve_target(face.defines, path, step, names)
        names[face.defines.parts] = self.drafts.object_id(own)
        return names[face.defines.parts]

    def _add_module_reads(self, reads: Sequence[str], path: str, step: ScopedStatement) -> None:
        """Add edges for what a statement reads into variables or for a condition: its module reads it."""
        ordinal, _, space, scopes = step
        module = scopes.statements[scopes.module].defines if reads and scopes.module >= 0 else None
        owner = self.drafts.find(module, space, scopes) if module is not None else None
        if owner is not None:
            for source in reads:
                self._edges[source, self.drafts.object_id(owner), EdgeKind.READ].add(StatementRef(path, ordinal))

    def _resolve_reads(
        self, name: Name, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]
    ) -> list[str]:
        """The objects that a read name means: one object, or the tables of a trigger function."""
        given = self.drafts.watchers.resolve_rows(name, step[2], step[3])
        if given == [(name, step[2], step[3])]:
            return [self._resolve_read(name, path, step, names)]
        return self._resolve_trigger_tables(name, given, names)

    def _resolve_trigger_tables(
        self, name: Name, given: Sequence[NamePosition], names: dict[tuple[str, ...], str]
    ) -> list[str]:
        """The tables of a trigger; the first gets the name itself, so that it can be looked up."""
        found = [self._resolve_id(*point) for point in given]
        for position, identity in enumerate(found):
            names[(*name.parts, identity) if position else name.parts] = identity
        return found

    def _resolve_id(self, name: Name, space: Namespace, scopes: StatementScope) -> str:
        draft = self.drafts.find(name, space, scopes)
        meant, space = self.drafts.resolve_synonym(name, space)
        return self.drafts.object_id(draft) if draft is not None else space.id(space.complete(meant.parts))

    def _find_callee(self, name: Name, space: Namespace, scopes: StatementScope) -> ObjectDraft | None:
        """The module that a name calls: next to or inside the enclosing module, in its package, or any other."""
        if name.parts[-1] not in self.drafts.modules:
            return None
        around = scopes.statements[scopes.module].defines if scopes.module >= 0 else None
        prefixes = [around.parts[:size] for size in range(len(around.parts), 0, -1)] if around is not None else []
        tried = [*((*prefix, *name.parts) for prefix in prefixes), name.parts, (space.schema, *name.parts)]
        tried.extend(name.parts[size:] for size in range(1, len(name.parts) - 1))  # a schema before a package
        for parts in tried:
            draft = self.drafts.find(msgspec.structs.replace(name, parts=parts), space, scopes)
            if draft is not None and draft.kind in CALLABLE_KINDS:
                return draft
        return None

    def _resolve_targets(
        self, name: Name, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]
    ) -> list[str]:
        """The objects that a written name means: one object, or the tables of a trigger function."""
        if name.parts == TRIGGER_ROWS:
            return self._resolve_trigger_tables(name, self.drafts.watchers.resolve_rows(name, step[2], step[3]), names)
        return [self._resolve_target(name, path, step, names)]

    def _resolve_read(self, name: Name, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]) -> str:
        ordinal, face, space, scopes = step
        draft = self.drafts.find(name, space, scopes, reading=True)
        if draft is None:
            meant, space = self.drafts.resolve_synonym(name, space)
            draft = self.drafts.add_imported(meant, space)
        if draft is None:
            parts = space.complete(meant.parts)
            draft = self.drafts.drafts.setdefault(space.id(parts), draft_unknown(space, parts, name.written))
        identity = self.drafts.object_id(draft)
        names[name.parts] = identity
        strange = draft.kind is ObjectKind.UNKNOWN or (draft.drops and draft.is_dropped_before(scopes))
        if strange and identity not in self.drafts.imported.schemas:
            own = is_system_object(space.traits.system_catalog, name.parts)
            self._report_unknown(name, identity, path, face, "SYSTEM_TABLE" if own else "UNKNOWN_TABLE")
        return identity

    def _resolve_call(self, name: Name, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]) -> str:
        """The module that is called, or an empty text; its caller depends on it."""
        ordinal, face, space, scopes = step
        draft = self._find_callee(name, space, scopes)
        if draft is None:
            return ""
        identity = names[name.parts + CALL_SUFFIX] = self.drafts.object_id(draft)
        self._parts.add((identity, path, ordinal, Role.CALL))
        module = scopes.module
        caller = scopes.statements[module].defines if module >= 0 else face.defines
        owner = self.drafts.find(caller, space, scopes) if caller is not None else None
        if owner is not None:
            self._edges[identity, self.drafts.object_id(owner), EdgeKind.CALL].add(StatementRef(path, ordinal))
            relays = face.kind in RELAYING_KINDS and not face.writes and not face.has_result
            if relays and draft.kind is ObjectKind.PROCEDURE and owner is not draft:
                times = owner.relayed[identity] = owner.relayed.get(identity, 0) + 1
                if times <= MAX_RELAYED_CALLS:
                    owner.results.append(ObjectEvent(path, ordinal, Role.CALL))
        return identity

    def _resolve_target(self, name: Name, path: str, step: ScopedStatement, names: dict[tuple[str, ...], str]) -> str:
        """The object that a statement writes, which may have been renamed since."""
        ordinal, face, space, scopes = step
        draft = self.drafts.filled.get((path, ordinal, name.parts))
        identity = self.drafts.object_id(draft) if draft is not None else self._resolve_id(name, space, scopes)
        names[name.parts] = identity
        if draft is not None and self.drafts.imported.schemas and self._is_undefined_target(identity, draft):
            self._report_unknown(name, identity, path, face)
        return identity

    def _is_undefined_target(self, name: str, draft: ObjectDraft) -> bool:
        """Say whether a written table is undefined although other tables of its schema are imported."""
        strange = draft.kind is ObjectKind.TABLE and not draft.definitions and not draft.shapers and not draft.scope
        return (
            strange
            and not self.drafts.find_import(name, draft)
            and self.drafts.imported.covers_schema(draft.space, draft.parts)
        )

    def _report_unknown(
        self, name: Name, identity: str, path: str, face: StatementInterface, code: str = "UNKNOWN_TABLE"
    ) -> None:
        text, offset = self.texts[path], face.start + max(name.start, 0)
        self.findings.append(build_diagnostic(code, {"name": identity}, text, offset, Stage.OBJECT_GRAPH, identity))

    def _resolve_result(self, path: str, step: ScopedStatement) -> str:
        """The object that takes the rows of a statement: its module, or that of a bare query."""
        ordinal, _, space, scopes = step
        event = ObjectEvent(path, ordinal, Role.WRITE)
        draft = self.drafts.queries.get((path, ordinal))
        if draft is not None:
            (draft.writers if draft.definitions else draft.results).append(event)
            return self.drafts.object_id(draft)
        owner = scopes.statements[scopes.module].defines
        draft = self.drafts.find(owner, space, scopes) if owner is not None else None
        if draft is None:
            raise KeyError((path, ordinal))  # every query outside of a module has been named
        draft.results.append(event)
        return self.drafts.object_id(draft)

    def _add_edges(
        self, path: str, ordinal: int, reads: Sequence[str], written: Sequence[str], defined: str, result: str
    ) -> None:
        here = StatementRef(path, ordinal)
        roles = ((reads, Role.READ), ((*written, result), Role.WRITE), ((defined,), Role.DEFINE))
        self._parts |= {(name, path, ordinal, role) for names, role in roles for name in names if name}
        for source in reads:
            for target in written:
                self._edges[source, target, EdgeKind.WRITE].add(here)
            passed_on = source == defined and bool(written)  # a table that passes its rows on does not read itself
            if defined and not passed_on and not self._is_superseded(path, ordinal):
                self._edges[source, defined, EdgeKind.READ].add(here)
        for source in (*reads, *written):  # what a statement gives back are rows of what it changed
            if result:
                self._edges[source, result, EdgeKind.READ].add(here)

    def build_object_edges(self) -> tuple[ObjectEdge, ...]:
        """The object edges, sorted."""
        return tuple(
            ObjectEdge(source, target, kind, tuple(sorted(places)))
            for (source, target, kind), places in sorted(self._edges.items())
        )

    def build_object_statements(self) -> tuple[ObjectStatement, ...]:
        """The role of each statement for each object, sorted."""
        return tuple(ObjectStatement(*part) for part in sorted(self._parts))


def _qualify_new_name(old: Name, new: Name) -> Name:
    """The new name of an object, in its old schema unless the name is qualified."""
    return new if len(new.parts) > 1 else msgspec.structs.replace(new, parts=(*old.parts[:-1], *new.parts))
