"""The analysis itself: compile what is new, plan anew, link what is dirty, and hand on what the next one needs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from lineage_pipeline.engine.graph.build import File, build_plan
from lineage_pipeline.engine.link.inference import Listed, passed, requested
from lineage_pipeline.engine.link.rows import Passing
from lineage_pipeline.pipeline import CompileAll, Compiled, Edges, as_compiled, link_files
from lineage_pipeline.resumed.before import Before, Request, Told
from lineage_pipeline.resumed.dirt import Dirt, Shapes, resolve
from lineage_pipeline.resumed.standing import standing
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import InputFile, Options, TableSchema
from lineage_pipeline.vocabulary.plan import Plan
from lineage_pipeline.vocabulary.tables import ColumnEdge


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A file that is to be analysed, before anybody has read it."""

    path: str
    source: str
    options: Options
    owners: tuple[str, ...]
    position: int


class Shelf(Protocol):
    """Where texts, and scripts that stay as they are, are had from when somebody needs them after all."""

    def input_file(self, entry: Entry) -> InputFile:
        """Read a file."""

    def script(self, path: str) -> bytes:
        """Give the script that a file had before, as it was packed."""


class Resumed(msgspec.Struct, frozen=True):
    """A new analysis: what the next one goes on from, the plan, and the rows of all that is dirty.

    `made` are those files and what linking gave for them, `gone` the files that are no more. `objects` are dirty or
    gone as well, and of others that are `asked` somebody reads other columns than before. A plan that `stood` is the
    one of before, but for places, and has none of the rows that have no place.
    """

    before: Before
    plan: Plan
    shapes: Shapes
    made: dict[str, tuple[Compiled, Edges]]
    gone: frozenset[str]
    objects: frozenset[str]
    asked: frozenset[str]
    stood: bool


class Opened:
    """The files of an analysis that somebody has looked into, compiled."""

    def __init__(self, entries: Mapping[str, Entry], before: Before, shelf: Shelf) -> None:
        """Take what there is; nothing is read yet."""
        self.entries = entries
        self.before = before
        self.shelf = shelf
        numbered = {options: number for number, options in enumerate(before.options)}
        self.fresh: list[str] = []
        self.unmoved = entries.keys() == before.files.keys()
        for path, entry in entries.items():
            told = before.files.get(path)
            alike = told is not None and numbered.get(entry.options) == told.options
            if told is None or not alike or told.source != entry.source:
                self.fresh.append(path)
            if told is None or not alike or (told.owners, told.position) != (entry.owners, entry.position):
                self.unmoved = False
        self._files: dict[str, Compiled] = {}

    def compile(self, compile_all: CompileAll) -> None:
        """Compile what is new."""
        files = [self.shelf.input_file(self.entries[path]) for path in self.fresh]
        self._files = dict(zip(self.fresh, compile_all(files), strict=True))

    def standing(self) -> Plan | None:
        """The plan of before with the places of now, if it is this one as well."""
        return standing(self.before, {path: self._files[path].face for path in self.fresh}) if self.unmoved else None

    def faces(self) -> Iterator[File]:
        """Give all files from outside."""
        for path, entry in self.entries.items():
            item = self._files.get(path)
            face = item.face if item is not None else self.before.files[path].face
            yield File(path, face, entry.options, entry.owners, entry.position)

    def file(self, path: str) -> Compiled:
        """Give one file compiled."""
        found = self._files.get(path)
        if found is None:
            script = msgspec.msgpack.decode(self.shelf.script(path), type=ir.Script)
            file = self.shelf.input_file(self.entries[path])
            found = self._files[path] = as_compiled(file, script, self.before.files[path].face)
        return found


def go_on(
    entries: Sequence[Entry], before: Before, shelf: Shelf, imported: Mapping[str, TableSchema], compile_all: CompileAll
) -> Resumed | None:
    """Analyse some files as far as they have changed; None where all edges are needed.

    They are where tags travel, and where procedures share temporary tables.
    """
    opened = Opened({entry.path: entry for entry in entries}, before, shelf)
    opened.compile(compile_all)
    stood = opened.standing()
    plan = stood or build_plan(opened.faces(), imported)
    if plan.tagged or plan.lent:
        return None
    dirt = Dirt(plan, before, opened.fresh)
    linked = _link(opened, dirt, imported)
    while not (others := linked.otherwise(before) & plan.bound.keys()) <= dirt.files:
        dirt.add(others, ())
        linked = _link(opened, dirt, imported)
    kept = Before(
        options=linked.options,
        files=linked.told,
        known=dirt.known,
        bound=plan.bound,
        order=plan.order,
        shapes=linked.shapes.packed,
        wanted=linked.wanted,
        carried=linked.carried,
        planned=plan.diagnostics,
    )
    return Resumed(
        kept,
        plan,
        linked.shapes,
        linked.made,
        gone=frozenset(before.files.keys() - linked.told.keys()),
        objects=frozenset(dirt.objects | (before.known.keys() - dirt.known.keys())),
        asked=frozenset(name for name, _ in {*before.wanted} ^ {*linked.wanted}),
        stood=stood is not None,
    )


class Linked(msgspec.Struct, frozen=True):
    """The schemas of all objects, what was made of dirty files, and what all files tell the next analysis.

    `wanted` are columns that are known only because somebody reads them, `carried` the edges that carry them.
    """

    shapes: Shapes
    made: dict[str, tuple[Compiled, Edges]]
    told: dict[str, Told]
    options: tuple[Options, ...]
    wanted: tuple[Request, ...]
    carried: tuple[ColumnEdge, ...]

    def otherwise(self, before: Before) -> set[str]:
        """The files in which other columns pass through stars than before."""
        old, new = _by_path(before.carried), _by_path(self.carried)
        return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def _by_path(edges: Iterable[ColumnEdge]) -> dict[str, set[ColumnEdge]]:
    grouped: dict[str, set[ColumnEdge]] = {}
    for edge in edges:
        grouped.setdefault(edge.path, set()).add(edge)
    return grouped


def _link(opened: Opened, dirt: Dirt, imported: Mapping[str, TableSchema]) -> Linked:
    """Link the files that are dirty."""
    shapes = resolve(dirt, opened.file, imported)
    listed = Listed(shapes.registry.schemas)
    made: dict[str, tuple[Compiled, Edges]] = {}
    told: dict[str, Told] = {}
    numbers: dict[Options, int] = {}
    for path, entry in opened.entries.items():
        number = numbers.setdefault(entry.options, len(numbers))
        if path in dirt.files:
            item = opened.file(path)
            edges = link_files([item], dirt.plan, shapes.registry)
            made[path] = item, edges
            told[path] = _told(entry, number, item, edges, listed)
        else:
            old, around = dirt.before.files[path], {"owners": entry.owners, "position": entry.position}
            told[path] = msgspec.structs.replace(old, options=number, **around)
    return Linked(shapes, made, told, tuple(numbers), *_asked(told.values(), shapes))


def _told(entry: Entry, number: int, item: Compiled, edges: Edges, listed: Listed) -> Told:
    """What a file tells the next analysis."""
    requests = tuple(sorted(requested(edges.edges, listed)))
    told = requests, tuple(edges.passings), tuple(edges.findings)
    return Told(entry.source, number, item.face, *told, entry.owners, entry.position)


def _asked(told: Iterable[Told], shapes: Shapes) -> tuple[tuple[Request, ...], tuple[ColumnEdge, ...]]:
    """What is asked for through stars, by all files."""
    requests: set[Request] = set()
    passings: list[Passing] = []
    for one in told:
        requests.update(one.requests)
        passings.extend(one.passings)
    sources = {name: shapes.schema(name) for name in {one.source for one in passings} & shapes.packed.keys()}
    wanted, carried = passed(requests, passings, sources)
    return tuple(sorted(wanted)), tuple(carried)
