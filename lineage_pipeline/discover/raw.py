"""Files on their way in: as they lie there, or as they are known from before."""

from typing import Protocol

import msgspec

from lineage_pipeline.dialects.evidence import Guess
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.tables import Diagnostic, SqlFile

WIDEST = 4
"""The most bytes that a character takes in any encoding: what is larger than its characters may be need not be read."""


class Recalled(msgspec.Struct, frozen=True):
    """What was found about a file that nobody touched since: its row, what its words give away, and findings."""

    file: SqlFile
    guess: Guess | None = None
    findings: tuple[Diagnostic, ...] = ()


class RawFile(msgspec.Struct, frozen=True):
    """A file as it lies there; `problem` says why it could not be read, `excess` which limit it is over.

    One that is `absent` has no content here, though it has in its repository; one that is `recalled` was not read.
    """

    path: str
    content: bytes
    problem: str = ""
    excess: str = ""
    absent: bool = False
    recalled: Recalled | None = None


class Optioned(Protocol):
    """What is asked of the settings about a file that is known."""

    def options_for(self, path: str) -> Options:
        """Give the options of the system that this path belongs to."""


def most_bytes(path: str, rules: Optioned) -> int:
    """Say how large a file may be for it to be read at all."""
    return WIDEST * rules.options_for(path).limits.bytes


def too_large(path: str, most: int) -> RawFile:
    """Give a file that is too large to be read."""
    return RawFile(path, b"", excess=f"{most // WIDEST} characters")
