"""One object while it is being found."""

from lineage_pipeline.engine.graph.names import Namespace, Parts, is_outside
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.plan import Event, Face
from lineage_pipeline.vocabulary.sets import ObjectKind, Role


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
        self.history: list[tuple[Event, int]] = []  # all that ever shaped it, each with the module it stands in
        self.writers: list[Event] = []
        self.results: list[Event] = []
        self.former: tuple[Draft, Event] | None = None  # the object whose name it got, and by which statement
        self.dropped = False
        self.comment = ""
        self.tags: tuple[str, ...] = ()
        self.drops: list[tuple[str, int, int]] = []  # where it is dropped for certain: path, ordinal and module

    def shape(self, event: Event, scopes: Scopes) -> None:
        """Take in that a statement defines the object anew, or alters it."""
        if event.role is Role.DEFINE:
            self.shapers = []
        self.shapers.append(event)
        self.history.append((event, scopes.module))

    def drop(self, scopes: Scopes) -> None:
        """Take in that a statement drops the object."""
        self.dropped = True
        if not scopes.conditional:
            self.drops.append((scopes.path, scopes.ordinal, scopes.module))

    def at(self, scopes: Scopes) -> "Draft":
        """What its name stands for at one point of a script: another object, until this one gets the name."""
        found = self
        while found.former is not None:
            old, event = found.former
            if event.path != scopes.path or event.ordinal <= scopes.ordinal:
                break
            found = old
        return found

    def is_there(self, scopes: Scopes) -> bool:
        """Whether this script or module has made the object before this point."""
        event, module = self.history[-1] if self.history else (None, -1)
        return event is not None and not self.dropped and (event.path, module) == (scopes.path, scopes.module)

    def is_gone(self, scopes: Scopes) -> bool:
        """Whether this script has dropped the object before this point, and not made it again."""
        here, module = scopes.ordinal, scopes.module
        ends = [at for path, at, owner in self.drops if path == scopes.path and at < here and owner == module]
        if not ends:
            return False
        makers = (*(event for event, _ in self.definitions), *self.shapers, *self.writers)
        return not any(event.path == scopes.path and ends[-1] < event.ordinal <= here for event in makers)

    def exists(self, name: Name, scopes: Scopes, reading: bool) -> bool:
        """Whether this temporary object has been created at one point of a script; marked names are not asked."""
        first = self.definitions[0][0] if self.definitions and name.parts[-1][:1] not in ("#", "@") else None
        return first is None or first.path != scopes.path or first.ordinal <= scopes.ordinal - reading


def unknown(space: Namespace, parts: Parts, written: str) -> Draft:
    """An object that is only read."""
    draft = Draft(space, parts, written)
    draft.kind = ObjectKind.EXTERNAL if is_outside(parts) else ObjectKind.UNKNOWN
    return draft
