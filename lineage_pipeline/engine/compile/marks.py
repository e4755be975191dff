"""Marks of a statement: its fingerprint, what its comments say, and how complex it is."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.vocabulary import ir

_TEXT = attrgetter("text")
_EXACT = (TokenType.STRING, TokenType.IDENTIFIER)


def fingerprint(piece: Piece, text: str) -> str:
    """The same for two statements that differ in layout, comments and letter case of unquoted words only."""
    written = text[piece.start : piece.end] if piece.use is None and piece.stop < 0 else "'"
    exact = ""
    if any(map(written.__contains__, _MARKS)):
        texts = list(map(_TEXT, piece.tokens))
        exact = "\0".join([word for word, kind in zip(texts, piece.kinds, strict=True) if kind in _EXACT])
        written = "".join(texts)
    said = "".join(written.split()).lower()
    return hashlib.sha256(f"{said}\0{exact}".encode()).hexdigest()[:16]


_MARKS = ("'", '"', "`", "[", "--", "/*", "#", "//", "$")
"""Where none of these stands, the words of a statement are its text: nothing is quoted, nothing is a comment."""


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
