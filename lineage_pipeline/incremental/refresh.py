"""Refresh of a stored lineage: only what changed is read and linked; unchanged rows stay Arrow data."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.discover.discovery import Discovery, DiscoveryRules, build_inputs_from_rows, is_analyzable
from lineage_pipeline.discover.file_options import options_of_row
from lineage_pipeline.engine.graph.statement_rows import build_statement_rows
from lineage_pipeline.engine.link.rows import build_column_rows, build_constraint_rows, build_inferred_rows
from lineage_pipeline.incremental.analyze import FileEntry, IncrementalResult, update_analysis
from lineage_pipeline.incremental.state import AnalysisState
from lineage_pipeline.model.analysis import InputFile, SchemaImports, TableSchema
from lineage_pipeline.model.tables import ColumnEdge, Diagnostic, Source
from lineage_pipeline.pipeline import (
    CompileAll,
    build_lineage,
    edge_sort_key,
    finding_sort_key,
    relax_garbage_collector,
)
from lineage_pipeline.store.lineage_file import CachedLineage
from lineage_pipeline.store.row_conversion import arrow_to_rows, build_array, rows_to_plain_arrow

EMPTY_SHELF = CachedLineage("", {}, AnalysisState().pack())
"""The starting point of a first analysis."""


class DiscoveredTexts:
    """The texts of a discovery: those read now, and the stored ones of unchanged files."""

    def __init__(self, discovery: Discovery, rules: DiscoveryRules, kept: Mapping[str, pa.Table]) -> None:
        """Take the discovery, and the stored tables."""
        self.files = {file.path: file for file in discovery.files}
        self.rules = rules
        self.kept = kept
        self.read = {source.source_hash: source for source in discovery.sources}
        self._scripts: dict[str, int] | None = None

    def input_file(self, entry: FileEntry) -> InputFile:
        """A file as input of the engine."""
        return next(iter(build_inputs_from_rows([self.files[entry.path]], [self.source(entry.source)], self.rules)))

    def source(self, name: str) -> Source:
        """A text by its hash."""
        if name not in self.read:
            table = self.kept["sources"]
            row = table.filter(pc.is_in(table["source_hash"], value_set=build_array([name], pa.string())))
            (self.read[name],) = arrow_to_rows("sources", row, Source)
        return self.read[name]

    def script(self, path: str) -> bytes:
        """The packed script of a file from the earlier analysis."""
        table = self.kept["scripts"]
        if self._scripts is None:
            self._scripts = {name: row for row, name in enumerate(table["path"].to_pylist())}
        content: bytes = table["script"][self._scripts[path]].as_py()
        return content


def refresh_lineage(
    discovery: Discovery,
    rules: DiscoveryRules,
    given: SchemaImports,
    compile_all: CompileAll,
    kept: CachedLineage = EMPTY_SHELF,
) -> CachedLineage:
    """Analyze a discovery, starting from a stored analysis; unchanged files need only their stored texts."""
    found = update_lineage(discovery, rules, given, compile_all, kept)
    if found is not None:
        return found
    texts = DiscoveredTexts(discovery, rules, kept.tables)
    with relax_garbage_collector():
        tables, findings = _analyze_all(_list_entries(discovery, rules), texts, given, compile_all)
        return _build_lineage_file(texts, discovery, given, (tables, findings, AnalysisState()))


def update_lineage(
    discovery: Discovery,
    rules: DiscoveryRules,
    given: SchemaImports,
    compile_all: CompileAll,
    kept: CachedLineage = EMPTY_SHELF,
) -> CachedLineage | None:
    """Analyze a discovery as far as it differs from a stored analysis; None where all edges are needed."""
    texts = DiscoveredTexts(discovery, rules, kept.tables)
    before = AnalysisState.unpack(kept.before)
    with relax_garbage_collector():
        done = update_analysis(_list_entries(discovery, rules), before, texts, given.schemas, compile_all)
        if done is None:
            return None
        made = merge_tables(done, kept.tables, given.schemas), merge_findings(done), done.before
        return _build_lineage_file(texts, discovery, given, made)


def _list_entries(discovery: Discovery, rules: DiscoveryRules) -> list[FileEntry]:
    return [
        FileEntry(
            path=file.path,
            source=file.source_hash,
            options=options_of_row(file, rules.options_for(file.path)),
            owners=file.owners,
            position=file.position or 0,
        )
        for file in discovery.files
        if is_analyzable(file)
    ]


def _build_lineage_file(
    texts: DiscoveredTexts,
    discovery: Discovery,
    given: SchemaImports,
    made: "tuple[ArrowTables, Sequence[Diagnostic], AnalysisState]",
) -> CachedLineage:
    """The tables of an analysis with those of the discovery, and the state for the next one."""
    tables, findings, after = made
    return CachedLineage(
        discovery.key,
        tables
        | {
            "snapshots": rows_to_plain_arrow("snapshots", (discovery.snapshot,)),
            "sql_files": rows_to_plain_arrow("sql_files", discovery.files),
            "sources": _merge_sources(discovery, texts),
            "diagnostics": rows_to_plain_arrow("diagnostics", (*discovery.diagnostics, *given.findings, *findings)),
        },
        after.pack(),
    )


def _analyze_all(
    entries: Sequence[FileEntry], texts: DiscoveredTexts, given: SchemaImports, compile_all: CompileAll
) -> tuple[dict[str, pa.Table], Sequence[Diagnostic]]:
    """Analyze all files at once; the next analysis does so as well."""
    made = build_lineage(map(texts.input_file, entries), given.schemas, reach=False, compile_all=compile_all)
    tables = {
        name: rows_to_plain_arrow(name, getattr(made, name)) for name in made.__struct_fields__ if name != "diagnostics"
    }
    return tables, made.diagnostics


def _merge_sources(discovery: Discovery, texts: DiscoveredTexts) -> pa.Table:
    """Each distinct text once; those of unchanged files are taken over."""
    kept, wanted = texts.kept.get("sources"), {file.source_hash for file in discovery.files}
    known = set(kept["source_hash"].to_pylist()) if kept is not None else set()
    fresh = [texts.source(name) for name in wanted - known]
    return merge_table("sources", kept, "source_hash", known - wanted, fresh)


ArrowTables = dict[str, pa.Table]
StructRows = Sequence[msgspec.Struct]

SCRIPTS_SCHEMA = pa.schema([("path", pa.string()), ("script", pa.binary())])
"""The Arrow schema of compiled scripts."""

FILE_TABLES: dict[str, tuple[str, ...]] = {
    "statements": ("path", "ordinal"),
    "column_edges": ("path", "statement"),
    "facets": ("object", "column", "name", "path", "statement"),
}
"""Tables whose rows belong to a file, with their sort keys; edges of one statement are sorted already."""

OBJECT_TABLES: dict[str, tuple[str, ...]] = {"columns": ("object", "ordinal"), "constraints": ("object", "id")}
"""Tables whose rows belong to an object, with their sort keys."""

POSITIONLESS_TABLES = ("object_statements", "object_edges")
"""Tables of the plan without positions."""

SORT_KEYS = {**FILE_TABLES, **OBJECT_TABLES, "sources": ("source_hash",)}


def merge_tables(
    done: IncrementalResult, kept: Mapping[str, pa.Table], imported: Mapping[str, TableSchema]
) -> ArrowTables:
    """The tables of the analysis, without the findings of discovery."""
    files = [*done.made, *done.gone]
    tables = {name: merge_table(name, kept.get(name), "path", files, rows) for name, rows in _file_rows(done)}
    for name, objects, rows in _object_rows(done, imported):
        tables[name] = merge_table(name, kept.get(name), "object", objects, rows)
    tables["scripts"] = _merge_scripts(done, kept.get("scripts"), files)
    stays = {name: kept[name] for name in POSITIONLESS_TABLES} if done.stood else {}
    return tables | {name: rows_to_plain_arrow(name, rows) for name, rows in _plan_rows(done)} | stays


def merge_table(name: str, kept: pa.Table | None, column: str, leaving: Collection[str], rows: StructRows) -> pa.Table:
    """Unchanged and new rows, sorted; rows whose `column` is one of the leaving values are dropped."""
    if kept is None:
        return _sort_table(name, rows_to_plain_arrow(name, rows))
    if not leaving and not rows:
        return kept
    stays = pc.invert(pc.is_in(kept[column], value_set=build_array(list(leaving), pa.string())))
    return _sort_table(name, pa.concat_tables([kept.filter(stays), rows_to_plain_arrow(name, rows)]))


def _sort_table(name: str, content: pa.Table) -> pa.Table:
    keys = [(column, "ascending") for column in SORT_KEYS[name]]
    return content.take(pc.sort_indices(content, sort_keys=keys))


def _file_rows(done: IncrementalResult) -> Iterator[tuple[str, StructRows]]:
    made, bound = done.made.values(), done.plan.bound
    carried: dict[str, list[ColumnEdge]] = {}
    for edge in done.before.carried:
        carried.setdefault(edge.path, []).append(edge)
    edges: list[ColumnEdge] = []
    for path, (_, linked) in done.made.items():
        more = carried.get(path)
        edges.extend(sorted([*linked.edges, *more], key=edge_sort_key) if more else linked.edges)
    yield (
        "statements",
        [row for one, _ in made for row in build_statement_rows(one.text, one.script, bound[one.file.path])],
    )
    yield "column_edges", edges
    yield "facets", [row for _, linked in made for row in linked.facets]


def _object_rows(
    done: IncrementalResult, imported: Mapping[str, TableSchema]
) -> Iterator[tuple[str, Collection[str], StructRows]]:
    """The tables of objects, each with the objects whose rows are replaced."""
    every = done.objects | done.asked
    objects = {name: known for name, known in done.plan.objects.items() if name in every}
    schemas = {name: done.shapes.schema(name) for name in objects}
    wanted = {(name, column) for name, column in done.before.wanted if name in objects}
    yield "columns", every, [*build_column_rows(schemas, objects), *build_inferred_rows(wanted, schemas, objects)]
    scripts = {path: item.script for path, (item, _) in done.made.items()}
    dirty = {name: known for name, known in objects.items() if name in done.objects}
    yield "constraints", done.objects, list(build_constraint_rows(dirty, scripts, imported))


def _merge_scripts(done: IncrementalResult, kept: pa.Table | None, leaving: Sequence[str]) -> pa.Table:
    packed = [(path, msgspec.msgpack.encode(item.script)) for path, (item, _) in done.made.items()]
    columns = list(zip(*packed, strict=True)) or [(), ()]
    fresh = pa.Table.from_arrays(
        [build_array(values, field.type) for values, field in zip(columns, SCRIPTS_SCHEMA, strict=True)],
        schema=SCRIPTS_SCHEMA,
    )
    if kept is None:
        return fresh
    stays = pc.invert(pc.is_in(kept["path"], value_set=build_array(list(leaving), pa.string())))
    return pa.concat_tables([kept.filter(stays), fresh])


def _plan_rows(done: IncrementalResult) -> Iterator[tuple[str, StructRows]]:
    """The tables of the plan."""
    plan = done.plan
    yield "objects", [known.row for _, known in sorted(plan.objects.items())]
    yield "object_statements", plan.object_statements
    yield "object_edges", plan.object_edges
    yield "column_reach", ()


def merge_findings(done: IncrementalResult) -> list[Diagnostic]:
    """The findings of all files and of the plan, each once."""
    linked = [row for one in done.before.files.values() for row in one.findings]
    return sorted({row.id: row for row in (*done.plan.diagnostics, *linked)}.values(), key=finding_sort_key)
