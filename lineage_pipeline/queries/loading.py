"""Stored lineages: a file that `lineage scan -o` wrote, or a snapshot of a warehouse."""

import os
from pathlib import Path

from lineage_pipeline.engine.trace.facts import LineageFacts, RowFacts
from lineage_pipeline.export.documents.lineage_json import read_lineage_document
from lineage_pipeline.model.errors import LineageError, NotThere

BUNDLE_SUFFIX, DOCUMENT_SUFFIX = ".lineage", ".json"
MIN_COMMIT_LENGTH = 4


def is_lineage_file(path: Path) -> bool:
    """Say whether a path is a file that holds a lineage."""
    return path.suffix in (BUNDLE_SUFFIX, DOCUMENT_SUFFIX) and path.is_file()


def load_lineage_file(path: Path) -> LineageFacts:
    """Open a lineage file, compact or JSON."""
    if path.suffix == BUNDLE_SUFFIX:
        from lineage_pipeline.store.lineage_file import LineageFileTables
        from lineage_pipeline.store.stored_facts import StoredFacts

        return StoredFacts(LineageFileTables(path))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LineageError(f"{path}: {error.strerror}") from None
    return RowFacts(*read_lineage_document(content, str(path)))


def is_warehouse(path: Path) -> bool:
    """Say whether a folder is a warehouse."""
    return (path / "_manifests").is_dir()


def load_snapshot(warehouse: str | os.PathLike[str], wanted: str = "") -> LineageFacts:
    """Open a snapshot by its key, a commit or a prefix of one, or a ref; without one, the only snapshot."""
    from lineage_pipeline.store.stored_facts import StoredFacts
    from lineage_pipeline.store.warehouse import Warehouse

    store = Warehouse(warehouse)
    keys = [manifest.key[0] for manifest in store.snapshots()]
    if not keys:
        raise NotThere(f"there is no snapshot in the warehouse {os.fspath(warehouse)}; `lineage run` makes one")
    fitting = [key for key in keys if _matches_snapshot_key(key, wanted)] if wanted else keys
    if not fitting and wanted:
        fitting = [key for key in keys if wanted in store.refs(key)]
    if len(fitting) == 1:
        return StoredFacts(store.tables(fitting[0]))
    shown = ", ".join(fitting or keys)
    if fitting:
        raise LineageError(f"say which snapshot of {os.fspath(warehouse)}: {shown}")
    raise NotThere(f"{wanted} is not a snapshot of {os.fspath(warehouse)}; there are {shown}")


def _matches_snapshot_key(key: str, wanted: str) -> bool:
    """Compare a key with `repo@commit`, `commit` or a prefix of it."""
    repo, _, commit = key.rpartition("@")
    name, _, beginning = wanted.rpartition("@")
    if wanted == key:
        return True
    return (not name or name == repo) and len(beginning) >= MIN_COMMIT_LENGTH and commit.startswith(beginning)
