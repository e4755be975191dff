"""Schemas in the repository itself: what dbt projects describe, and what files declare of the queries beside them."""

import posixpath
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
    files = tuple(files)
    found = [file for file in files if file.templater == SCHEMA_TEMPLATER]
    if not found:
        return given
    dialects = {posixpath.dirname(file.path): file.dialect for file in files if file.templater != SCHEMA_TEMPLATER}
    texts = {source.source_hash: source.rendered for source in sources}
    joint = given
    for file in found:
        tables = msgspec.json.decode(texts[file.source_hash].encode(), type=tuple[ImportedTable, ...])
        options = options_of_row(file, rules.options_for(file.path))
        if not options.dialect:  # what lies beside queries is in their dialect
            options = msgspec.structs.replace(options, dialect=dialects.get(posixpath.dirname(file.path), ""))
        more = normalize_tables(tables, options)
        joint = SchemaImports({**more.schemas, **joint.schemas}, joint.findings)
    return joint
