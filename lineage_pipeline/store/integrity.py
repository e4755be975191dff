"""Integrity of cache files: checksums are verified before a file is trusted."""

import hashlib
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.file_store import FileStore

DIGEST_SIZE = hashlib.sha256().digest_size
BATCH_SIZE = 1024
"""Rows that are in memory while a file is verified."""


def is_intact_file(files: FileStore, path: str) -> bool:
    """Return whether a Parquet file can be read to its end, and its page checksums match."""
    try:
        with pq.ParquetFile(files.locate(path), filesystem=files.system, page_checksum_verification=True) as file:
            rows = sum(batch.num_rows for batch in file.iter_batches(BATCH_SIZE))
            return bool(rows == file.metadata.num_rows)
    except (OSError, pa.ArrowException):
        return False


def is_intact_folder(files: FileStore, folder: str) -> bool:
    """Return whether every Parquet file below a folder is intact."""
    return all(is_intact_file(files, path) for path in files.list(folder) if path.endswith(".parquet"))


def discard_markers(files: FileStore, marks: Iterable[str]) -> None:
    """Remove the markers of finished work, so that it is done again; files without a marker are not read."""
    for path in marks:
        files.remove(path)


def prepend_digest(content: bytes) -> bytes:
    """Return a content with its digest before it."""
    return hashlib.sha256(content).digest() + content


def verify_digest(stored: bytes | None) -> bytes | None:
    """Return the content behind its digest; None where there is none, or it does not match."""
    if stored is None or len(stored) < DIGEST_SIZE:
        return None
    content = stored[DIGEST_SIZE:]
    return content if hashlib.sha256(content).digest() == stored[:DIGEST_SIZE] else None
