"""From discovered files to what an exporter takes, in this process."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.discover.gather import Discovery, Rules, input_files
from lineage_pipeline.discover.schema import SchemaMapping, imported_schemas
from lineage_pipeline.export import Naming, Subject
from lineage_pipeline.settings import Settings
from lineage_pipeline.vocabulary.analysis import InputFile, Lineage, TableSchema
from lineage_pipeline.vocabulary.codes import CODES
from lineage_pipeline.vocabulary.sets import Level, Status

if TYPE_CHECKING:
    from lineage_pipeline.graphs import Graphs


def subject_of(discovery: Discovery, rules: Rules, settings: Settings, schema: SchemaMapping | None = None) -> Subject:
    """Analyse what was found; the findings of discovery come first."""
    from lineage_pipeline import pipeline  # not before the input is known to be usable: it takes a moment

    files = list(input_files(discovery, rules))
    lineage = pipeline.analyse(files, _imported(schema, files), reach=False)
    texts = {file.path: file.text for file in files}
    return Subject(_joint(discovery, lineage), discovery.snapshot, discovery.files, texts, naming_of(settings))


def graphs_of(discovery: Discovery, rules: Rules, schema: SchemaMapping | None = None) -> tuple[Lineage, "Graphs"]:
    """Analyse what was found and keep what its graphs are made of."""
    from lineage_pipeline import graphs, pipeline

    files = list(input_files(discovery, rules))
    workings = pipeline.work_out(files, _imported(schema, files))
    return _joint(discovery, workings.lineage), graphs.Graphs(workings)


def _imported(schema: SchemaMapping | None, files: Sequence[InputFile]) -> dict[str, TableSchema]:
    return imported_schemas(schema, files[0].options) if schema and files else {}


def _joint(discovery: Discovery, lineage: Lineage) -> Lineage:
    return msgspec.structs.replace(lineage, diagnostics=discovery.diagnostics + lineage.diagnostics)


def naming_of(settings: Settings) -> Naming:
    """Give the names that the settings configure."""
    configured = settings.openlineage
    return Naming(settings.namespaces(), configured.job_namespace, configured.producer)


def leaves_undone(lineage: Lineage) -> bool:
    """Say whether anything could not be done: a statement, a file, or what a finding says is missing."""
    if any(statement.status is not Status.ANALYSED for statement in lineage.statements):
        return True
    return any(row.severity is Level.ERROR or CODES[row.code].undone for row in lineage.diagnostics)
