"""Marks of a statement: its fingerprint, what its comments say, and how complex it is."""

import hashlib
from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.vocabulary import ir

_EXACT = (TokenType.STRING, TokenType.IDENTIFIER)


def fingerprint(tokens: Sequence[Token]) -> str:
    """The same for two statements that differ in layout, comments and letter case of unquoted words only."""
    words = "\0".join([token.text for token in tokens])
    exact = "\0".join([token.text for token in tokens if token.token_type in _EXACT])
    return hashlib.sha256(f"{words.lower()}\0{exact}".encode()).hexdigest()[:16]


def pragmas(tokens: Sequence[Token]) -> Iterator[str]:
    """What comments say to this program."""
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
