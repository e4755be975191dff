"""The rows of a table, through the manifest that names its files."""

from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.store.arrays import conform, from_arrow
from lineage_pipeline.store.building import array_of, empty_table
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.manifests import Manifest
from lineage_pipeline.store.parquet import read_file
from lineage_pipeline.store.schemas import address, arrow_schema, row_type
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import TABLES

RowT = TypeVar("RowT", bound=msgspec.Struct)


def read_table(files: Files, manifest: Manifest, table: str) -> pa.Table:
    """Read all rows of a table; of the shared sources, those that the snapshot refers to."""
    row_type(table)
    if table not in manifest.tables:
        raise LineageError(f"{' to '.join(manifest.key)} has no {table} yet")
    key = manifest.key if address(table) else ()
    contents = [conform(table, key, read_file(files, file)) for file in manifest.tables[table].files]
    content = pa.concat_tables([empty_table(arrow_schema(table)), *contents])
    return content if address(table) else _referred(files, manifest, content)


def read_rows(files: Files, manifest: Manifest, row: type[RowT]) -> tuple[RowT, ...]:
    """Read a table as structs, in the order of its key."""
    table = next(table for table in TABLES.values() if table.row is row)
    content = read_table(files, manifest, table.name)
    order = pc.sort_indices(content, sort_keys=[(name, "ascending", "at_start") for name in table.key])
    return from_arrow(table.name, content.take(order), row)


def read_lineage(files: Files, manifest: Manifest) -> Lineage:
    """Read the tables of a snapshot that make up a lineage."""
    tables: dict[str, Any] = {name: read_rows(files, manifest, TABLES[name].row) for name in Lineage.__struct_fields__}
    return Lineage(**tables)


def _referred(files: Files, manifest: Manifest, sources: pa.Table) -> pa.Table:
    hashes = sources["source_hash"].to_pylist()
    wanted = set(hashes)
    if "sql_files" in manifest.tables:
        wanted = set(read_table(files, manifest, "sql_files")["source_hash"].to_pylist())
    first = {name: index for index, name in reversed(list(enumerate(hashes))) if name in wanted}
    return sources.take(array_of(sorted(first.values()), pa.int64()))
