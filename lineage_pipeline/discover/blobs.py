"""The contents of a revision, one by one, as `git cat-file` hands them over."""

import subprocess
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO

import msgspec

from lineage_pipeline.discover.commands import answers
from lineage_pipeline.discover.raw import RawFile, too_large


class Blob(msgspec.Struct, frozen=True):
    """A file of a tree, by its object id; one that has more bytes than `most` is not read."""

    path: str
    id: str
    mode: str = "100644"
    most: int = 0


def contents(start: Callable[[], subprocess.Popen[bytes]], blobs: Iterable[Blob], repo: Path) -> Iterator[RawFile]:
    """Read contents; git ends at an object that it would have to fetch, and is started again behind it."""
    left = iter(blobs)
    unread = list(islice(left, MANY))
    while unread:
        unread = (yield from _read_on(start, chain(unread, left), repo)) or list(islice(left, MANY))


def _read_on(
    start: Callable[[], subprocess.Popen[bytes]], blobs: Iterator[Blob], repo: Path
) -> Generator[RawFile, None, list[Blob]]:
    """Read contents until git ends; what it was asked for and did not give comes back."""
    with start() as process:
        assert process.stdin
        answered = answers(process, repo)
        while asked := list(islice(blobs, MANY)):
            process.stdin.write("".join(f"{blob.id}\n" for blob in asked).encode("ascii"))
            process.stdin.flush()
            for number, blob in enumerate(asked, 1):
                line = answered.readline()
                yield _answered(answered, blob, line.split())
                if not line:
                    return asked[number:]
    return []


MANY = 200
"""How many contents are asked for at once: few enough that a pipe takes all the names without being read."""


def _answered(stream: IO[bytes], blob: Blob, header: Sequence[bytes]) -> RawFile:
    """Read the content that a line announces."""
    if len(header) != 3:
        return RawFile(blob.path, b"", absent=True)
    size = int(header[2])
    if blob.most and size > blob.most:
        _skip(stream, size + 1)
        return too_large(blob.path, blob.most)
    content = stream.read(size)
    stream.read(1)
    return RawFile(blob.path, content)


def _skip(stream: IO[bytes], size: int) -> None:
    """Read past something without keeping it."""
    while size > 0 and (content := stream.read(min(size, 1 << 20))):
        size -= len(content)
