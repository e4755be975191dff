"""From discovered files to what an exporter takes, in this process."""

from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.cli.progress import progress
from lineage_pipeline.discover.gather import Discovery, Rules, input_files
from lineage_pipeline.discover.git import refuse_partial
from lineage_pipeline.discover.schemas.found import with_found
from lineage_pipeline.discover.schemas.model import Imports
from lineage_pipeline.export import Naming, Subject
from lineage_pipeline.export.subject import is_undone
from lineage_pipeline.settings import Settings
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.sets import Status
from lineage_pipeline.vocabulary.tables import Diagnostic

if TYPE_CHECKING:
    from lineage_pipeline import pipeline
    from lineage_pipeline.graphs import Graphs

Side = tuple[Discovery, Settings]
"""One side of a comparison: its files, and how they are read."""


def subject_of(
    discovery: Discovery, rules: Rules, settings: Settings, imports: Imports | None = None, *, reach: bool = False
) -> Subject:
    """Analyse what was found; the findings of discovery come first."""
    from lineage_pipeline import pipeline  # not before the input is known to be usable: it takes a moment

    files = input_files(discovery, rules)
    given = with_found(imports or settings.imports(), discovery.files, discovery.sources, rules)
    found = pipeline.analyse(files, given.schemas, reach=reach, compile_all=compiler_of(settings))
    lineage = _joint(discovery, given, found)
    written = {source.source_hash: source.text for source in discovery.sources}
    texts = {file.path: written[file.source_hash] for file in discovery.files}
    return Subject(lineage, discovery.snapshot, discovery.files, texts, naming_of(settings))


def compiler_of(settings: Settings) -> "pipeline.CompileAll":
    """Give who compiles: with the cache of the warehouse, where it lies on this machine and nobody forbids it."""
    from lineage_pipeline.kept import Keeper

    usable = settings.cache and "://" not in settings.warehouse
    return Keeper(settings.warehouse if usable else "", lambda items: progress(items, "reading")).compile


def lineages_of(base: Side, head: Side) -> tuple[Lineage, Lineage]:
    """Analyse the two sides of a comparison."""
    from lineage_pipeline import pipeline

    for discovery, _ in (base, head):
        refuse_partial(discovery)
    memory = pipeline.Memory()  # most of the head is the base

    def work_out(side: Side) -> "pipeline.Workings":
        discovery, settings = side
        return pipeline.work_out(
            input_files(discovery, settings), imports_of(side).schemas, memory, compiler_of(settings)
        )

    settled = pipeline.settle(work_out(base), work_out(head), memory)
    before, after = (
        _joint(discovery, imports_of((discovery, settings)), workings.lineage)
        for (discovery, settings), workings in zip((base, head), settled, strict=True)
    )
    return before, after


def imports_of(side: Side) -> Imports:
    """Give the schemas that are imported into one side."""
    discovery, settings = side
    return with_found(settings.imports(), discovery.files, discovery.sources, settings)


def graphs_of(discovery: Discovery, rules: Rules, imports: Imports) -> tuple[Lineage, "Graphs"]:
    """Analyse what was found and keep what its graphs are made of."""
    from lineage_pipeline import graphs, pipeline

    files = list(input_files(discovery, rules))
    given = with_found(imports, discovery.files, discovery.sources, rules)
    workings = pipeline.work_out(files, given.schemas)
    return _joint(discovery, imports, workings.lineage), graphs.Graphs(workings)


def _joint(discovery: Discovery, imports: Imports, lineage: Lineage) -> Lineage:
    diagnostics = (*discovery.diagnostics, *imports.findings, *lineage.diagnostics)
    return msgspec.structs.replace(lineage, diagnostics=diagnostics)


def naming_of(settings: Settings) -> Naming:
    """Give the names that the settings configure."""
    configured = settings.openlineage
    named = (settings.namespaces(), configured.job_namespace, configured.producer)
    return Naming(*named, source_url=configured.source_url)


def unknown_stars(lineage: Lineage) -> list[Diagnostic]:
    """Give the findings about stars whose columns are not known."""
    return [row for row in lineage.diagnostics if row.code == "APPROXIMATE_LINEAGE"]


def leaves_undone(lineage: Lineage) -> bool:
    """Say whether anything could not be done: a statement, a file, or what a finding says is missing."""
    if any(statement.status is not Status.ANALYSED for statement in lineage.statements):
        return True
    return any(map(is_undone, lineage.diagnostics))
