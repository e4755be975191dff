"""Objects while they are being found: who defines, writes, alters and drops each of them."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lineage_pipeline.engine.graph.homes import Homes
from lineage_pipeline.engine.graph.imported import Imported
from lineage_pipeline.engine.graph.indexes import Indexes
from lineage_pipeline.engine.graph.labels import labelled
from lineage_pipeline.engine.graph.names import TEMPORARY_SCHEMAS, Namespace, Parts, id_parts, quote, split_parts
from lineage_pipeline.engine.graph.objects import Draft, unknown
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.engine.graph.watchers import Watchers
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.plan import MODULES, Event, Face, Known, ScriptFace
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin, Role, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic, ObjectRow

if TYPE_CHECKING:
    from lineage_pipeline.engine.graph.references import References

_KINDS = {
    "table": ObjectKind.TABLE,
    "dynamic table": ObjectKind.MATERIALIZED_VIEW,
    **dict.fromkeys(("external table", "source", "model"), ObjectKind.EXTERNAL),
    **{kind.value: kind for kind in ObjectKind},
}

MOST_RESULTS = 50
"""How many result sets of a procedure are looked at."""


class Drafts:
    """All objects of a snapshot while they are being found."""

    def __init__(self, imported: Mapping[str, TableSchema]) -> None:
        """Start with what is imported."""
        self.imported = Imported(imported)
        self.drafts: dict[str, Draft] = {}
        self.synonyms: dict[str, tuple[Name, Namespace]] = {}
        self.repeated: list[tuple[str, Event, Event]] = []
        self.defined: dict[tuple[str, int], Draft] = {}
        self.filled: dict[tuple[str, int, Parts], Draft] = {}
        self.former: dict[str, list[tuple[Draft, Event]]] = {}
        self.queries = 0
        self.homes = Homes()
        self.watchers = Watchers()
        self.modules: set[str] = set()
        self.indexes = Indexes()

    def prepare(self, face: Face, space: Namespace, scopes: Scopes) -> None:
        """Take in what has to be known before any name is looked up: calls, and temporary objects that are created."""
        for name in face.calls:
            self.homes.call(space.id(space.complete(name.parts)), self.around(space, scopes), scopes)
        self.watchers.prepare(face, space, scopes)
        if face.defines is not None and face.defines.parts[-1][:1] == "#":
            self.homes.create(self.scope(face.defines, space, scopes), face.defines.parts[-1])

    def define(self, path: str, ordinal: int, face: Face, space: Namespace, scopes: Scopes) -> None:
        """Take in what one statement defines, alters, renames, writes and drops."""
        if face.defines is not None and face.define_kind == "synonym":
            if face.like is not None:
                self.synonyms[space.id(space.complete(face.defines.parts))] = (face.like, space)
        elif face.defines is not None:
            self._define(face.defines, Event(path, ordinal, Role.DEFINE), face, space, scopes)
        self.indexes.create(face, space)
        for altered in (*((name, space) for name in face.alters), *self.indexes.dropped(face, space).values()):
            draft = self.find(*altered, scopes) or self.catalogued(*altered)
            if draft is not None:
                draft.shape(Event(path, ordinal, Role.ALTER), scopes)
                draft.comment, draft.tags = face.comment or draft.comment, (*draft.tags, *face.tags)
        for name, to in face.renames:
            self._rename(name, to, Event(path, ordinal, Role.ALTER), space, scopes)
        for name in face.writes:
            self._write(name, Event(path, ordinal, Role.WRITE), space, scopes)
        for name in face.drops:
            draft = self.find(name, space, scopes)
            if draft is not None:
                draft.drop(scopes)

    def catalogued(self, name: Name, space: Namespace) -> Draft | None:
        """The object that only an imported schema knows, from now on one of ours."""
        identity = self.imported.find(space, name.parts) if self.imported.schemas else ""
        if not identity:
            return None
        draft = unknown(space, id_parts(identity, space.system), name.written)
        draft.imported = identity
        return self.drafts.setdefault(identity, draft)

    def _write(self, name: Name, event: Event, space: Namespace, scopes: Scopes) -> None:
        for point in self.watchers.given(name, space, scopes):
            draft = self.find(*point) or self._add(*point, self.is_temporary(name))
            if draft.writers[-1:] != [event]:  # the arms of a MERGE are one statement
                draft.writers.append(event)
            self.filled.setdefault((event.path, event.ordinal, name.parts), draft)

    def meant(self, name: Name, space: Namespace) -> tuple[Name, Namespace]:
        """The name behind a synonym, and what completes it; another name stands for itself."""
        for _ in self.synonyms:  # a synonym may stand for another one
            known = next(
                (key for parts in space.candidates(name.parts) if (key := space.id(parts)) in self.synonyms), ""
            )
            if not known or self._stands(known):
                break
            name, space = self.synonyms[known]
        return name, space

    def _stands(self, key: str) -> bool:
        """Whether there is an object of that very name: no schema has both, so that the synonym is of another one."""
        draft = self.drafts.get(key)
        return draft is not None and bool(draft.definitions) and not draft.dropped

    def _define(self, name: Name, event: Event, face: Face, space: Namespace, scopes: Scopes) -> None:
        temporary = face.temporary or self.is_temporary(name)
        draft = self._add(name, space, scopes, temporary)  # where it says: nothing is created along the search path
        self.defined[event.path, event.ordinal] = draft
        if face.if_absent and draft.is_there(scopes):
            return
        earlier = draft.definition
        if earlier is not None and not draft.dropped and not face.replace and not temporary:
            self.repeated.append((self.id_of(draft), earlier[0], event))
        draft.definitions[event] = face
        draft.comment, draft.tags = face.comment, face.tags
        draft.written = name.written
        draft.kind = _KINDS.get(face.define_kind, ObjectKind.TABLE)
        if draft.kind in MODULES:
            self.modules.add(name.parts[-1])
        elif temporary:
            draft.kind = ObjectKind.TEMP_TABLE
        draft.shape(event, scopes)
        draft.dropped = False

    def _rename(self, name: Name, to: Name, event: Event, space: Namespace, scopes: Scopes) -> None:
        draft = self.find(name, space, scopes)
        if draft is None:
            return
        before = self.id_of(draft)
        del self.drafts[before]
        self.former.setdefault(before, []).append((draft, event))
        parts = to.parts if len(to.parts) > 1 else (*draft.parts[:-1], to.parts[-1])
        draft.parts, draft.written = space.complete(parts), to.written
        draft.shape(event, scopes)
        old = self.drafts.get(self.id_of(draft))
        draft.former = (old, event) if old is not None else None
        self.drafts[self.id_of(draft)] = draft

    @staticmethod
    def is_temporary(name: Name) -> bool:
        """Whether the name itself says that the object is temporary."""
        return name.parts[-1][:1] in ("#", "@")

    @staticmethod
    def id_of(draft: Draft) -> str:
        """The id of an object; what a bare query makes has the same one in every system."""
        if draft.kind is ObjectKind.QUERY:
            return draft.parts[-1]
        if draft.imported:
            return draft.imported
        if draft.scope:
            return f"{draft.scope}.{quote(draft.parts[-1], draft.space.traits.tables)}"
        return draft.space.id(draft.parts)

    def _add(self, name: Name, space: Namespace, scopes: Scopes, temporary: bool) -> Draft:
        scope = self.home(name, space, scopes) if temporary else ""
        draft = Draft(space, space.complete(name.parts), name.written, scope)
        draft.qualified = draft.parts if len(name.parts) > 1 else ()
        if temporary and not draft.scope:  # standard input: there is nothing to tell its temporary objects apart from
            draft.kind, draft.parts = ObjectKind.TEMP_TABLE, (name.parts[-1],)
        return self.drafts.setdefault(self.id_of(draft), draft)

    def scope(self, name: Name, space: Namespace, scopes: Scopes) -> str:
        """What tells the temporary objects of one module or script from those of another; global ones are shared."""
        return "" if name.parts[-1].startswith("##") else self.around(space, scopes)

    @staticmethod
    def around(space: Namespace, scopes: Scopes) -> str:
        """The module that a statement stands in, or its script."""
        module = scopes.module
        if module >= 0:
            owner = scopes.statements[module].defines
            return space.id(space.complete(owner.parts)) if owner is not None else ""
        return "" if scopes.path == "-" else '"' + scopes.path.replace('"', '""') + '"'

    def find(self, name: Name, space: Namespace, scopes: Scopes, *, reading: bool = False) -> Draft | None:
        """The object that a name stands for at one point of a script, if it has been seen."""
        local = self.drafts.get(self.temporary_id(name, space, scopes))
        local = local if local is not None and (local.scope or local.kind is ObjectKind.TEMP_TABLE) else None
        if local is not None and self._means(name, local, space) and local.exists(name, scopes, reading):
            return local
        if self.synonyms:
            name, space = self.meant(name, space)
        for parts in space.candidates(name.parts):
            for draft, renamed in self.former.get(space.id(parts), ()) if self.former else ():
                if renamed.path == scopes.path and scopes.ordinal < renamed.ordinal:
                    return draft  # what this script calls so until it gives it another name
            found = self.drafts.get(space.id(parts))
            if found is not None and found is not local:
                return found.at(scopes)
        return None

    def _means(self, name: Name, local: Draft, space: Namespace) -> bool:
        """Whether a name can stand for a temporary object: a schema before it says otherwise, unless it is its own."""
        if len(name.parts) == 1 or self.is_temporary(name) or name.parts[-2].lower() in TEMPORARY_SCHEMAS:
            return True
        return local.qualified == space.complete(name.parts)

    def temporary_id(self, name: Name, space: Namespace, scopes: Scopes) -> str:
        """The id that a temporary object of this name would have here."""
        last = quote(name.parts[-1], space.traits.tables)
        scope = self.home(name, space, scopes)
        return f"{scope}.{last}" if scope else last

    def empty(self, objects: Mapping[str, Known]) -> set[str]:
        """The objects whose definition says nothing of columns, and those of which only a part is imported."""
        found = {name for name, known in objects.items() if self.imported.is_partial(known)}
        for name, draft in self.drafts.items():
            definition = draft.definition
            if definition is not None and definition[1].empty and not objects[name].imported:
                found.add(name)
        return found

    def import_of(self, name: str, draft: Draft) -> str:
        """The imported schema that describes an object, which may know it by more or fewer parts."""
        if not self.imported.schemas or draft.scope or draft.kind in (ObjectKind.QUERY, ObjectKind.TEMP_TABLE):
            return ""
        return name if name in self.imported.schemas else self.imported.find(draft.space, draft.parts)

    def home(self, name: Name, space: Namespace, scopes: Scopes) -> str:
        """The scope in which a temporary object lives: here, in a module that calls this one, or everywhere."""
        scope = self.scope(name, space, scopes)
        return self.homes.find(scope, name.parts[-1]) if name.parts[-1][:1] == "#" else scope

    def known(self, references: "References") -> dict[str, Known]:
        """The finished objects with what each needs for its schema."""
        return {name: self._known(name, draft, references) for name, draft in self.drafts.items()}

    def _known(self, name: str, draft: Draft, references: "References") -> Known:
        imported = self.import_of(name, draft)
        origin = Origin.IMPORTED if imported else self._origin(draft)
        sets = MOST_RESULTS if draft.kind is ObjectKind.PROCEDURE else 1
        shapers = (*draft.shapers, *draft.results[:sets]) or tuple(draft.writers)
        definition = draft.definition
        if definition is not None and definition[1].empty:  # a definition that says nothing of columns
            shapers = (*shapers, *draft.writers)
        if imported:
            shapers = tuple(draft.shapers)
        if origin is Origin.UNKNOWN or (imported and not draft.space.implied):
            shapers = ()  # a definition that may not imply a schema shapes nothing
        needs: list[str] = []
        for event in shapers:
            needs.extend(references.inputs.get((event.path, event.ordinal), ()))
        if definition is not None and definition[1].has_columns:
            needs = []
        kind = self.imported.schemas[imported].kind if imported and draft.kind is ObjectKind.UNKNOWN else draft.kind
        owners = references.owners.get(definition[0].path, ()) if definition else ()
        label = labelled(name, draft, self.imported.schemas.get(imported), owners)
        parts = (
            {"catalog": "", "schema": draft.scope, "name": draft.parts[-1]} if draft.scope else split_parts(draft.parts)
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
            path=definition[0].path if definition else None,
            line=references.line(definition[0].path, definition[1].start) if definition else None,
            tags=label.tags,
            owners=label.owners,
            description=label.description,
            **parts,
        )
        return Known(row, kind, origin, shapers, tuple(dict.fromkeys(needs)), imported, label.columns)

    @staticmethod
    def _origin(draft: Draft) -> Origin:
        silent = not draft.space.implied and draft.kind is not ObjectKind.TEMP_TABLE
        if draft.kind is ObjectKind.QUERY or (draft.definitions and not silent):
            return Origin.IMPLIED
        if silent:
            return Origin.UNKNOWN
        return Origin.INFERRED if draft.writers else Origin.UNKNOWN

    def duplicates(self, faces: Mapping[str, ScriptFace]) -> Iterable[Diagnostic]:
        """A finding at each of two definitions of one object."""
        for name, first, second in self.repeated:
            for event, other in ((first, second), (second, first)):
                here, there = (faces[item.path].text(item.path) for item in (event, other))
                start, other_start = (faces[item.path].statements[item.ordinal].start for item in (event, other))
                values = {"name": name, "other": f"{other.path}:{there.position(other_start)[0]}"}
                yield diagnose("DUPLICATE_DEFINITION", values, here, start, Stage.OBJECT_GRAPH, name)
