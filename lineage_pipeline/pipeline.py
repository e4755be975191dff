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

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.compile.script_interface import interface_of
from lineage_pipeline.engine.diff.import_conflicts import find_import_conflicts, list_defined_objects
from lineage_pipeline.engine.graph.plan_builder import PlanFile, build_plan
from lineage_pipeline.engine.graph.statement_rows import build_statement_rows
from lineage_pipeline.engine.link.link_cache import LinkCache
from lineage_pipeline.engine.link.rows import (
    ListedColumns,
    StarEdge,
    build_column_rows,
    build_constraint_rows,
    build_declaration_rows,
    build_edge_rows,
    build_facet_rows,
    build_finding_rows,
    build_inferred_rows,
    build_star_edges,
    find_requested_columns,
    propagate_requests,
)
from lineage_pipeline.engine.link.schema_registry import SchemaRegistry
from lineage_pipeline.engine.link.script import link_script
from lineage_pipeline.engine.link.shared_temp_tables import compose_shared_edges
from lineage_pipeline.engine.link.table_schema import build_conflict_rows
from lineage_pipeline.engine.trace.reach import build_column_reach
from lineage_pipeline.engine.trace.tags import list_temporary_objects, with_propagated_tags
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, TableSchema
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.plan import NameBindings, ObjectEntry, Plan, ScriptInterface
from lineage_pipeline.model.source_map import SourceMap, SourceText
from lineage_pipeline.model.tables import ColumnEdge, Diagnostic, Facet
from lineage_pipeline.sandbox.compiling import compile_text


class CompiledFile(msgspec.Struct, frozen=True):
    """One file after compiling."""

    file: InputFile
    script: ir.Script
    face: ScriptInterface
    text: SourceText
    traits: DialectTraits

    def relocate(self, file: InputFile) -> "CompiledFile":
        """The same result for a file with the same text and another path."""
        if self.file == file:
            return self
        return msgspec.structs.replace(self, file=file, text=msgspec.structs.replace(self.text, path=file.path))


CompileAll = Callable[[Iterable[InputFile]], Sequence[CompiledFile]]
"""Compiles a set of files."""


class LinkedRows(msgspec.Struct):
    """The result of linking, collected over the files."""

    edges: list[ColumnEdge] = []
    facets: list[Facet] = []
    findings: list[Diagnostic] = []
    passings: list[StarEdge] = []


class AnalysisCache:
    """Cached results of earlier analyses: scripts by text, rows by everything that linking reads.

    An analysis with a cache computes only what is new, and what reads something else than before.
    """

    def __init__(self) -> None:
        """Start empty; `compiled` and `linked` count the files that were computed."""
        self.links = LinkCache()
        self.compiled = 0
        self.linked = 0
        self._files: dict[tuple[str, Options, SourceMap | None], CompiledFile] = {}
        self._rows: dict[tuple[object, ...], LinkedRows] = {}

    def compile(self, files: Iterable[InputFile], compile_all: CompileAll) -> list[CompiledFile]:
        """Compile the files whose texts were not compiled before, under whatever path."""
        keyed = [((file.text, file.options, file.written), file) for file in files]
        new = {key: file for key, file in keyed if key not in self._files}
        self.compiled += len(new)
        self._files.update(zip(new, compile_all(new.values()), strict=True))
        return [self._files[key].relocate(file) for key, file in keyed]

    def link(self, item: CompiledFile, plan: Plan, registry: SchemaRegistry) -> LinkedRows:
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


class AnalysisResult(msgspec.Struct, frozen=True):
    """A lineage with the scripts, plan and schemas it was computed from, for queries that its rows cannot answer."""

    compiled: tuple[CompiledFile, ...]
    plan: Plan
    registry: SchemaRegistry
    lineage: LineageTables
    imported: Mapping[str, TableSchema] = {}


def build_lineage(
    files: Iterable[InputFile],
    imported: Mapping[str, TableSchema] | None = None,
    *,
    reach: bool = True,
    compile_all: CompileAll | None = None,
) -> LineageTables:
    """The lineage of a set of files; `imported` are schemas from elsewhere, and `reach` adds the reach of columns."""
    lineage = analyze_files(files, imported, compile_all=compile_all).lineage
    return msgspec.structs.replace(lineage, column_reach=build_column_reach(lineage)) if reach else lineage


def analyze_files(
    files: Iterable[InputFile],
    imported: Mapping[str, TableSchema] | None = None,
    memory: AnalysisCache | None = None,
    compile_all: CompileAll | None = None,
) -> AnalysisResult:
    """Analyze a set of files, without the reach of columns."""
    make = compile_all or compile_files
    with relax_garbage_collector():
        return link_all(make(files) if memory is None else memory.compile(files, make), imported or {}, memory)


def link_all(
    compiled: Sequence[CompiledFile], imported: Mapping[str, TableSchema], memory: AnalysisCache | None = None
) -> AnalysisResult:
    """Everything after compilation: plan, schemas, edges and tables."""
    files = [
        PlanFile(
            path=item.file.path,
            face=item.face,
            options=item.file.options,
            owners=item.file.owners,
            position=item.file.position,
        )
        for item in compiled
    ]
    plan = build_plan(files, imported)
    registry = resolve_schemas(compiled, plan, imported, memory.links if memory is not None else None)
    linked = (
        link_files(compiled, plan, registry) if memory is None else _link_with_cache(compiled, plan, registry, memory)
    )
    return AnalysisResult(
        compiled=tuple(compiled),
        plan=plan,
        registry=registry,
        lineage=assemble_tables(compiled, plan, registry, linked),
        imported=imported,
    )


def _link_with_cache(
    compiled: Sequence[CompiledFile], plan: Plan, registry: SchemaRegistry, memory: AnalysisCache
) -> LinkedRows:
    """The edges, facets and findings of all files, cached ones where a file reads the same as before."""
    gathered = LinkedRows()
    for item in compiled:
        found = memory.link(item, plan, registry)
        gathered.edges.extend(found.edges)
        gathered.facets.extend(found.facets)
        gathered.findings.extend(found.findings)
        gathered.passings.extend(found.passings)
    return gathered


def reconcile_imports(
    base: AnalysisResult, head: AnalysisResult, memory: AnalysisCache | None = None
) -> tuple[AnalysisResult, AnalysisResult]:
    """Both sides of a comparison, with definitions instead of imports where head changed them."""
    changed = find_import_conflicts(base.lineage, head.lineage)
    if not changed:
        return base, head
    return _relink_without_imports(base, changed & list_defined_objects(base.lineage), memory), _relink_without_imports(
        head, changed, memory
    )


def _relink_without_imports(
    side: AnalysisResult, objects: frozenset[str], memory: AnalysisCache | None
) -> AnalysisResult:
    """One side, linked again without the imports of some objects."""
    schemas = yield_imports(side.imported, side.plan.objects, objects, list_defined_objects(side.lineage))
    return link_all(side.compiled, schemas, memory)


def yield_imports(
    imported: Mapping[str, TableSchema],
    known: Mapping[str, ObjectEntry],
    objects: frozenset[str],
    defined: frozenset[str],
) -> dict[str, TableSchema]:
    """The imports; those of some objects yield to definitions, or are dropped where there is none."""
    schemas = dict(imported)
    for name in objects & known.keys():
        key = known[name].imported
        schema = schemas.pop(key, None)
        if schema is not None and name in defined:
            schemas[key] = msgspec.structs.replace(schema, yields=True)
    return schemas


@contextmanager
def relax_garbage_collector() -> Iterator[None]:
    """Run garbage collection less often: syntax trees are short-lived, and collecting costs a third of parsing."""
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


def compile_files(files: Iterable[InputFile]) -> list[CompiledFile]:
    """Compile every file."""
    return [compile_file(file) for file in files]


def compile_file(file: InputFile) -> CompiledFile:
    """Compile one file."""
    script = compile_text(file.text, file.options)
    return build_compiled_file(file, script, interface_of(script, file.text, file.written))


def build_compiled_file(file: InputFile, script: ir.Script, face: ScriptInterface) -> CompiledFile:
    """A file with its script and interface."""
    traits = find_traits(file.options.dialect, file.options.case_sensitivity) or GENERIC
    return CompiledFile(file=file, script=script, face=face, text=face.text(file.path, file.text), traits=traits)


def resolve_schemas(
    compiled: Sequence[CompiledFile],
    plan: Plan,
    imported: Mapping[str, TableSchema],
    links: LinkCache | None = None,
) -> SchemaRegistry:
    """The schemas of all objects, in dependency order."""
    by_path = {item.file.path: item for item in compiled}

    def statement_at(path: str, ordinal: int) -> tuple[ir.Statement, NameBindings, DialectTraits]:
        item = by_path[path]
        return item.script.statements[ordinal].statement, plan.bound[path][ordinal], item.traits

    registry = SchemaRegistry({**plan.objects, **plan.states}, statement_at, imported, links)
    registry.resolve(plan.order)
    return registry


def link_files(compiled: Sequence[CompiledFile], plan: Plan, registry: SchemaRegistry) -> LinkedRows:
    """The edges, facets and findings of all files."""
    gathered = LinkedRows()
    for item in compiled:
        path, bound = item.file.path, plan.bound[item.file.path]
        done = {
            ordinal: registry.linked[path, ordinal]
            for ordinal in range(len(bound))
            if (path, ordinal) in registry.linked
        }
        linked = link_script(item.script, bound, registry.inputs, item.traits, done)
        gathered.findings.extend(build_conflict_rows(item.text, item.script, registry.disputed.get(path, {})))
        for ordinal, placed in enumerate(item.script.statements):
            gathered.findings.extend(build_finding_rows(item.text, placed, placed.statement.findings, Stage.PARSING))
            gathered.facets.extend(build_declaration_rows(item.text, placed, bound[ordinal]))
            result = linked.statements.get(ordinal)
            if result is not None:
                gathered.edges.extend(build_edge_rows(item.text, placed, ordinal, result))
                gathered.facets.extend(build_facet_rows(item.text, placed, ordinal, result))
                gathered.findings.extend(build_finding_rows(item.text, placed, result.findings, Stage.COLUMN_GRAPH))
                gathered.passings.extend(build_star_edges(item.text, placed, ordinal, result))
    return gathered


def assemble_tables(
    compiled: Sequence[CompiledFile], plan: Plan, registry: SchemaRegistry, linked: LinkedRows
) -> LineageTables:
    """All tables of the snapshot except the reach of columns, sorted by their keys."""
    schemas = registry.schemas
    wanted, carried = propagate_requests(
        find_requested_columns(linked.edges, ListedColumns(schemas)), linked.passings, schemas
    )
    edges = [*linked.edges, *carried]
    bound = plan.bound
    statements = [
        row for item in compiled for row in build_statement_rows(item.text, item.script, bound[item.file.path])
    ]
    columns = [*build_column_rows(schemas, plan.objects), *build_inferred_rows(wanted, schemas, plan.objects)]
    if plan.tagged:
        columns = with_propagated_tags(columns, edges, list_temporary_objects(plan))
    edges, skipped = compose_shared_edges(plan.lent, edges)
    scripts = {item.file.path: item.script for item in compiled}
    return LineageTables(
        statements=tuple(sorted(statements, key=attrgetter("path", "ordinal"))),
        objects=tuple(known.row for _, known in sorted(plan.objects.items())),
        object_statements=plan.object_statements,
        object_edges=plan.object_edges,
        columns=tuple(sorted(columns, key=attrgetter("object", "ordinal"))),
        constraints=tuple(build_constraint_rows(plan.objects, scripts, registry.imported)),
        column_edges=tuple(
            sorted(edges, key=edge_sort_key if carried or plan.lent else attrgetter("path", "statement"))
        ),
        facets=tuple(sorted(linked.facets, key=attrgetter("object", "column", "name", "path", "statement"))),
        diagnostics=tuple(
            sorted(
                {row.id: row for row in (*plan.diagnostics, *linked.findings, *skipped)}.values(), key=finding_sort_key
            )
        ),
    )


def edge_sort_key(row: ColumnEdge) -> tuple[str, int, str, str, str, str, str, str, str]:
    """The sort key of column edges."""
    source = (row.from_object, row.from_column, row.from_path or "")
    return (row.path, row.statement, *source, row.to_object, row.to_column, row.type, row.subtype)


def finding_sort_key(row: Diagnostic) -> tuple[str, int, int, str, str]:
    """The sort key of findings."""
    return row.path or "", row.line or 0, row.column or 0, row.code, row.id
