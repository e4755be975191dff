"""What a fault may have done to files that nobody would miss: they are looked through before they are trusted."""

import hashlib
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.store.files import Files

DIGEST = hashlib.sha256().digest_size
AT_ONCE = 1024
"""Rows that are held while a file is looked through."""


def intact(files: Files, path: str) -> bool:
    """Say whether a Parquet file can be read to its end, and its pages are what their checksums say."""
    try:
        with pq.ParquetFile(files.locate(path), filesystem=files.system, page_checksum_verification=True) as file:
            rows = sum(batch.num_rows for batch in file.iter_batches(AT_ONCE))
            return bool(rows == file.metadata.num_rows)
    except (OSError, pa.ArrowException):
        return False


def whole(files: Files, folder: str) -> bool:
    """Say whether every Parquet file below a folder is intact."""
    return all(intact(files, path) for path in files.list(folder) if path.endswith(".parquet"))


def discard(files: Files, marks: Iterable[str]) -> None:
    """Take away what says that something is finished, so that it is made again; nobody reads a file without it."""
    for path in marks:
        files.remove(path)


def sealed(content: bytes) -> bytes:
    """Give a content with its digest before it."""
    return hashlib.sha256(content).digest() + content


def opened(stored: bytes | None) -> bytes | None:
    """Give the content behind its digest; None where there is none, or where it is another."""
    if stored is None or len(stored) < DIGEST:
        return None
    content = stored[DIGEST:]
    return content if hashlib.sha256(content).digest() == stored[:DIGEST] else None
