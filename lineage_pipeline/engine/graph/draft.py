"""Objects while they are being found: who defines, writes, alters and drops each of them."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from lineage_pipeline.engine.graph.homes import Homes
from lineage_pipeline.engine.graph.names import Namespace, Parts, ends_alike, is_outside, quote, split_id, split_parts
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.engine.graph.watchers import Watchers
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import Event, Face, Known, ScriptFace
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin, Role, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic, ObjectRow

if TYPE_CHECKING:
    from lineage_pipeline.engine.graph.references import References

TEMPORARY_SCHEMAS = frozenset({"", "tempdb", "pg_temp", "temp", "global_temp", "session", "_session"})
"""Where temporary objects are found under a qualified name."""

_KINDS = {
    "table": ObjectKind.TABLE,
    "dynamic table": ObjectKind.MATERIALIZED_VIEW,
    "external table": ObjectKind.EXTERNAL,
    **{kind.value: kind for kind in ObjectKind},
}


class Draft:
    """One object while it is being found."""

    def __init__(self, space: Namespace, parts: Parts, written: str, scope: str = "") -> None:
        """Start with its name; `scope` is the script or module that a temporary object lives in."""
        self.space = space
        self.parts = parts
        self.qualified: Parts = ()
        self.written = written
        self.scope = scope
        self.imported = ""  # the id under which an imported schema knows it, where that has other parts
        self.kind = ObjectKind.TABLE if not scope else ObjectKind.TEMP_TABLE
        if is_outside(parts):
            self.kind = ObjectKind.EXTERNAL
        self.definitions: list[tuple[Event, Face]] = []
        self.shapers: list[Event] = []
        self.writers: list[Event] = []
        self.results: list[Event] = []
        self.dropped = False

    def exists(self, name: Name, scopes: Scopes, reading: bool) -> bool:
        """Whether this temporary object has been created at one point of a script; marked names are not asked."""
        first = self.definitions[0][0] if self.definitions and name.parts[-1][:1] not in ("#", "@") else None
        return first is None or first.path != scopes.path or first.ordinal <= scopes.ordinal - reading


class Drafts:
    """All objects of a snapshot while they are being found."""

    def __init__(self, imported: Collection[str]) -> None:
        """Start with the ids that an imported schema knows."""
        self.imported = frozenset(imported)
        self._imported: dict[str, list[tuple[Parts, str]]] = {}
        self.drafts: dict[str, Draft] = {}
        self.synonyms: dict[str, tuple[Name, Namespace]] = {}
        self.repeated: list[tuple[str, Event, Event]] = []
        self.defined: dict[tuple[str, int], Draft] = {}
        self.filled: dict[tuple[str, int, Parts], Draft] = {}
        self.former: dict[str, tuple[Draft, Event]] = {}
        self.queries = 0
        self.homes = Homes()
        self.watchers = Watchers()

    def prepare(self, face: Face, space: Namespace, scopes: Scopes) -> None:
        """Take in what has to be known before any name is looked up: calls, and temporary objects that are created."""
        for name in face.calls:
            self.homes.call(space.id(space.complete(name.parts)), self.scope(name, space, scopes))
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
        for name in face.alters:
            draft = self.find(name, space, scopes)
            if draft is not None:
                draft.shapers.append(Event(path, ordinal, Role.ALTER))
        for name, to in face.renames:
            self._rename(name, to, Event(path, ordinal, Role.ALTER), space, scopes)
        for name in face.writes:
            self._write(name, Event(path, ordinal, Role.WRITE), space, scopes)
        for name in face.drops:
            draft = self.find(name, space, scopes)
            if draft is not None:
                draft.dropped = True

    def _write(self, name: Name, event: Event, space: Namespace, scopes: Scopes) -> None:
        for point in self.watchers.given(name, space, scopes):
            draft = self.find(*point) or self._add(*point, self.is_temporary(name))
            draft.writers.append(event)
            self.filled.setdefault((event.path, event.ordinal, name.parts), draft)

    def meant(self, name: Name, space: Namespace) -> tuple[Name, Namespace]:
        """The name behind a synonym, and what completes it; another name stands for itself."""
        for _ in self.synonyms:  # a synonym may stand for another one
            known = next(
                (key for parts in space.candidates(name.parts) if (key := space.id(parts)) in self.synonyms), ""
            )
            if not known:
                break
            name, space = self.synonyms[known]
        return name, space

    def _define(self, name: Name, event: Event, face: Face, space: Namespace, scopes: Scopes) -> None:
        temporary = face.temporary or self.is_temporary(name)
        draft = self._add(name, space, scopes, temporary)  # where it says: nothing is created along the search path
        if draft.definitions and not draft.dropped and not face.replace and not temporary:
            self.repeated.append((self.id_of(draft), draft.definitions[-1][0], event))
        draft.definitions.append((event, face))
        self.defined[event.path, event.ordinal] = draft
        draft.written = name.written
        draft.kind = ObjectKind.TEMP_TABLE if temporary else _KINDS.get(face.define_kind, ObjectKind.TABLE)
        draft.shapers = [event]
        draft.dropped = False

    def _rename(self, name: Name, to: Name, event: Event, space: Namespace, scopes: Scopes) -> None:
        draft = self.find(name, space, scopes)
        if draft is None:
            return
        before = self.id_of(draft)
        del self.drafts[before]
        self.former[before] = (draft, event)
        parts = to.parts if len(to.parts) > 1 else (*draft.parts[:-1], to.parts[-1])
        draft.parts, draft.written = space.complete(parts), to.written
        draft.shapers.append(event)
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
        if name.parts[-1].startswith("##"):
            return ""
        module = scopes.module
        if module >= 0:
            owner = scopes.statements[module].defines
            return space.id(space.complete(owner.parts)) if owner is not None else ""
        return "" if scopes.path == "-" else '"' + scopes.path.replace('"', '""') + '"'

    def find(self, name: Name, space: Namespace, scopes: Scopes, *, reading: bool = False) -> Draft | None:
        """The object that a name stands for at one point of a script, if it has been seen."""
        local = self.drafts.get(self.temporary_id(name, space, scopes))
        local = local if local is not None and local.kind is ObjectKind.TEMP_TABLE else None
        if local is not None and self._means(name, local, space) and local.exists(name, scopes, reading):
            return local
        if self.synonyms:
            name, space = self.meant(name, space)
        for parts in space.candidates(name.parts):
            draft = self.drafts.get(space.id(parts))
            if draft is not None and draft is not local:
                return draft
            draft, renamed = self.former.get(space.id(parts), (None, None))
            if renamed is not None and renamed.path == scopes.path and scopes.ordinal < renamed.ordinal:
                return draft  # what this script calls so until it gives it another name
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

    def imported_id(self, space: Namespace, parts: Parts) -> str:
        """The imported object that a name stands for: exactly, by the search path, or by the end of its name.

        Names of imported schemas may have more or fewer parts than references; a match must be the only one.
        """
        for item in space.candidates(parts):
            if space.id(item) in self.imported:
                return space.id(item)
        if not self._imported and self.imported:
            for key in sorted(self.imported):
                found = split_id(key)
                self._imported.setdefault(found[-1], []).append((found, key))
        wanted = tuple(quote(part, space.traits.tables) for part in space.complete(parts) if part)
        same = [key for found, key in self._imported.get(wanted[-1], ()) if ends_alike(found, wanted)]
        return same[0] if len(same) == 1 else ""

    def empty(self) -> set[str]:
        """The objects whose definition says nothing of columns."""
        return {
            name
            for name, draft in self.drafts.items()
            if draft.definitions and draft.definitions[-1][1].empty and name not in self.imported
        }

    def home(self, name: Name, space: Namespace, scopes: Scopes) -> str:
        """The scope in which a temporary object lives: here, in a module that calls this one, or everywhere."""
        scope = self.scope(name, space, scopes)
        return self.homes.find(scope, name.parts[-1]) if name.parts[-1][:1] == "#" else scope

    def known(self, references: "References") -> dict[str, Known]:
        """The finished objects with what each needs for its schema."""
        return {name: self._known(name, draft, references) for name, draft in self.drafts.items()}

    def _known(self, name: str, draft: Draft, references: "References") -> Known:
        origin = self._origin(name, draft)
        shapers = (*draft.shapers, *draft.results[:1]) or tuple(draft.writers)
        if draft.definitions and draft.definitions[-1][1].empty:  # a definition that says nothing of columns
            shapers = (*shapers, *draft.writers)
        if origin is Origin.UNKNOWN:  # a definition that may not imply a schema shapes nothing
            shapers = ()
        needs: list[str] = []
        for event in shapers:
            needs.extend(references.inputs.get((event.path, event.ordinal), ()))
        if draft.definitions and draft.definitions[-1][1].has_columns:
            needs = []
        definition = draft.definitions[-1] if draft.definitions else None
        parts = (
            {"catalog": "", "schema": draft.scope, "name": draft.parts[-1]} if draft.scope else split_parts(draft.parts)
        )
        row = ObjectRow(
            object=name,
            system=draft.space.system,
            written=draft.written,
            kind=draft.kind,
            origin=origin,
            level=0,
            temporary=draft.kind is ObjectKind.TEMP_TABLE,
            open=False,
            path=definition[0].path if definition else None,
            line=references.line(definition[0].path, definition[1].start) if definition else None,
            tags=(),
            owners=(),
            **parts,
        )
        return Known(row, draft.kind, origin, shapers, tuple(dict.fromkeys(needs)))

    def _origin(self, name: str, draft: Draft) -> Origin:
        if name in self.imported:
            return Origin.IMPORTED
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
                here, there = (Text(item.path, faces[item.path].lines) for item in (event, other))
                start, other_start = (faces[item.path].statements[item.ordinal].start for item in (event, other))
                values = {"name": name, "other": f"{other.path}:{there.position(other_start)[0]}"}
                yield diagnose("DUPLICATE_DEFINITION", values, here, start, Stage.OBJECT_GRAPH, name)


def unknown(space: Namespace, parts: Parts, written: str) -> Draft:
    """An object that is only read."""
    draft = Draft(space, parts, written)
    draft.kind = ObjectKind.EXTERNAL if is_outside(parts) else ObjectKind.UNKNOWN
    return draft
