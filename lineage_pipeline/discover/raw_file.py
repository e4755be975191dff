"""Raw files before they become rows: the bytes, or the rows recalled from an earlier run."""

from typing import Protocol

import msgspec

from lineage_pipeline.dialects.detect import DialectGuess
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.tables import Diagnostic, SqlFile

MAX_BYTES_PER_CHARACTER = 4
"""Most bytes per character in any encoding; a file larger than its character limit allows is not read."""


class RecalledFile(msgspec.Struct, frozen=True):
    """What an earlier run found about an unchanged file: its row, its dialect guess and its findings."""

    file: SqlFile
    guess: DialectGuess | None = None
    findings: tuple[Diagnostic, ...] = ()


class RawFile(msgspec.Struct, frozen=True):
    """The bytes of a file; `problem` is why it could not be read, `excess` the limit it exceeds.

    An `absent` file has no content in a partial clone; a `recalled` file was not read again.
    """

    path: str
    content: bytes
    problem: str = ""
    excess: str = ""
    absent: bool = False
    recalled: RecalledFile | None = None


class OptionsLookup(Protocol):
    """Settings that give the options of a path."""

    def options_for(self, path: str) -> Options:
        """Return the options of the system that this path belongs to."""


def max_file_bytes(path: str, rules: OptionsLookup) -> int:
    """Return the largest size in bytes at which a file is read at all."""
    return MAX_BYTES_PER_CHARACTER * rules.options_for(path).limits.bytes


def oversized_file(path: str, most: int) -> RawFile:
    """Build the raw file of a path whose content exceeds the limit."""
    return RawFile(path, b"", excess=f"{most // MAX_BYTES_PER_CHARACTER} characters")
