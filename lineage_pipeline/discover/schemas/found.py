"""Schemas that a repository itself brings: what its dbt projects say of sources and models."""

from collections.abc import Iterable

import msgspec

from lineage_pipeline.discover.detect import options_of
from lineage_pipeline.discover.raw import Optioned
from lineage_pipeline.discover.rendered import SCHEMA
from lineage_pipeline.discover.schemas.folding import fold_tables
from lineage_pipeline.discover.schemas.model import ImportedTable, Imports
from lineage_pipeline.vocabulary.tables import Source, SqlFile


def with_found(given: Imports, files: Iterable[SqlFile], sources: Iterable[Source], rules: Optioned) -> Imports:
    """Give the imported schemas with those that were found; what is imported counts where both know an object."""
    found = [file for file in files if file.templater == SCHEMA]
    if not found:
        return given
    texts = {source.source_hash: source.rendered for source in sources}
    joint = given
    for file in found:
        tables = msgspec.json.decode(texts[file.source_hash].encode(), type=tuple[ImportedTable, ...])
        more = fold_tables(tables, options_of(file, rules.options_for(file.path)))
        joint = Imports({**more.schemas, **joint.schemas}, joint.findings)
    return joint
