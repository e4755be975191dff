"""Analysis in this process: from discovered files to what an exporter takes."""

from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.cli.output import iterate_with_progress
from lineage_pipeline.config.load import Settings
from lineage_pipeline.configured_schemas import import_configured_schemas
from lineage_pipeline.discover.discovery import Discovery, DiscoveryRules, build_input_files
from lineage_pipeline.discover.git.repository import refuse_missing_contents
from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
from lineage_pipeline.export.subject import OpenLineageNaming, Subject, is_unanalyzed
from lineage_pipeline.model.analysis import LineageTables, SchemaImports
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.tables import Diagnostic

if TYPE_CHECKING:
    from lineage_pipeline import pipeline
    from lineage_pipeline.detail import AnalysisGraphs

ComparisonSide = tuple[Discovery, Settings]
"""One side of a comparison: its files and its settings."""


def analyze_subject(
    discovery: Discovery,
    rules: DiscoveryRules,
    settings: Settings,
    imports: SchemaImports | None = None,
    *,
    reach: bool = False,
) -> Subject:
    """Analyze discovered files; the findings of discovery come first."""
    from lineage_pipeline import pipeline  # not before the input is known to be usable: it takes a moment

    files = build_input_files(discovery, rules)
    given = add_project_schemas(
        imports or import_configured_schemas(settings), discovery.files, discovery.sources, rules
    )
    found = pipeline.build_lineage(files, given.schemas, reach=reach, compile_all=build_compiler(settings))
    lineage = _add_findings(discovery, given, found)
    written = {source.source_hash: source.text for source in discovery.sources}
    texts = {file.path: written[file.source_hash] for file in discovery.files}
    return Subject(
        lineage=lineage, snapshot=discovery.snapshot, files=discovery.files, texts=texts, naming=build_naming(settings)
    )


def build_compiler(settings: Settings) -> "pipeline.CompileAll":
    """Return the compiler, with the cache of a local warehouse unless the settings turn it off."""
    from lineage_pipeline.compile_cache import CachingCompiler

    usable = settings.cache and "://" not in settings.warehouse
    return CachingCompiler(
        settings.warehouse if usable else "", lambda items: iterate_with_progress(items, "reading")
    ).compile


def analyze_pair(base: ComparisonSide, head: ComparisonSide) -> tuple[LineageTables, LineageTables]:
    """Analyze both sides of a comparison, from what is kept of them where there is something."""
    from lineage_pipeline import pipeline
    from lineage_pipeline.cli.side_cache import analyze_sides_incrementally

    for discovery, _ in (base, head):
        refuse_missing_contents(discovery)
    sides = [(side, read_side_imports(side)) for side in (base, head)]
    found = analyze_sides_incrementally(sides)
    if found is not None:
        return found
    memory = pipeline.AnalysisCache()  # most of the head is the base

    def work_out(side: ComparisonSide, imports: SchemaImports) -> "pipeline.AnalysisResult":
        discovery, settings = side
        files = build_input_files(discovery, settings)
        return pipeline.analyze_files(files, imports.schemas, memory, build_compiler(settings))

    settled = pipeline.reconcile_imports(work_out(*sides[0]), work_out(*sides[1]), memory)
    before, after = (
        _add_findings(discovery, imports, workings.lineage)
        for ((discovery, _), imports), workings in zip(sides, settled, strict=True)
    )
    return before, after


def read_side_imports(side: ComparisonSide) -> SchemaImports:
    """Return the schemas that are imported into one side."""
    discovery, settings = side
    return add_project_schemas(import_configured_schemas(settings), discovery.files, discovery.sources, settings)


def analyze_graphs(
    discovery: Discovery, rules: DiscoveryRules, imports: SchemaImports
) -> tuple[LineageTables, "AnalysisGraphs"]:
    """Analyze discovered files and keep what their graphs are built from."""
    from lineage_pipeline import detail, pipeline

    files = list(build_input_files(discovery, rules))
    given = add_project_schemas(imports, discovery.files, discovery.sources, rules)
    workings = pipeline.analyze_files(files, given.schemas)
    return _add_findings(discovery, imports, workings.lineage), detail.AnalysisGraphs(workings)


def _add_findings(discovery: Discovery, imports: SchemaImports, lineage: LineageTables) -> LineageTables:
    diagnostics = (*discovery.diagnostics, *imports.findings, *lineage.diagnostics)
    return msgspec.structs.replace(lineage, diagnostics=diagnostics)


def build_naming(settings: Settings) -> OpenLineageNaming:
    """Return the OpenLineage naming of the settings."""
    configured = settings.openlineage
    named = (settings.namespaces(), configured.job_namespace, configured.producer)
    return OpenLineageNaming(*named, source_url=configured.source_url)


def find_unknown_stars(lineage: LineageTables) -> list[Diagnostic]:
    """Return the findings about stars whose columns are unknown."""
    return [row for row in lineage.diagnostics if row.code == "APPROXIMATE_LINEAGE"]


def is_incomplete(lineage: LineageTables) -> bool:
    """Tell whether a statement, a file or something that a finding names could not be analyzed."""
    if any(statement.status is not Status.ANALYSED for statement in lineage.statements):
        return True
    return any(map(is_unanalyzed, lineage.diagnostics))
