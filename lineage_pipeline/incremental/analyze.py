"""Incremental analysis: compile what is new, plan, link what is dirty, and build the state for the next analysis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from lineage_pipeline.engine.graph.plan_builder import PlanFile, build_plan
from lineage_pipeline.engine.link.rows import ListedColumns, StarEdge, find_requested_columns, propagate_requests
from lineage_pipeline.files.fingerprints import hash_parts
from lineage_pipeline.incremental.invalidation import DirtySet, SnapshotSchemas, resolve_dirty_schemas
from lineage_pipeline.incremental.plan_reuse import reuse_plan
from lineage_pipeline.incremental.state import AnalysisState, ColumnRequest, FileState
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import InputFile, Options, TableSchema
from lineage_pipeline.model.plan import Plan
from lineage_pipeline.model.tables import ColumnEdge
from lineage_pipeline.pipeline import CompileAll, CompiledFile, LinkedRows, build_compiled_file, link_files


class FileEntry(msgspec.Struct, frozen=True, gc=False):
    """A file to analyze, before it is read."""

    path: str
    source: str
    options: Options
    owners: tuple[str, ...]
    position: int


class StoredContents(Protocol):
    """Loads texts and unchanged scripts when they are needed."""

    def input_file(self, entry: FileEntry) -> InputFile:
        """Read a file."""

    def script(self, path: str) -> bytes:
        """The packed script of a file from the earlier analysis."""


class IncrementalResult(msgspec.Struct, frozen=True):
    """A new analysis: the state for the next one, the plan, and the rows of everything dirty.

    `made` are the dirty files and their linked rows, `gone` the removed files. `objects` are dirty or removed, and of
    the `asked` ones other inferred columns are read than before. `stood` says that the earlier plan was reused: it
    has only new positions, and no rows without a position.
    """

    before: AnalysisState
    plan: Plan
    shapes: SnapshotSchemas
    made: dict[str, tuple[CompiledFile, LinkedRows]]
    gone: frozenset[str]
    objects: frozenset[str]
    asked: frozenset[str]
    stood: bool


class OpenedFiles:
    """The files of an analysis, compiled on demand."""

    def __init__(self, entries: Mapping[str, FileEntry], before: AnalysisState, shelf: StoredContents) -> None:
        """Compare the entries with the earlier state; nothing is read yet."""
        self.entries = entries
        self.before = before
        self.shelf = shelf
        numbered = {options: number for number, options in enumerate(before.options)}
        self.fresh: list[str] = []
        self.unmoved = entries.keys() == before.files.keys()
        for path, entry in entries.items():
            known = before.files.get(path)
            alike = known is not None and numbered.get(entry.options) == known.options
            if known is None or not alike or known.source != entry.source:
                self.fresh.append(path)
            if known is None or not alike or (known.owners, known.position) != (entry.owners, entry.position):
                self.unmoved = False
        self._files: dict[str, CompiledFile] = {}

    def compile(self, compile_all: CompileAll) -> None:
        """Compile the new and changed files."""
        files = [self.shelf.input_file(self.entries[path]) for path in self.fresh]
        self._files = dict(zip(self.fresh, compile_all(files), strict=True))

    def reuse_plan(self) -> Plan | None:
        """The earlier plan with current positions, where it still applies."""
        return reuse_plan(self.before, {path: self._files[path].face for path in self.fresh}) if self.unmoved else None

    def interfaces(self) -> Iterator[PlanFile]:
        """The interfaces of all files."""
        for path, entry in self.entries.items():
            item = self._files.get(path)
            face = item.face if item is not None else self.before.files[path].face
            yield PlanFile(path=path, face=face, options=entry.options, owners=entry.owners, position=entry.position)

    def file(self, path: str) -> CompiledFile:
        """One file compiled."""
        found = self._files.get(path)
        if found is None:
            script = msgspec.msgpack.decode(self.shelf.script(path), type=ir.Script)
            file = self.shelf.input_file(self.entries[path])
            found = self._files[path] = build_compiled_file(file, script, self.before.files[path].face)
        return found


def update_analysis(
    entries: Sequence[FileEntry],
    before: AnalysisState,
    shelf: StoredContents,
    imported: Mapping[str, TableSchema],
    compile_all: CompileAll,
) -> IncrementalResult | None:
    """Analyze the files as far as they changed; None where all edges are needed.

    They are where tags propagate, and where procedures share temporary tables.
    """
    opened = OpenedFiles({entry.path: entry for entry in entries}, before, shelf)
    opened.compile(compile_all)
    hashes = {name: hash_parts(schema) for name, schema in imported.items()}
    stood = opened.reuse_plan() if hashes == before.imported else None
    plan = stood or build_plan(opened.interfaces(), imported)
    if plan.tagged or plan.lent:
        return None
    dirt = DirtySet(plan, before, opened.fresh, hashes)
    linked = _link_dirty_files(opened, dirt, imported)
    while not (others := linked.files_with_other_stars(before) & plan.bound.keys()) <= dirt.files:
        dirt.add(others, ())
        linked = _link_dirty_files(opened, dirt, imported)
    kept = AnalysisState(
        imported=hashes,
        options=linked.options,
        files=linked.states,
        known=dirt.known,
        bound=plan.bound,
        order=plan.order,
        shapes=linked.shapes.packed,
        wanted=linked.wanted,
        carried=linked.carried,
        planned=plan.diagnostics,
    )
    return IncrementalResult(
        kept,
        plan,
        linked.shapes,
        linked.made,
        gone=frozenset(before.files.keys() - linked.states.keys()),
        objects=frozenset(dirt.objects | (before.known.keys() - dirt.known.keys())),
        asked=frozenset(name for name, _ in {*before.wanted} ^ {*linked.wanted}),
        stood=stood is not None,
    )


class LinkedFiles(msgspec.Struct, frozen=True):
    """The schemas of all objects, the linked dirty files, and the state of all files.

    `wanted` are the inferred columns, `carried` the edges that carry them through stars.
    """

    shapes: SnapshotSchemas
    made: dict[str, tuple[CompiledFile, LinkedRows]]
    states: dict[str, FileState]
    options: tuple[Options, ...]
    wanted: tuple[ColumnRequest, ...]
    carried: tuple[ColumnEdge, ...]

    def files_with_other_stars(self, before: AnalysisState) -> set[str]:
        """The files in which other columns pass through stars than before."""
        old, new = _edges_by_path(before.carried), _edges_by_path(self.carried)
        return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def _edges_by_path(edges: Iterable[ColumnEdge]) -> dict[str, set[ColumnEdge]]:
    grouped: dict[str, set[ColumnEdge]] = {}
    for edge in edges:
        grouped.setdefault(edge.path, set()).add(edge)
    return grouped


def _link_dirty_files(opened: OpenedFiles, dirt: DirtySet, imported: Mapping[str, TableSchema]) -> LinkedFiles:
    """Link the dirty files."""
    shapes = resolve_dirty_schemas(dirt, opened.file, imported)
    listed = ListedColumns(shapes.registry.schemas)
    made: dict[str, tuple[CompiledFile, LinkedRows]] = {}
    states: dict[str, FileState] = {}
    numbers: dict[Options, int] = {}
    for path, entry in opened.entries.items():
        number = numbers.setdefault(entry.options, len(numbers))
        if path in dirt.files:
            item = opened.file(path)
            edges = link_files([item], dirt.plan, shapes.registry)
            made[path] = item, edges
            states[path] = _build_file_state(entry, number, item, edges, listed)
        else:
            old, around = dirt.before.files[path], {"owners": entry.owners, "position": entry.position}
            states[path] = msgspec.structs.replace(old, options=number, **around)
    return LinkedFiles(shapes, made, states, tuple(numbers), *_collect_requests(states.values(), shapes))


def _build_file_state(
    entry: FileEntry, number: int, item: CompiledFile, edges: LinkedRows, listed: ListedColumns
) -> FileState:
    """The state of a file for the next analysis."""
    requests = tuple(sorted(find_requested_columns(edges.edges, listed)))
    results = requests, tuple(edges.passings), tuple(edges.findings)
    return FileState(entry.source, number, item.face, *results, entry.owners, entry.position)


def _collect_requests(
    states: Iterable[FileState], shapes: SnapshotSchemas
) -> tuple[tuple[ColumnRequest, ...], tuple[ColumnEdge, ...]]:
    """The columns that all files request through stars, and the edges that carry them."""
    requests: set[ColumnRequest] = set()
    passings: list[StarEdge] = []
    for one in states:
        requests.update(one.requests)
        passings.extend(one.passings)
    sources = {name: shapes.schema(name) for name in {one.source for one in passings} & shapes.packed.keys()}
    wanted, carried = propagate_requests(requests, passings, sources)
    return tuple(sorted(wanted)), tuple(carried)
