"""Schemas that the settings import: files, catalogs and snapshots of other repositories; and the analysis key."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.discover.schemas.imported_tables import SchemaMetadata
from lineage_pipeline.discover.schemas.snapshot_tables import tables_from_snapshot
from lineage_pipeline.model.analysis import Options, SchemaImports
from lineage_pipeline.model.errors import LineageError


def import_configured_schemas(settings: Settings) -> SchemaImports:
    """Read the schemas imported into each system, once for the same settings; the first system wins."""
    return settings.cache_imports(_import_schemas)


def import_schemas_of_revision(settings: Settings, repo: Path, revision: str) -> SchemaImports:
    """Read the schemas as `import_configured_schemas` does, with the files that a revision tracks as it has them."""
    return settings.cache_imports(
        lambda own: _import_schemas(own, RevisionSchemaReader(own.schemas_root, repo, revision))
    )


SchemaReader = Callable[[str, Options], SchemaMetadata | None]


def _import_schemas(settings: Settings, tracked: SchemaReader | None = None) -> SchemaImports:
    joint = SchemaImports()
    for places, options in settings.schema_places():
        found = _import_places(settings, places, options, tracked) if places else SchemaImports()
        joint = SchemaImports({**found.schemas, **joint.schemas}, (*joint.findings, *found.findings))
    return joint


def _import_places(
    settings: Settings, places: Sequence[str], options: Options, tracked: SchemaReader | None
) -> SchemaImports:
    from lineage_pipeline.discover.schemas.schema_sources import import_schemas  # it takes a moment, and few need it

    root = settings.schemas_root
    read_snapshot = SnapshotReader(root, settings.warehouse)

    def read_special(place: str) -> SchemaMetadata | None:
        found = read_snapshot(place)
        return tracked(place, options) if found is None and tracked is not None else found

    return import_schemas(places, options, root, settings.secrets, read_special)


def compute_analysis_key(settings: Settings) -> str:
    """Hash everything besides the files that affects results: the engine, settings of reading, imported schemas."""
    return settings.hash_with_schemas(import_configured_schemas(settings).schemas)


SNAPSHOT_PREFIX = "snapshot:"
"""Prefix of a snapshot place: `snapshot:repo@commit`, `snapshot:path/of/warehouse#repo@commit`."""

LINEAGE_SUFFIX = ".lineage"


class SnapshotReader:
    """Reads snapshot places; other warehouses are relative to `root`."""

    def __init__(self, root: Path, warehouse: str) -> None:
        """Store where paths start, and the default warehouse."""
        self.root = root
        self.warehouse = warehouse

    def __call__(self, place: str) -> SchemaMetadata | None:
        """Return the tables of a snapshot, or None where a place is something else."""
        if place.startswith(SNAPSHOT_PREFIX):
            where, _, key = place.removeprefix(SNAPSHOT_PREFIX).rpartition("#")
            return self._read_warehouse(str(self.root / where) if where and "://" not in where else where, key)
        return self._read_lineage_file(place) if place.endswith(LINEAGE_SUFFIX) else None

    def _read_warehouse(self, where: str, key: str) -> SchemaMetadata:
        from lineage_pipeline.store.warehouse import Warehouse

        store = Warehouse(where or self.warehouse)
        known = [manifest.key[0] for manifest in store.snapshots()]
        if key not in known:
            shown = ", ".join(known) or "none"
            raise LineageError(f"{key} is not a snapshot of {where or self.warehouse}; there are: {shown}")
        return _build_metadata(store.tables(key), key)

    def _read_lineage_file(self, place: str) -> SchemaMetadata:
        from lineage_pipeline.store.lineage_file import LineageFileTables

        path = self.root / place
        if not path.is_file():
            raise LineageError(f"{path}: No such file or directory")
        tables = LineageFileTables(path)
        return _build_metadata(tables, tables.key[0])


class RevisionSchemaReader:
    """Reads schema files as a revision of a repository has them."""

    def __init__(self, root: Path, repo: Path, revision: str) -> None:
        """Store where paths start, and the revision."""
        self.root = root
        self.repo = repo
        self.revision = revision

    def __call__(self, place: str, options: Options) -> SchemaMetadata | None:
        """Return the tables of a file or folder, or None where the revision does not track it."""
        from lineage_pipeline.discover.git.repository import read_tracked_files
        from lineage_pipeline.discover.schemas.schema_sources import READERS, parse_schema_file

        path = Path(os.path.normpath(self.root.resolve() / place))
        if "://" in place or not path.is_relative_to(self.repo.resolve()):
            return None
        inside = path.relative_to(self.repo.resolve()).as_posix()
        files = read_tracked_files(self.repo, self.revision, inside, tuple(READERS))
        named = [(PurePath(file), place + file.removeprefix(inside), content) for file, content in files]
        read = [parse_schema_file(content, file, name, options) for file, name, content in named]
        if not read:
            return None
        if len(read) == 1:  # with its hints
            return read[0]
        tables = tuple(table for one in read for table in one.tables)
        return SchemaMetadata(tables, findings=tuple(row for one in read for row in one.findings))


def _build_metadata(tables: Any, key: str) -> SchemaMetadata:
    from lineage_pipeline.model.tables import Column, ObjectRow
    from lineage_pipeline.store.table_files import read_columns

    def rows(table: str, kind: type[msgspec.Struct]) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = read_columns(tables, table, kind.__struct_fields__).to_pylist()
        return found

    found = tables_from_snapshot(rows("objects", ObjectRow), rows("columns", Column), key)
    return SchemaMetadata(tuple(sorted(found, key=lambda table: table.parts)))
