"""Single files by name, and standard input."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lineage_pipeline.discover.gather import Discovery, RawFile, Rules, gather
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Snapshot

STDIN = "-"
"""The path of standard input."""


def discover_files(paths: Sequence[str], stdin: bytes, rules: Rules) -> Discovery:
    """Read the named files, each once, under the paths that were given."""
    snapshot = Snapshot("files", (), "", (), None, "none", None, None, 0, "")
    return gather(snapshot, read_files(paths, stdin), rules)


def read_files(paths: Sequence[str], stdin: bytes) -> Iterator[RawFile]:
    """Give the named files, each once."""
    for path in dict.fromkeys(paths):
        try:
            yield RawFile(path, stdin if path == STDIN else Path(path).read_bytes())
        except OSError as error:
            raise LineageError(f"{path}: {error.strerror}") from None
