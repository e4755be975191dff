"""Schemas in the repository itself: what its dbt projects describe of sources and models."""

from collections.abc import Iterable

import msgspec

from lineage_pipeline.discover.discovery import OptionsLookup
from lineage_pipeline.discover.file_options import options_of_row
from lineage_pipeline.discover.schemas.imported_tables import ImportedTable
from lineage_pipeline.discover.schemas.normalize import normalize_tables
from lineage_pipeline.model.analysis import SchemaImports
from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, Source, SqlFile


def add_project_schemas(
    given: SchemaImports, files: Iterable[SqlFile], sources: Iterable[Source], rules: OptionsLookup
) -> SchemaImports:
    """Return the imported schemas with those of dbt projects; imported ones win where both know an object."""
    found = [file for file in files if file.templater == SCHEMA_TEMPLATER]
    if not found:
        return given
    texts = {source.source_hash: source.rendered for source in sources}
    joint = given
    for file in found:
        tables = msgspec.json.decode(texts[file.source_hash].encode(), type=tuple[ImportedTable, ...])
        more = normalize_tables(tables, options_of_row(file, rules.options_for(file.path)))
        joint = SchemaImports({**more.schemas, **joint.schemas}, joint.findings)
    return joint
