"""The contents of a revision, one by one, as `git cat-file` hands them over."""

import subprocess
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO

import msgspec

from lineage_pipeline.discover.gather import RawFile, too_large


class Blob(msgspec.Struct, frozen=True):
    """A file of a tree, by its object id; one that has more bytes than `most` is not read."""

    path: str
    id: str
    mode: str = "100644"
    most: int = 0


def contents(start: Callable[[], subprocess.Popen[bytes]], blobs: Iterable[Blob]) -> Iterator[RawFile]:
    """Read contents; git ends at an object that it would have to fetch, and is started again behind it."""
    left = iter(blobs)
    for blob in left:
        yield from _read_on(start, chain([blob], left))


def _read_on(start: Callable[[], subprocess.Popen[bytes]], blobs: Iterable[Blob]) -> Iterator[RawFile]:
    """Read contents until git ends."""
    with start() as process:
        assert process.stdin and process.stdout
        for blob in blobs:
            process.stdin.write(f"{blob.id}\n".encode("ascii"))
            process.stdin.flush()
            line = process.stdout.readline()
            header = line.split()
            if len(header) != 3:
                yield RawFile(blob.path, b"", absent=True)
                if not line:
                    return
                continue
            size = int(header[2])
            if blob.most and size > blob.most:
                _skip(process.stdout, size + 1)
                yield too_large(blob.path, blob.most)
                continue
            content = process.stdout.read(size)
            process.stdout.read(1)
            yield RawFile(blob.path, content)


def _skip(stream: IO[bytes], size: int) -> None:
    """Read past something without keeping it."""
    while size > 0 and (content := stream.read(min(size, 1 << 20))):
        size -= len(content)
