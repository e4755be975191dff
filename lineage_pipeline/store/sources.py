"""The shared table of sources: each content is stored once, whichever snapshot brought it."""

from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa

from lineage_pipeline.store import catalog
from lineage_pipeline.store.building import array_of
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.manifests import StoredFile
from lineage_pipeline.store.parquet import read_file, write_file
from lineage_pipeline.vocabulary.errors import LineageError


def write_sources(files: Files, folder: str, batches: Iterable[pa.Table], part: str) -> list[StoredFile]:
    """Write the contents that are new, and name the files that hold the others."""
    shelf = stored_hashes(files)
    used: set[StoredFile] = set()
    new = write_file(files, folder, "sources", _fresh(batches, shelf, used), part)
    if new.rows or not used:
        return [new, *(msgspec.structs.replace(file, part=part) for file in sorted(used))]
    files.remove(new.path)
    return [msgspec.structs.replace(file, part=part) for file in sorted(used)]


def stored_hashes(files: Files) -> dict[str, StoredFile]:
    """Find the file of every source that a published snapshot or a current run holds."""
    manifests = [*catalog.all_published(files), *catalog.all_unpublished(files)]
    stored = {
        file.path: file
        for manifest in manifests
        if "sources" in manifest.tables
        for file in manifest.tables["sources"].files
    }
    return {source: file for _, file in sorted(stored.items(), reverse=True) for source in _hashes(files, file)}


def _hashes(files: Files, file: StoredFile) -> list[str]:
    try:
        hashes: list[str] = read_file(files, file, ["source_hash"])["source_hash"].to_pylist()
    except LineageError:  # its own snapshot cannot be read, but a new one need not lean on it
        return []
    return hashes


def _fresh(batches: Iterable[pa.Table], shelf: dict[str, StoredFile], used: set[StoredFile]) -> Iterator[pa.Table]:
    seen: set[str] = set()
    for batch in batches:
        hashes = batch["source_hash"].to_pylist()
        used.update(shelf[source] for source in hashes if source in shelf)
        fresh = []
        for source in hashes:
            fresh.append(source not in shelf and source not in seen)
            seen.add(source)
        yield batch.filter(array_of(fresh, pa.bool_()))
