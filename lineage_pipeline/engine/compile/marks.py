"""Marks of a statement: its fingerprint, what its comments say, and how complex it is."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.vocabulary import ir

_TEXT = attrgetter("text")
_STRING = TokenType.STRING
_EXACT = (_STRING, TokenType.IDENTIFIER)


def fingerprint(piece: Piece, text: str) -> str:
    """The same for two statements that differ in layout, comments and letter case of unquoted words only."""
    plain = piece.use is None and piece.stop < 0
    said, exact = (plain and _plain(text[piece.start : piece.end])) or _spoken(piece)
    return hashlib.sha256("\0".join((said, *exact)).encode()).hexdigest()[:16]


def _plain(written: str) -> tuple[str, list[str]] | None:
    """A text that is nothing but its own words, and its strings; None where something is quoted or left out."""
    if any(map(written.__contains__, _MARKS)):
        return None
    said = _packed(written)
    parts = written.split("'")
    marked = any([part[-1:].isalnum() for part in parts[:-1:2]])  # noqa: C419 - a generator takes longer
    return None if marked or any(map(said.__contains__, _NAMING)) else (said, parts[1::2])


def _packed(words: str) -> str:
    """Words without their layout and letter case."""
    return "".join(words.split()).lower()


def _spoken(piece: Piece) -> tuple[str, list[str]]:
    """The words of a statement, and those whose letter case counts."""
    texts, kinds = list(map(_TEXT, piece.tokens)), piece.kinds
    said = [f"'{word}'" if kind is _STRING else word for word, kind in zip(texts, kinds, strict=True)]
    return _packed("".join(said)), [word for word, kind in zip(texts, kinds, strict=True) if kind in _EXACT]


_MARKS = ("''", "\\", '"', "`", "[", "--", "/*", "#", "//", "$")
"""What quotes names, escapes, or begins a comment in one dialect or another."""

_NAMING = ("identifier(", "table(:")
"""What makes names of texts: those are the words then."""


@lru_cache(maxsize=1)
def _speaks(text: str) -> bool:
    """Whether a text may say anything to this program; hardly any does."""
    return "lineage:" in text.lower()


def pragmas(tokens: Sequence[Token], text: str) -> Iterator[str]:
    """What comments in a statement of a text say to this program."""
    if not _speaks(text):
        return
    for comments in [token.comments for token in tokens if token.comments]:
        for comment in comments:
            if comment.strip().lower().startswith("lineage:"):
                yield comment.strip()[len("lineage:") :].strip()


def complexity(relations: Sequence[ir.Relation]) -> int:
    """One for the statement, one for each scope beyond the first and for each join, condition and set operation."""
    score = max(len(relations), 1)
    for relation in relations:
        if isinstance(relation, ir.Select):
            score += max(len(relation.sources) - 1, 0)
            score += sum(part is not None for part in (relation.where, relation.having, relation.qualify))
            score += bool(relation.group)
        elif isinstance(relation, ir.SetOperation):
            score += len(relation.branches) - 1
    return score
