"""Blobs by the hash of what they were made from, kept for ever; a damaged one counts as absent."""

import hashlib
import os
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from lineage_pipeline.store.files import Files
from lineage_pipeline.store.parquet import BROKEN
from lineage_pipeline.vocabulary.errors import LineageError

SCHEMA = pa.schema([("key", pa.string()), ("blob", pa.binary()), ("checksum", pa.binary())])
HASH = re.compile(r"[0-9a-f]{8,}")
MOST_FILES = 32  # a bucket with more is rewritten as one file


class BlobCache:
    """One kind of blob under `<root>/_cache/<kind>/<first two digits>/`, in files that are only ever added."""

    def __init__(self, root: str | os.PathLike[str], kind: str, filesystem: fs.FileSystem | None = None) -> None:
        """Open the cache of one kind; nothing is created yet."""
        self._files = Files(root, filesystem)
        self._folder = f"_cache/{kind}"

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Give the blobs of those keys that are there and whole."""
        found: dict[str, bytes] = {}
        for bucket, wanted in sorted(_by_bucket(keys).items()):
            for path in self._paths(bucket):
                missing = [key for key in wanted if key not in found]
                if not missing:
                    break
                found.update(_sound(self._read(path, missing)))
        return found

    def put_many(self, blobs: Mapping[str, bytes]) -> None:
        """Add blobs; a key that is there already is stored twice until its bucket is merged."""
        for bucket, keys in sorted(_by_bucket(blobs).items()):
            self._write(bucket, {key: blobs[key] for key in keys})
            paths = self._paths(bucket)
            if len(paths) > MOST_FILES:
                self._merge(bucket, paths)

    def files(self) -> list[str]:
        """List the addresses of all files, for an engine that joins with `key` itself."""
        return [self._files.address(path) for path in self._files.list(self._folder) if path.endswith(".parquet")]

    def _paths(self, bucket: str) -> list[str]:
        return [path for path in self._files.list(f"{self._folder}/{bucket}") if path.endswith(".parquet")]

    def _read(self, path: str, keys: list[str] | None = None) -> pa.Table:
        try:
            with self._files.system.open_input_file(self._files.locate(path)) as source:
                content = pq.ParquetFile(source).read(columns=SCHEMA.names, use_threads=False)
                if keys is None:
                    return content
                return content.filter(pc.is_in(content["key"], value_set=pa.array(keys, pa.string())))
        except (*BROKEN, KeyError):
            return SCHEMA.empty_table()

    def _write(self, bucket: str, blobs: Mapping[str, bytes]) -> None:
        keys = sorted(blobs)
        columns = [keys, [blobs[key] for key in keys], [checksum(key, blobs[key]) for key in keys]]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), sink, compression="zstd", use_dictionary=False)
        path = f"{self._folder}/{bucket}/{uuid.uuid4().hex}.parquet"
        # Not synced: what a power cut tears is noticed by its checksum and made again.
        self._files.replace(path, sink.getvalue().to_pybytes(), durable=False)

    def _merge(self, bucket: str, paths: list[str]) -> None:
        blobs: dict[str, bytes] = {}
        for path in paths:
            blobs.update(_sound(self._read(path)))
        if blobs:
            self._write(bucket, blobs)
        for path in paths:
            self._files.remove(path)


def checksum(key: str, blob: bytes) -> bytes:
    """Tie a blob to its key."""
    return hashlib.blake2b(blob, digest_size=8, key=key.encode()[:64]).digest()


def _sound(content: pa.Table) -> Iterator[tuple[str, bytes]]:
    columns = (column.to_pylist() for column in content.columns)
    for key, blob, expected in zip(*columns, strict=True):
        if key is not None and blob is not None and checksum(key, blob) == expected:
            yield key, blob


def _by_bucket(keys: Iterable[str]) -> dict[str, list[str]]:
    buckets: defaultdict[str, list[str]] = defaultdict(list)
    for key in keys:
        if not HASH.fullmatch(key):
            raise LineageError(f"{key!r} is no key of the cache: it must be a hash in lower-case hexadecimal digits")
        buckets[key[:2]].append(key)
    return buckets
