"""Stored lineages by their place: a file that `lineage scan -o` wrote, or a snapshot of a warehouse."""

import os
from pathlib import Path

from lineage_pipeline.engine.trace.facts import Facts, RowFacts
from lineage_pipeline.export.document import read_document
from lineage_pipeline.vocabulary.errors import LineageError, NotThere

BUNDLE, DOCUMENT = ".lineage", ".json"
SHORTEST_COMMIT = 4


def is_lineage_file(path: Path) -> bool:
    """Say whether a path names a file that holds a lineage."""
    return path.suffix in (BUNDLE, DOCUMENT) and path.is_file()


def load_file(path: Path) -> Facts:
    """Open a lineage file, compact or JSON."""
    if path.suffix == BUNDLE:
        from lineage_pipeline.store.bundle import BundledTables
        from lineage_pipeline.store.facts import StoredFacts

        return StoredFacts(BundledTables(path))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LineageError(f"{path}: {error.strerror}") from None
    return RowFacts(*read_document(content, str(path)))


def is_warehouse(path: Path) -> bool:
    """Say whether a folder is a warehouse."""
    return (path / "_manifests").is_dir()


def load_snapshot(warehouse: str | os.PathLike[str], wanted: str = "") -> Facts:
    """Open a snapshot by its key, a commit, the beginning of one, or a ref; without one, the only one there is."""
    from lineage_pipeline.store.facts import StoredFacts
    from lineage_pipeline.store.warehouse import Warehouse

    store = Warehouse(warehouse)
    keys = [manifest.key[0] for manifest in store.snapshots()]
    if not keys:
        raise NotThere(f"there is no snapshot in the warehouse {os.fspath(warehouse)}; `lineage run` makes one")
    fitting = [key for key in keys if _is_called(key, wanted)] if wanted else keys
    if not fitting and wanted:
        fitting = [key for key in keys if wanted in store.refs(key)]
    if len(fitting) == 1:
        return StoredFacts(store.tables(fitting[0]))
    shown = ", ".join(fitting or keys)
    if fitting:
        raise LineageError(f"say which snapshot of {os.fspath(warehouse)}: {shown}")
    raise NotThere(f"{wanted} is not a snapshot of {os.fspath(warehouse)}; there are {shown}")


def _is_called(key: str, wanted: str) -> bool:
    """Compare a key with `repo@commit`, `commit` or the beginning of it."""
    repo, _, commit = key.rpartition("@")
    name, _, beginning = wanted.rpartition("@")
    if wanted == key:
        return True
    return (not name or name == repo) and len(beginning) >= SHORTEST_COMMIT and commit.startswith(beginning)
