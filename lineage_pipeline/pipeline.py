"""The stages in reading order, in one process: files in, the tables of a snapshot out.

    compile   each text on its own            → scripts, and their outside
    graph     who defines, writes and reads   → the plan
    schemas   objects in order of need        → columns and types
    edges     statement by statement          → column edges, facets, findings
    reach     over the whole column graph     → how far each column reaches

`lineage_pipeline.spark` does the same over DataFrames, with the same functions and the same rows.
"""

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter

import msgspec

from lineage_pipeline.dialects.traits import GENERIC, Traits, traits_of
from lineage_pipeline.engine.compile.interface import face_of
from lineage_pipeline.engine.diff.contested import contested, defined
from lineage_pipeline.engine.graph.build import File, build_plan
from lineage_pipeline.engine.graph.statements import statement_rows
from lineage_pipeline.engine.link.columns import column_rows, constraint_rows, inferred_rows
from lineage_pipeline.engine.link.conflicts import conflict_rows
from lineage_pipeline.engine.link.inference import Listed, passed, requested
from lineage_pipeline.engine.link.lending import bridged
from lineage_pipeline.engine.link.memory import LinkMemory
from lineage_pipeline.engine.link.rows import (
    Passing,
    declaration_rows,
    edge_rows,
    facet_rows,
    finding_rows,
    passing_rows,
)
from lineage_pipeline.engine.link.schemas import SchemaRegistry
from lineage_pipeline.engine.link.script import link_script
from lineage_pipeline.engine.trace.reach import column_reach
from lineage_pipeline.engine.trace.tags import temporary_objects, with_tags
from lineage_pipeline.guard.compiling import compile_text
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import InputFile, Lineage, Options, TableSchema
from lineage_pipeline.vocabulary.places import Text, Written
from lineage_pipeline.vocabulary.plan import Bound, Plan, ScriptFace
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import ColumnEdge, Diagnostic, Facet


class Compiled(msgspec.Struct, frozen=True):
    """One file after compiling."""

    file: InputFile
    script: ir.Script
    face: ScriptFace
    text: Text
    traits: Traits

    def at(self, file: InputFile) -> "Compiled":
        """Give the same for a file of the same text that lies elsewhere."""
        if self.file == file:
            return self
        return msgspec.structs.replace(self, file=file, text=msgspec.structs.replace(self.text, path=file.path))


CompileAll = Callable[[Iterable[InputFile]], Sequence[Compiled]]
"""Who compiles a set of files."""


class Edges(msgspec.Struct):
    """What linking gives, gathered over the files."""

    edges: list[ColumnEdge] = []
    facets: list[Facet] = []
    findings: list[Diagnostic] = []
    passings: list[Passing] = []


class Memory:
    """What earlier analyses gave: scripts by their texts, rows by all that linking looks at.

    An analysis that is given one works out only what is new, and what reads something else than before.
    """

    def __init__(self) -> None:
        """Start with nothing; `compiled` and `linked` count what had to be done."""
        self.links = LinkMemory()
        self.compiled = 0
        self.linked = 0
        self._files: dict[tuple[str, Options, Written | None], Compiled] = {}
        self._rows: dict[tuple[object, ...], Edges] = {}

    def compile(self, files: Iterable[InputFile], compile_all: CompileAll) -> list[Compiled]:
        """Compile the files whose texts were not compiled before, wherever they stood."""
        keyed = [((file.text, file.options, file.written), file) for file in files]
        new = {key: file for key, file in keyed if key not in self._files}
        self.compiled += len(new)
        self._files.update(zip(new, compile_all(new.values()), strict=True))
        return [self._files[key].at(file) for key, file in keyed]

    def link(self, item: Compiled, plan: Plan, registry: SchemaRegistry) -> Edges:
        """Link a file, unless it was linked before with the same names and schemas."""
        bound = tuple(plan.bound[item.file.path])
        read = tuple([self.links.inputs_key(names, registry.inputs) for names in bound])
        path, disputed = item.file.path, sorted(registry.disputed.get(item.file.path, {}).items())
        # In a circle, what the registry linked depends on where it began.
        begun = tuple([id(registry.linked.get((path, ordinal))) for ordinal in range(len(bound))])
        key = (id(item.script), path, bound, read, begun, tuple(schema for _, schema in disputed))
        found = self._rows.get(key)
        if found is None:
            self.linked += 1
            found = self._rows[key] = link_files([item], plan, registry)
        return found


class Workings(msgspec.Struct, frozen=True):
    """A lineage together with what it was worked out from, for questions that its rows do not answer."""

    compiled: tuple[Compiled, ...]
    plan: Plan
    registry: SchemaRegistry
    lineage: Lineage
    imported: Mapping[str, TableSchema] = {}


def analyse(
    files: Iterable[InputFile],
    imported: Mapping[str, TableSchema] | None = None,
    *,
    reach: bool = True,
    compile_all: CompileAll | None = None,
) -> Lineage:
    """The lineage of a set of files; `imported` are schemas known from elsewhere, and `reach` takes a while."""
    lineage = work_out(files, imported, compile_all=compile_all).lineage
    return msgspec.structs.replace(lineage, column_reach=column_reach(lineage)) if reach else lineage


def work_out(
    files: Iterable[InputFile],
    imported: Mapping[str, TableSchema] | None = None,
    memory: Memory | None = None,
    compile_all: CompileAll | None = None,
) -> Workings:
    """The lineage of a set of files without the reach of columns, and how it came about."""
    make = compile_all or compile_files
    with relaxed_collector():
        return link_together(make(files) if memory is None else memory.compile(files, make), imported or {}, memory)


def link_together(
    compiled: Sequence[Compiled], imported: Mapping[str, TableSchema], memory: Memory | None = None
) -> Workings:
    """All that follows once the files are compiled."""
    files = [
        File(item.file.path, item.face, item.file.options, item.file.owners, item.file.position) for item in compiled
    ]
    plan = build_plan(files, imported)
    registry = resolve_schemas(compiled, plan, imported, memory.links if memory is not None else None)
    linked = link_files(compiled, plan, registry) if memory is None else _remembered(compiled, plan, registry, memory)
    return Workings(tuple(compiled), plan, registry, assemble(compiled, plan, registry, linked), imported)


def _remembered(compiled: Sequence[Compiled], plan: Plan, registry: SchemaRegistry, memory: Memory) -> Edges:
    """The edges, facets and findings of all files, those of a file that reads what it read from memory."""
    gathered = Edges()
    for item in compiled:
        found = memory.link(item, plan, registry)
        gathered.edges.extend(found.edges)
        gathered.facets.extend(found.facets)
        gathered.findings.extend(found.findings)
        gathered.passings.extend(found.passings)
    return gathered


def settle(base: Workings, head: Workings, memory: Memory | None = None) -> tuple[Workings, Workings]:
    """Both sides of a comparison: where head changed a definition, it counts, and not what is imported."""
    changed = contested(base.lineage, head.lineage)
    if not changed:
        return base, head
    return _without(base, changed & defined(base.lineage), memory), _without(head, changed, memory)


def _without(side: Workings, objects: frozenset[str], memory: Memory | None) -> Workings:
    """One side, linked again; the imported schemas of some objects yield to definitions, or go where there is none."""
    schemas = dict(side.imported)
    made = defined(side.lineage)
    for name in objects & side.plan.objects.keys():
        key = side.plan.objects[name].imported
        schema = schemas.pop(key, None)
        if schema is not None and name in made:
            schemas[key] = msgspec.structs.replace(schema, yields=True)
    return link_together(side.compiled, schemas, memory)


@contextmanager
def relaxed_collector() -> Iterator[None]:
    """Trees are many, short-lived and free of cycles worth finding: collecting them costs a third of parsing."""
    with _COLLECTOR.lock:
        _COLLECTOR.users += 1
        if _COLLECTOR.users == 1:
            _COLLECTOR.before = gc.get_threshold()
            gc.set_threshold(10_000, 50, 100)
    try:
        yield
    finally:
        with _COLLECTOR.lock:
            _COLLECTOR.users -= 1
            if _COLLECTOR.users == 0:
                gc.set_threshold(*_COLLECTOR.before)


class _Collector:
    """How many analyses run in this process, and the thresholds of the collector before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before = gc.get_threshold()


_COLLECTOR = _Collector()


def compile_files(files: Iterable[InputFile]) -> list[Compiled]:
    """Every file as a script."""
    return [compile_file(file) for file in files]


def compile_file(file: InputFile) -> Compiled:
    """One file as a script."""
    script = compile_text(file.text, file.options)
    return as_compiled(file, script, face_of(script, file.text, file.written))


def as_compiled(file: InputFile, script: ir.Script, face: ScriptFace) -> Compiled:
    """A file with the script that it is."""
    traits = traits_of(file.options.dialect, file.options.case_sensitivity) or GENERIC
    return Compiled(file, script, face, face.text(file.path, file.text), traits)


def resolve_schemas(
    compiled: Sequence[Compiled],
    plan: Plan,
    imported: Mapping[str, TableSchema],
    links: LinkMemory | None = None,
) -> SchemaRegistry:
    """The schemas of all objects, in order of need."""
    by_path = {item.file.path: item for item in compiled}

    def statement_at(path: str, ordinal: int) -> tuple[ir.Statement, Bound, Traits]:
        item = by_path[path]
        return item.script.statements[ordinal].statement, plan.bound[path][ordinal], item.traits

    registry = SchemaRegistry({**plan.objects, **plan.states}, statement_at, imported, links)
    registry.resolve(plan.order)
    return registry


def link_files(compiled: Sequence[Compiled], plan: Plan, registry: SchemaRegistry) -> Edges:
    """The edges, facets and findings of all files."""
    gathered = Edges()
    for item in compiled:
        path, bound = item.file.path, plan.bound[item.file.path]
        done = {
            ordinal: registry.linked[path, ordinal]
            for ordinal in range(len(bound))
            if (path, ordinal) in registry.linked
        }
        linked = link_script(item.script, bound, registry.inputs, item.traits, done)
        gathered.findings.extend(conflict_rows(item.text, item.script, registry.disputed.get(path, {})))
        for ordinal, placed in enumerate(item.script.statements):
            gathered.findings.extend(finding_rows(item.text, placed, placed.statement.findings, Stage.PARSING))
            gathered.facets.extend(declaration_rows(item.text, placed, bound[ordinal]))
            result = linked.statements.get(ordinal)
            if result is not None:
                gathered.edges.extend(edge_rows(item.text, placed, ordinal, result))
                gathered.facets.extend(facet_rows(item.text, placed, ordinal, result))
                gathered.findings.extend(finding_rows(item.text, placed, result.findings, Stage.COLUMN_GRAPH))
                gathered.passings.extend(passing_rows(item.text, placed, ordinal, result))
    return gathered


def assemble(compiled: Sequence[Compiled], plan: Plan, registry: SchemaRegistry, linked: Edges) -> Lineage:
    """All tables of the snapshot but the reach of columns, sorted by their keys."""
    schemas = registry.schemas
    wanted, carried = passed(requested(linked.edges, Listed(schemas)), linked.passings, schemas)
    edges = [*linked.edges, *carried]
    bound = plan.bound
    statements = [row for item in compiled for row in statement_rows(item.text, item.script, bound[item.file.path])]
    columns = [*column_rows(schemas, plan.objects), *inferred_rows(wanted, schemas, plan.objects)]
    if plan.tagged:
        columns = with_tags(columns, edges, temporary_objects(plan))
    edges = bridged(plan.lent, edges)
    scripts = {item.file.path: item.script for item in compiled}
    return Lineage(
        statements=tuple(sorted(statements, key=attrgetter("path", "ordinal"))),
        objects=tuple(known.row for _, known in sorted(plan.objects.items())),
        object_statements=plan.object_statements,
        object_edges=plan.object_edges,
        columns=tuple(sorted(columns, key=attrgetter("object", "ordinal"))),
        constraints=tuple(constraint_rows(plan.objects, scripts, registry.imported)),
        column_edges=tuple(sorted(edges, key=edge_key if carried or plan.lent else attrgetter("path", "statement"))),
        facets=tuple(sorted(linked.facets, key=attrgetter("object", "column", "name", "path", "statement"))),
        diagnostics=tuple(
            sorted({row.id: row for row in (*plan.diagnostics, *linked.findings)}.values(), key=finding_key)
        ),
    )


def edge_key(row: ColumnEdge) -> tuple[str, int, str, str, str, str, str, str, str]:
    """The order of edges."""
    source = (row.from_object, row.from_column, row.from_path or "")
    return (row.path, row.statement, *source, row.to_object, row.to_column, row.type, row.subtype)


def finding_key(row: Diagnostic) -> tuple[str, int, int, str, str]:
    """The order of findings."""
    return row.path or "", row.line or 0, row.column or 0, row.code, row.id
