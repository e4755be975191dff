"""Snapshots of other repositories among the places that schemas are read from, pinned by their keys."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.discover.schemas.model import SchemaMetadata
from lineage_pipeline.discover.schemas.snapshots import snapshot_tables
from lineage_pipeline.vocabulary.errors import LineageError

PREFIX = "snapshot:"
"""What a place begins with that is a snapshot: `snapshot:repo@commit`, `snapshot:path/of/warehouse#repo@commit`."""

BUNDLE = ".lineage"


class Snapshots:
    """Who reads such places; warehouses of others are relative to `root`."""

    def __init__(self, root: Path, warehouse: str) -> None:
        """Take where paths start, and the warehouse that is meant where none is named."""
        self.root = root
        self.warehouse = warehouse

    def __call__(self, place: str) -> SchemaMetadata | None:
        """Give the tables of a snapshot, or None where a place is something else."""
        if place.startswith(PREFIX):
            where, _, key = place.removeprefix(PREFIX).rpartition("#")
            return self._stored(str(self.root / where) if where and "://" not in where else where, key)
        return self._bundled(place) if place.endswith(BUNDLE) else None

    def _stored(self, where: str, key: str) -> SchemaMetadata:
        from lineage_pipeline.store.warehouse import Warehouse

        store = Warehouse(where or self.warehouse)
        known = [manifest.key[0] for manifest in store.snapshots()]
        if key not in known:
            shown = ", ".join(known) or "none"
            raise LineageError(f"{key} is not a snapshot of {where or self.warehouse}; there are: {shown}")
        return _metadata(store.tables(key), key)

    def _bundled(self, place: str) -> SchemaMetadata:
        from lineage_pipeline.store.bundle import BundledTables

        path = self.root / place
        if not path.is_file():
            raise LineageError(f"{path}: No such file or directory")
        tables = BundledTables(path)
        return _metadata(tables, tables.key[0])


def _metadata(tables: Any, key: str) -> SchemaMetadata:
    from lineage_pipeline.store.tables import read_columns
    from lineage_pipeline.vocabulary.tables import Column, ObjectRow

    def rows(table: str, kind: type[msgspec.Struct]) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = read_columns(tables, table, kind.__struct_fields__).to_pylist()
        return found

    found = snapshot_tables(rows("objects", ObjectRow), rows("columns", Column), key)
    return SchemaMetadata(tuple(sorted(found, key=lambda table: table.parts)))
