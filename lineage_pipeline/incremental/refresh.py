"""Refresh of a stored lineage from a discovery: only what changed is read, linked and turned into rows."""

from collections.abc import Mapping, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.discover.discovery import Discovery, DiscoveryRules, build_inputs_from_rows, is_analyzable
from lineage_pipeline.discover.file_options import options_of_row
from lineage_pipeline.files.fingerprints import hash_parts
from lineage_pipeline.incremental.analyze import FileEntry, update_analysis
from lineage_pipeline.incremental.merge import merge_findings, merge_table, merge_tables
from lineage_pipeline.incremental.state import AnalysisState
from lineage_pipeline.model.analysis import InputFile
from lineage_pipeline.model.schema_imports import SchemaImports
from lineage_pipeline.model.tables import Diagnostic, Source
from lineage_pipeline.pipeline import CompileAll, build_lineage, relax_garbage_collector
from lineage_pipeline.store.arrow_arrays import build_array
from lineage_pipeline.store.cached_lineage import CachedLineage
from lineage_pipeline.store.row_conversion import arrow_to_rows, rows_to_plain_arrow

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
    imported = hash_parts(sorted(given.schemas.items()))
    before = AnalysisState.unpack(kept.before)
    texts = DiscoveredTexts(discovery, rules, kept.tables)
    if before.imported != imported:
        kept, before = EMPTY_SHELF, AnalysisState()
    entries = [
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
    with relax_garbage_collector():
        done = update_analysis(entries, before, texts, given.schemas, compile_all)
        if done is None:
            tables, told, after = _analyze_all(entries, texts, given, compile_all)
        else:
            tables, told, after = merge_tables(done, kept.tables, given.schemas), merge_findings(done), done.before
        tables |= {
            "snapshots": rows_to_plain_arrow("snapshots", (discovery.snapshot,)),
            "sql_files": rows_to_plain_arrow("sql_files", discovery.files),
            "sources": _merge_sources(discovery, texts),
            "diagnostics": rows_to_plain_arrow("diagnostics", (*discovery.diagnostics, *given.findings, *told)),
        }
    return CachedLineage(
        discovery.key, tables, msgspec.structs.replace(after, imported=imported if done else "").pack()
    )


def _analyze_all(
    entries: Sequence[FileEntry], texts: DiscoveredTexts, given: SchemaImports, compile_all: CompileAll
) -> tuple[dict[str, pa.Table], Sequence[Diagnostic], AnalysisState]:
    """Analyze all files at once; the next analysis does so as well."""
    made = build_lineage(map(texts.input_file, entries), given.schemas, reach=False, compile_all=compile_all)
    tables = {
        name: rows_to_plain_arrow(name, getattr(made, name)) for name in made.__struct_fields__ if name != "diagnostics"
    }
    return tables, made.diagnostics, AnalysisState()


def _merge_sources(discovery: Discovery, texts: DiscoveredTexts) -> pa.Table:
    """Each distinct text once; those of unchanged files are taken over."""
    kept, wanted = texts.kept.get("sources"), {file.source_hash for file in discovery.files}
    known = set(kept["source_hash"].to_pylist()) if kept is not None else set()
    fresh = [texts.source(name) for name in wanted - known]
    return merge_table("sources", kept, "source_hash", known - wanted, fresh)
