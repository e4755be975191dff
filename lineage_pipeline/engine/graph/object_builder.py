"""Objects while they are collected: who defines, writes, alters and drops each, their labels, and trigger tables."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding, matches_name_pattern
from lineage_pipeline.engine.graph.namespace import (
    TEMPORARY_SCHEMAS,
    NameParts,
    Namespace,
    is_address,
    is_same_suffix,
    parse_object_id,
    quote_part,
    render_object_id,
    split_object_id,
    split_qualified_name,
)
from lineage_pipeline.engine.graph.script_scopes import StatementScope, TempTableScopes
from lineage_pipeline.model.analysis import Label, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin, Role, Stage
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.ir import TRIGGER_ROWS, Name
from lineage_pipeline.model.plan import CALLABLE_KINDS, ObjectEntry, ObjectEvent, ScriptInterface, StatementInterface
from lineage_pipeline.model.tables import Diagnostic, ObjectRow

if TYPE_CHECKING:
    from lineage_pipeline.engine.graph.references import ReferenceResolver

NamePosition = tuple[Name, Namespace, StatementScope]
"""A name, the namespace that completes it, and the scope it is in."""


class TriggerTables:
    """The tables of triggers, by the function that the trigger runs; one function may serve many tables."""

    def __init__(self) -> None:
        """Start without triggers."""
        self._tables: dict[str, list[NamePosition]] = {}
        self._transitions: dict[tuple[str, str], NamePosition] = {}

    def add_trigger(self, face: StatementInterface, space: Namespace, scopes: StatementScope) -> None:
        """Record the table of a trigger, and its names for the changed rows (REFERENCING)."""
        if face.watches is None:
            return
        point = (face.watches, space, scopes)
        for function in face.calls:
            key = space.id(space.complete(function.parts))
            self._tables.setdefault(key, []).append(point)
            for name in face.transitions:
                self._transitions[key, name] = point

    def resolve_rows(self, name: Name, space: Namespace, scopes: StatementScope) -> list[NamePosition]:
        """What a name means at one point: itself, or the tables whose rows its function gets."""
        if not self._tables:
            return [] if name.parts == TRIGGER_ROWS else [(name, space, scopes)]
        if name.parts == TRIGGER_ROWS:
            tables: dict[str, NamePosition] = {}
            for point in self._tables.get(self._function(space, scopes), ()):
                tables.setdefault(point[1].id(point[1].complete(point[0].parts)), point)
            return list(tables.values())
        renamed = self._transitions.get((self._function(space, scopes), name.parts[0])) if self._transitions else None
        return [renamed if renamed is not None and len(name.parts) == 1 else (name, space, scopes)]

    @staticmethod
    def _function(space: Namespace, scopes: StatementScope) -> str:
        """The enclosing module, or the one that the statement defines."""
        module = scopes.module if scopes.module >= 0 else scopes.ordinal
        function = scopes.statements[module].defines
        return space.id(space.complete(function.parts)) if function is not None else ""


class ObjectDraft:
    """One object while it is collected."""

    def __init__(self, space: Namespace, parts: NameParts, written: str, scope: str = "") -> None:
        """Start with the name; `scope` is the script or module that owns a temporary table."""
        self.space = space
        self.parts = parts
        self.qualified: NameParts = ()
        self.written = written
        self.scope = scope
        self.imported = ""  # the id under which an imported schema knows it, where that has other parts
        self.kind = ObjectKind.TABLE if not scope else ObjectKind.TEMP_TABLE
        if is_address(parts):
            self.kind = ObjectKind.EXTERNAL
        self.definitions: dict[ObjectEvent, StatementInterface] = {}
        self.shapers: list[ObjectEvent] = []
        self.history: list[tuple[ObjectEvent, int]] = []  # all that ever shaped it, each with the module it stands in
        self.writers: list[ObjectEvent] = []
        self.results: list[ObjectEvent] = []
        self.relayed: dict[str, int] = {}  # how often a procedure calls each of those that may give result sets
        self.former: tuple[ObjectDraft, ObjectEvent] | None = (
            None  # the object whose name it got, and by which statement
        )
        self.dropped = False
        self.comment = ""
        self.tags: tuple[str, ...] = ()
        self.drops: dict[tuple[str, int], list[int]] = {}  # the statements of a path and module that certainly drop it
        self._makers: dict[str, list[int]] | None = None

    @property
    def definition(self) -> tuple[ObjectEvent, StatementInterface] | None:
        """The last definition."""
        return next(reversed(self.definitions.items()), None)

    @property
    def query(self) -> ObjectEvent | None:
        """The bare query that makes the object; the results of a module do not."""
        return self.results[0] if self.results and self.kind not in CALLABLE_KINDS else None

    def add_shaper(self, event: ObjectEvent, scopes: StatementScope) -> None:
        """Record that a statement defines the object again, or alters it."""
        if event.role is Role.DEFINE:
            self.shapers = []
        self.shapers.append(event)
        self.history.append((event, scopes.module))

    def add_drop(self, scopes: StatementScope) -> None:
        """Record that a statement drops the object."""
        self.dropped = True
        if not scopes.conditional:
            self.drops.setdefault((scopes.path, scopes.module), []).append(scopes.ordinal)

    def named_at(self, scopes: StatementScope) -> "ObjectDraft":
        """The object that has this name at one point of a script: another one until a rename gives it to this one."""
        found = self
        while found.former is not None:
            old, event = found.former
            if event.path != scopes.path or event.ordinal <= scopes.ordinal:
                break
            found = old
        return found

    def exists_before(self, scopes: StatementScope) -> bool:
        """Say whether this script or module has created the object before this point."""
        event, module = self.history[-1] if self.history else (None, -1)
        return event is not None and not self.dropped and (event.path, module) == (scopes.path, scopes.module)

    def is_dropped_before(self, scopes: StatementScope) -> bool:
        """Say whether this script has dropped the object before this point and not created it again."""
        drops = self.drops.get((scopes.path, scopes.module), ())
        before = bisect_left(drops, scopes.ordinal)
        if not before:
            return False
        makers = self._makers_in(scopes.path)
        return bisect_right(makers, drops[before - 1]) == bisect_right(makers, scopes.ordinal)

    def _makers_in(self, path: str) -> list[int]:
        """The statements of a file that create or fill the object, in order."""
        if self._makers is None:
            self._makers = {}
            for event in (*self.definitions, *self.shapers, *self.writers):
                self._makers.setdefault(event.path, []).append(event.ordinal)
            for ordinals in self._makers.values():
                ordinals.sort()
        return self._makers.get(path, [])

    def is_visible(self, name: Name, scopes: StatementScope, reading: bool) -> bool:
        """Say whether this temporary table exists at one point of a script; names with # or @ always do."""
        first = next(iter(self.definitions)) if self.definitions and name.parts[-1][:1] not in ("#", "@") else None
        return first is None or first.path != scopes.path or first.ordinal <= scopes.ordinal - reading


def draft_unknown(space: Namespace, parts: NameParts, written: str) -> ObjectDraft:
    """An object that is only read."""
    draft = ObjectDraft(space, parts, written)
    draft.kind = ObjectKind.EXTERNAL if is_address(parts) else ObjectKind.UNKNOWN
    return draft


class ObjectLabels(msgspec.Struct, frozen=True):
    """Tags, owners and description of one object, and the tag patterns of its columns."""

    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    description: str | None = None
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()


NO_LABELS = ObjectLabels()


def collect_labels(name: str, draft: ObjectDraft, imported: TableSchema | None, owners: Sequence[str]) -> ObjectLabels:
    """The labels of an object from DDL, imports, settings and the `owners` of its file."""
    fitting = [label for label in draft.space.labels if any(matches_name_pattern(name, item) for item in label.objects)]
    if not fitting and imported is None and not owners and not draft.tags and not draft.comment:
        return NO_LABELS
    whole = [label for label in fitting if not label.columns]
    tags = [*draft.tags, *(imported.tags if imported else ()), *(tag for label in whole for tag in label.tags)]
    named = [*(owner for label in fitting for owner in label.owners), *(imported.owners if imported else ()), *owners]
    return ObjectLabels(
        tuple(sorted(set(tags))),
        tuple(dict.fromkeys(named)),
        draft.comment or (imported.description if imported else None) or None,
        tuple((pattern, label.tags) for label in fitting for pattern in label.columns),
    )


def has_column_tags(
    files: Iterable[tuple[Sequence[StatementInterface], Sequence[Label]]], imported: Mapping[str, TableSchema]
) -> bool:
    """Say whether any column can have a tag: by a statement, by settings, or by an import."""
    if any(column.tags for schema in imported.values() for column in schema.columns):
        return True
    return any(
        any(label.columns and label.tags for label in labels) or any(face.tagged for face in faces)
        for faces, labels in files
    )


class UniqueIndexes:
    """The table of each unique index: in most dialects DROP INDEX does not name it."""

    def __init__(self) -> None:
        """Start empty."""
        self.tables: dict[str, tuple[Name, Namespace]] = {}

    def add_created(self, face: StatementInterface, space: Namespace) -> None:
        """Record the index that a statement creates, in the schema of its table."""
        if face.alters:
            self.tables |= {space.id(space.complete(name.parts)): (face.alters[0], space) for name in face.indexes}

    def find_dropped_tables(self, face: StatementInterface, space: Namespace) -> dict[Name, tuple[Name, Namespace]]:
        """The tables of the indexes that a statement drops, with the namespaces of their names."""
        found: dict[Name, tuple[Name, Namespace]] = {}
        for name in face.indexes if self.tables and not face.alters else ():
            keys = (space.id(parts) for parts in space.candidates(name.parts))
            known = next((key for key in keys if key in self.tables), "")
            found |= {name: self.tables[known]} if known else {}
        return found


class ImportedSchemas:
    """Imported schemas, by their own ids and by the names that statements use."""

    def __init__(self, schemas: Mapping[str, TableSchema]) -> None:
        """Take the schemas; the suffix index is built on demand."""
        self.schemas = schemas
        self._by_end: dict[str, list[tuple[NameParts, str]]] = {}
        self._schemas: set[NameParts] = set()

    def find(self, space: Namespace, parts: NameParts) -> str:
        """The imported object that a name means: exactly, by the search path, or by its suffix.

        Imported names may have more or fewer parts than references; a suffix match must be unique.
        """
        for item in space.candidates(parts):
            if space.id(item) in self.schemas:
                return space.id(item)
        if not self._by_end and self.schemas:
            for key in sorted(self.schemas):
                found = split_object_id(key)
                self._by_end.setdefault(found[-1], []).append((found, key))
        wanted = tuple(quote_part(part, space.traits.tables) for part in space.complete(parts) if part)
        same = [key for found, key in self._by_end.get(wanted[-1], ()) if is_same_suffix(found, wanted)]
        return same[0] if len(same) == 1 else ""

    def covers_schema(self, space: Namespace, parts: NameParts) -> bool:
        """Say whether other objects of the same schema are imported, so that a missing one does not exist."""
        if not self._schemas:
            self._schemas = {split_object_id(key)[:-1] for key in self.schemas}
        wanted = tuple(quote_part(part, space.traits.tables) for part in space.complete(parts)[:-1] if part)
        return bool(wanted) and wanted in self._schemas

    def is_partial(self, known: ObjectEntry) -> bool:
        """Say whether an object may have columns beyond the imported ones: no definition lists them either."""
        if not known.imported or not self.schemas[known.imported].open:
            return False
        return not any(event.role is Role.DEFINE for event in known.shapers)


_DEFINED_KINDS = {
    "table": ObjectKind.TABLE,
    "dynamic table": ObjectKind.MATERIALIZED_VIEW,
    **dict.fromkeys(("external table", "source", "model"), ObjectKind.EXTERNAL),
    **{kind.value: kind for kind in ObjectKind},
}

MAX_RESULT_SETS = 50
"""How many result sets of a procedure are analyzed."""


class ObjectBuilder:
    """All objects of a snapshot while they are collected."""

    def __init__(self, imported: Mapping[str, TableSchema]) -> None:
        """Start with the imported schemas."""
        self.imported = ImportedSchemas(imported)
        self.drafts: dict[str, ObjectDraft] = {}
        self.synonyms: dict[str, tuple[Name, Namespace]] = {}
        self.repeated: list[tuple[str, ObjectEvent, ObjectEvent]] = []
        self.defined: dict[tuple[str, int], ObjectDraft] = {}
        self.filled: dict[tuple[str, int, NameParts], ObjectDraft] = {}
        self.former: dict[str, list[tuple[ObjectDraft, ObjectEvent]]] = {}
        self.queries: dict[tuple[str, int], ObjectDraft] = {}
        self.homes = TempTableScopes()
        self.watchers = TriggerTables()
        self.modules: set[str] = set()
        self.indexes = UniqueIndexes()

    def has_session_tables(self) -> bool:
        """Whether there is a temporary table of T-SQL, which called procedures see too."""
        return any(draft.kind is ObjectKind.TEMP_TABLE and draft.parts[-1][:1] == "#" for draft in self.drafts.values())

    def prepare_statement(self, face: StatementInterface, space: Namespace, scopes: StatementScope) -> None:
        """Record what must be known before names are resolved: calls, triggers and created temporary tables."""
        for name in face.calls:
            self.homes.add_call(space.id(space.complete(name.parts)), self.enclosing_scope(space, scopes), scopes)
        self.watchers.add_trigger(face, space, scopes)
        if face.defines is not None and face.defines.parts[-1][:1] == "#":
            self.homes.add_table(self.temp_scope(face.defines, space, scopes), face.defines.parts[-1])

    def add_statement(
        self, path: str, ordinal: int, face: StatementInterface, space: Namespace, scopes: StatementScope
    ) -> None:
        """Record what one statement defines, alters, renames, writes and drops."""
        if face.defines is not None and face.define_kind == "synonym":
            if face.like is not None:
                self.synonyms[space.id(space.complete(face.defines.parts))] = (face.like, space)
        elif face.defines is not None:
            self._add_definition(face.defines, ObjectEvent(path, ordinal, Role.DEFINE), face, space, scopes)
        self.indexes.add_created(face, space)
        for altered in (
            *((name, space) for name in face.alters),
            *self.indexes.find_dropped_tables(face, space).values(),
        ):
            draft = self.find(*altered, scopes) or self.add_imported(*altered)
            if draft is not None:
                draft.add_shaper(ObjectEvent(path, ordinal, Role.ALTER), scopes)
                draft.comment, draft.tags = face.comment or draft.comment, (*draft.tags, *face.tags)
        for name, to in face.renames:
            self._add_rename(name, to, ObjectEvent(path, ordinal, Role.ALTER), space, scopes)
        for name in face.writes:
            self._add_write(name, ObjectEvent(path, ordinal, Role.WRITE), space, scopes)
        for name in face.drops:
            draft = self.find(name, space, scopes)
            if draft is not None:
                draft.add_drop(scopes)

    def add_query(self, place: tuple[str, int], parts: NameParts, space: Namespace, *, fills: bool) -> None:
        """Record the object of a bare query: one of its own, or the table that it `fills`."""
        draft = draft_unknown(space, parts, ".".join(parts))
        draft.kind = ObjectKind.TABLE if fills else ObjectKind.QUERY
        self.queries[place] = self.drafts.setdefault(self.object_id(draft), draft)

    def add_imported(self, name: Name, space: Namespace) -> ObjectDraft | None:
        """The object that only an imported schema knows, added to the drafts."""
        identity = self.imported.find(space, name.parts) if self.imported.schemas else ""
        if not identity:
            return None
        draft = draft_unknown(space, parse_object_id(identity, space.system), name.written)
        draft.imported = identity
        return self.drafts.setdefault(identity, draft)

    def _add_write(self, name: Name, event: ObjectEvent, space: Namespace, scopes: StatementScope) -> None:
        for point in self.watchers.resolve_rows(name, space, scopes):
            draft = self.find(*point) or self._add_draft(*point, self.is_temporary(name))
            if draft.writers[-1:] != [event]:  # the arms of a MERGE are one statement
                draft.writers.append(event)
            self.filled.setdefault((event.path, event.ordinal, name.parts), draft)

    def resolve_synonym(self, name: Name, space: Namespace) -> tuple[Name, Namespace]:
        """The target of a synonym and its namespace; any other name stays as it is."""
        for _ in self.synonyms:  # a synonym may stand for another one
            known = next(
                (key for parts in space.candidates(name.parts) if (key := space.id(parts)) in self.synonyms), ""
            )
            if not known or self._is_defined(known):
                break
            name, space = self.synonyms[known]
        return name, space

    def _is_defined(self, key: str) -> bool:
        """Say whether an object of exactly this name is defined: then the synonym belongs to another schema."""
        draft = self.drafts.get(key)
        return draft is not None and bool(draft.definitions) and not draft.dropped

    def _add_definition(
        self, name: Name, event: ObjectEvent, face: StatementInterface, space: Namespace, scopes: StatementScope
    ) -> None:
        temporary = face.temporary or self.is_temporary(name)
        draft = self._add_draft(
            name, space, scopes, temporary
        )  # where it says: nothing is created along the search path
        self.defined[event.path, event.ordinal] = draft
        if face.if_absent and draft.exists_before(scopes):
            return
        earlier = draft.definition
        if earlier is not None and not draft.dropped and not face.replace and not temporary:
            self.repeated.append((self.object_id(draft), earlier[0], event))
        draft.definitions[event] = face
        draft.comment, draft.tags = face.comment, face.tags
        draft.written = name.written
        draft.kind = _DEFINED_KINDS.get(face.define_kind, ObjectKind.TABLE)
        if draft.kind in CALLABLE_KINDS:
            self.modules.add(name.parts[-1])
        elif temporary:
            draft.kind = ObjectKind.TEMP_TABLE
        draft.add_shaper(event, scopes)
        draft.dropped = False

    def _add_rename(self, name: Name, to: Name, event: ObjectEvent, space: Namespace, scopes: StatementScope) -> None:
        draft = self.find(name, space, scopes)
        if draft is None:
            return
        before = self.object_id(draft)
        del self.drafts[before]
        self.former.setdefault(before, []).append((draft, event))
        parts = to.parts if len(to.parts) > 1 else (*draft.parts[:-1], to.parts[-1])
        draft.parts, draft.written = space.complete(parts), to.written
        draft.add_shaper(event, scopes)
        old = self.drafts.get(self.object_id(draft))
        draft.former = (old, event) if old is not None else None
        self.drafts[self.object_id(draft)] = draft

    @staticmethod
    def is_temporary(name: Name) -> bool:
        """Say whether the name itself marks a temporary table (`#t`, `@t`)."""
        return name.parts[-1][:1] in ("#", "@")

    @staticmethod
    def object_id(draft: ObjectDraft) -> str:
        """The id of an object; a bare query has the same id in every system."""
        if draft.kind is ObjectKind.QUERY:
            return render_object_id(draft.parts, IdentifierFolding.EXACT, "")
        if draft.imported:
            return draft.imported
        if draft.scope:
            return f"{draft.scope}.{quote_part(draft.parts[-1], draft.space.traits.tables)}"
        return draft.space.id(draft.parts)

    def _add_draft(self, name: Name, space: Namespace, scopes: StatementScope, temporary: bool) -> ObjectDraft:
        scope = self.owning_scope(name, space, scopes) if temporary else ""
        draft = ObjectDraft(space, space.complete(name.parts), name.written, scope)
        draft.qualified = draft.parts if len(name.parts) > 1 else ()
        if temporary and not draft.scope:  # standard input: there is nothing to tell its temporary objects apart from
            draft.kind, draft.parts = ObjectKind.TEMP_TABLE, (name.parts[-1],)
        return self.drafts.setdefault(self.object_id(draft), draft)

    def temp_scope(self, name: Name, space: Namespace, scopes: StatementScope) -> str:
        """The module or script that owns a temporary table of this name; empty for global ones (`##t`)."""
        return "" if name.parts[-1].startswith("##") else self.enclosing_scope(space, scopes)

    @staticmethod
    def enclosing_scope(space: Namespace, scopes: StatementScope) -> str:
        """The module that a statement is in, or its script."""
        module = scopes.module
        if module >= 0:
            owner = scopes.statements[module].defines
            return space.id(space.complete(owner.parts)) if owner is not None else ""
        return "" if scopes.path == "-" else '"' + scopes.path.replace('"', '""') + '"'

    def find(
        self, name: Name, space: Namespace, scopes: StatementScope, *, reading: bool = False
    ) -> ObjectDraft | None:
        """The object that a name means at one point of a script, or None where it is unknown."""
        local = self.drafts.get(self.temporary_id(name, space, scopes))
        local = local if local is not None and (local.scope or local.kind is ObjectKind.TEMP_TABLE) else None
        if local is not None and self._may_mean(name, local, space) and local.is_visible(name, scopes, reading):
            return local
        if self.synonyms:
            name, space = self.resolve_synonym(name, space)
        for parts in space.candidates(name.parts):
            for draft, renamed in self.former.get(space.id(parts), ()) if self.former else ():
                if renamed.path == scopes.path and scopes.ordinal < renamed.ordinal:
                    return draft  # what this script calls so until it gives it another name
            found = self.drafts.get(space.id(parts))
            if found is not None and found is not local:
                return found.named_at(scopes)
        return None

    def _may_mean(self, name: Name, local: ObjectDraft, space: Namespace) -> bool:
        """Say whether a name can mean a temporary table: unqualified, or qualified with its own schema."""
        if len(name.parts) == 1 or self.is_temporary(name) or name.parts[-2].lower() in TEMPORARY_SCHEMAS:
            return True
        return local.qualified == space.complete(name.parts)

    def temporary_id(self, name: Name, space: Namespace, scopes: StatementScope) -> str:
        """The id that a temporary table of this name would have here."""
        last = quote_part(name.parts[-1], space.traits.tables)
        scope = self.owning_scope(name, space, scopes)
        return f"{scope}.{last}" if scope else last

    def find_columnless(self, objects: Mapping[str, ObjectEntry]) -> set[str]:
        """The objects whose definition lists no columns, and those that are only partly imported."""
        found = {name for name, known in objects.items() if self.imported.is_partial(known)}
        for name, draft in self.drafts.items():
            definition = draft.definition
            if definition is not None and definition[1].empty and not objects[name].imported:
                found.add(name)
        return found

    def find_import(self, name: str, draft: ObjectDraft) -> str:
        """The imported schema of an object, which may have more or fewer name parts."""
        if not self.imported.schemas or draft.scope or draft.kind in (ObjectKind.QUERY, ObjectKind.TEMP_TABLE):
            return ""
        return name if name in self.imported.schemas else self.imported.find(draft.space, draft.parts)

    def owning_scope(self, name: Name, space: Namespace, scopes: StatementScope) -> str:
        """The scope that owns a temporary table: this one, that of a caller, or the global one."""
        scope = self.temp_scope(name, space, scopes)
        return self.homes.find_owner(scope, name.parts[-1]) if name.parts[-1][:1] == "#" else scope

    def build_entries(self, references: "ReferenceResolver") -> dict[str, ObjectEntry]:
        """The finished objects, with what each needs for its schema."""
        return {name: self._build_entry(name, draft, references) for name, draft in self.drafts.items()}

    def _build_entry(self, name: str, draft: ObjectDraft, references: "ReferenceResolver") -> ObjectEntry:
        imported = self.find_import(name, draft)
        origin = Origin.IMPORTED if imported else self._find_origin(draft)
        sets = MAX_RESULT_SETS if draft.kind is ObjectKind.PROCEDURE else 1
        shapers = (*draft.shapers, *draft.results[:sets]) or tuple(draft.writers)
        definition = draft.definition
        if definition is not None and definition[1].empty:  # a definition that says nothing of columns
            shapers = (*shapers, *draft.writers)
        if imported:
            shapers = tuple(draft.shapers) or (tuple(draft.results[:1]) if draft.query else ())
        if origin is Origin.UNKNOWN or (imported and not draft.space.implied):
            shapers = ()  # a definition that may not imply a schema shapes nothing
        needs: list[str] = []
        for event in shapers:
            needs.extend(references.inputs.get((event.path, event.ordinal), ()))
        if definition is not None and definition[1].has_columns:
            needs = []
        kind = self.imported.schemas[imported].kind if imported and draft.kind is ObjectKind.UNKNOWN else draft.kind
        maker = definition[0] if definition else draft.query
        owners = references.owners.get(maker.path, ()) if maker else ()
        label = collect_labels(name, draft, self.imported.schemas.get(imported), owners)
        parts = (
            {"catalog": "", "schema": draft.scope, "name": draft.parts[-1]}
            if draft.scope
            else split_qualified_name(draft.parts)
        )
        row = ObjectRow(
            object=name,
            system=draft.space.system,
            written=draft.written,
            kind=kind,
            origin=origin,
            level=0,
            temporary=draft.kind is ObjectKind.TEMP_TABLE,
            open=False,
            path=maker.path if maker else None,
            line=references.find_line(maker) if maker else None,
            tags=label.tags,
            owners=label.owners,
            description=label.description,
            **parts,
        )
        return ObjectEntry(
            row=row,
            kind=kind,
            origin=origin,
            shapers=shapers,
            needs=tuple(dict.fromkeys(needs)),
            imported=imported,
            labels=label.columns,
        )

    @staticmethod
    def _find_origin(draft: ObjectDraft) -> Origin:
        silent = not draft.space.implied and draft.kind is not ObjectKind.TEMP_TABLE
        if draft.kind is ObjectKind.QUERY or ((draft.definitions or draft.query) and not silent):
            return Origin.IMPLIED
        if silent:
            return Origin.UNKNOWN
        return Origin.INFERRED if draft.writers else Origin.UNKNOWN

    def report_duplicates(self, faces: Mapping[str, ScriptInterface]) -> Iterable[Diagnostic]:
        """A finding at each of two definitions of one object."""
        for name, first, second in self.repeated:
            for event, other in ((first, second), (second, first)):
                here, there = (faces[item.path].text(item.path) for item in (event, other))
                start, other_start = (faces[item.path].statements[item.ordinal].start for item in (event, other))
                values = {"name": name, "other": f"{other.path}:{there.position(other_start)[0]}"}
                yield build_diagnostic("DUPLICATE_DEFINITION", values, here, start, Stage.OBJECT_GRAPH, name)
