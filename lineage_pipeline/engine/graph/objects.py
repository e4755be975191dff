"""One object while it is being found."""

from bisect import bisect_left, bisect_right

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
        self.definitions: dict[Event, Face] = {}
        self.shapers: list[Event] = []
        self.history: list[tuple[Event, int]] = []  # all that ever shaped it, each with the module it stands in
        self.writers: list[Event] = []
        self.results: list[Event] = []
        self.relayed: dict[str, int] = {}  # how often a procedure calls each of those that may give result sets
        self.former: tuple[Draft, Event] | None = None  # the object whose name it got, and by which statement
        self.dropped = False
        self.comment = ""
        self.tags: tuple[str, ...] = ()
        self.drops: dict[tuple[str, int], list[int]] = {}  # the statements of a path and module that certainly drop it
        self._makers: dict[str, list[int]] | None = None

    @property
    def definition(self) -> tuple[Event, Face] | None:
        """The last definition."""
        return next(reversed(self.definitions.items()), None)

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
            self.drops.setdefault((scopes.path, scopes.module), []).append(scopes.ordinal)

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
        drops = self.drops.get((scopes.path, scopes.module), ())
        before = bisect_left(drops, scopes.ordinal)
        if not before:
            return False
        makers = self._made_in(scopes.path)
        return bisect_right(makers, drops[before - 1]) == bisect_right(makers, scopes.ordinal)

    def _made_in(self, path: str) -> list[int]:
        """The statements of a file that make the object, in order; asked for when all files have been seen."""
        if self._makers is None:
            self._makers = {}
            for event in (*self.definitions, *self.shapers, *self.writers):
                self._makers.setdefault(event.path, []).append(event.ordinal)
            for ordinals in self._makers.values():
                ordinals.sort()
        return self._makers.get(path, [])

    def exists(self, name: Name, scopes: Scopes, reading: bool) -> bool:
        """Whether this temporary object has been created at one point of a script; marked names are not asked."""
        first = next(iter(self.definitions)) if self.definitions and name.parts[-1][:1] not in ("#", "@") else None
        return first is None or first.path != scopes.path or first.ordinal <= scopes.ordinal - reading


def unknown(space: Namespace, parts: Parts, written: str) -> Draft:
    """An object that is only read."""
    draft = Draft(space, parts, written)
    draft.kind = ObjectKind.EXTERNAL if is_outside(parts) else ObjectKind.UNKNOWN
    return draft
