"""Failures: why a text could not be read, and where the reader stopped."""

import re

import msgspec
from sqlglot.errors import ParseError

from lineage_pipeline.engine.compile.pieces import Piece


class Failure(msgspec.Struct, frozen=True):
    """Why a text could not be read, and the characters where the reader stopped."""

    reason: str
    start: int
    end: int


_TOKEN = re.compile(r"<Token .*?text: (.*?), line: .*?>")
"""How sqlglot shows a token in its messages."""

_LACKING = re.compile(r"Required keyword: .* missing for <class '(?:\w+\.)*(\w+)'>")
"""How it says that a clause or an operator has not all that it needs."""


def failure(error: ParseError, piece: Piece) -> Failure:
    """What an error of the parser says of a statement."""
    detail = error.errors[0] if error.errors else {}
    said = first_line(str(detail.get("description") or error))
    lacking = _LACKING.match(said)
    reason = f"something is missing for {lacking[1].upper()}" if lacking else _TOKEN.sub(r"\1", said).rstrip(".")
    place = (detail.get("line"), detail.get("col"))
    for token in piece.tokens:
        if (token.line, token.col) == place:
            return Failure(reason, token.start, token.end + 1)
    return Failure(reason, piece.start, piece.end)


def first_line(text: str) -> str:
    """The first line of a message."""
    return text.strip().split("\n", 1)[0]
