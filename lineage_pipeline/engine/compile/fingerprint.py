"""Fingerprint, pragmas and complexity of a statement."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS
from lineage_pipeline.model import ir

_TOKEN_TEXT = attrgetter("text")
_STRING = TokenType.STRING
_CASE_SENSITIVE_TOKENS = STRING_TOKENS | {TokenType.IDENTIFIER}


def compute_fingerprint(piece: RawStatement, text: str) -> str:
    """Equal for two statements that differ only in layout, comments and the case of unquoted words."""
    plain = piece.use is None and piece.stop < 0
    said, exact = (plain and _normalize_plain_text(text[piece.start : piece.end])) or _normalize_tokens(piece)
    return hashlib.sha256("\0".join((said, *exact)).encode()).hexdigest()[:16]


def _normalize_plain_text(written: str) -> tuple[str, list[str]] | None:
    """The normalized words and the strings of a text; None if it has quotes, escapes or comments."""
    if any(map(written.__contains__, _UNSAFE_MARKS)):
        return None
    said = _normalize_words(written)
    parts = written.split("'")
    marked = any([part[-1:].isalnum() for part in parts[:-1:2]])  # noqa: C419 - a generator takes longer
    return None if marked or any(map(said.__contains__, _NAME_FUNCTIONS)) else (said, parts[1::2])


def _normalize_words(words: str) -> str:
    """Words without layout and letter case."""
    return "".join(words.split()).lower()


def _normalize_tokens(piece: RawStatement) -> tuple[str, list[str]]:
    """The words of a statement, and those whose case matters; what was inserted has no width."""
    written = [token for token in piece.tokens if token.start <= token.end]
    texts, kinds = list(map(_TOKEN_TEXT, written)), [token.token_type for token in written]
    said = [f"'{word}'" if kind is _STRING else word for word, kind in zip(texts, kinds, strict=True)]
    return _normalize_words("".join(said)), [
        word for word, kind in zip(texts, kinds, strict=True) if kind in _CASE_SENSITIVE_TOKENS
    ]


_UNSAFE_MARKS = ("''", "\\", '"', "`", "[", "--", "/*", "#", "//", "$")
"""Characters that quote a name, escape, or begin a comment in some dialect."""

_NAME_FUNCTIONS = ("identifier(", "table(:")
"""Functions that turn a text into a name."""


@lru_cache(maxsize=1)
def _may_have_pragmas(text: str) -> bool:
    """Whether a text may contain a `lineage:` comment."""
    return "lineage:" in text.lower()


def read_pragmas(tokens: Sequence[Token], text: str) -> Iterator[str]:
    """The `lineage:` comments of a statement."""
    if not _may_have_pragmas(text):
        return
    for comments in [token.comments for token in tokens if token.comments]:
        for comment in comments:
            if comment.strip().lower().startswith("lineage:"):
                yield comment.strip()[len("lineage:") :].strip()


def compute_complexity(relations: Sequence[ir.Relation]) -> int:
    """One for the statement, plus one per further scope, join, condition and set operation."""
    score = max(len(relations), 1)
    for relation in relations:
        if isinstance(relation, ir.Select):
            score += max(len(relation.sources) - 1, 0)
            score += sum(part is not None for part in (relation.where, relation.having, relation.qualify))
            score += bool(relation.group)
        elif isinstance(relation, ir.SetOperation):
            score += len(relation.branches) - 1
    return score
