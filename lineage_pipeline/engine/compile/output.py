"""OUTPUT of T-SQL: cut out of a statement, and written as the query or the INSERT that it stands for."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.words import keyword, made

_CHANGES = ("INSERT", "UPDATE", "DELETE", "MERGE", "WITH")
_ENDS = frozenset("FROM WHERE VALUES SELECT DEFAULT OPTION OUTPUT EXEC EXECUTE".split())


def without_output(tokens: list[Token], traits: Traits) -> tuple[list[Token], list[list[Token]]]:
    """A statement without its OUTPUT clauses, and those clauses as statements."""
    if not traits.batches or keyword(tokens[0]) not in _CHANGES or not any(_opens(token) for token in tokens):
        return tokens, []
    kept: list[Token] = []
    clauses: list[list[Token]] = []
    index, depth = 0, 0
    while index < len(tokens):
        depth += _step(tokens[index])
        if depth == 0 and index and _opens(tokens[index]):
            end = _end(tokens, index + 1)
            clauses.append(_statement(tokens[index], tokens[index + 1 : end]))
            index = end
        else:
            kept.append(tokens[index])
            index += 1
    return kept, clauses


def _opens(token: Token) -> bool:
    return keyword(token) == "OUTPUT"


def _step(token: Token) -> int:
    return (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)


def _end(tokens: Sequence[Token], index: int) -> int:
    depth = 0
    while index < len(tokens):
        depth += _step(tokens[index])
        if depth == 0 and keyword(tokens[index]) in _ENDS:
            break
        index += 1
    return index


def _statement(output: Token, clause: Sequence[Token]) -> list[Token]:
    """`a, b INTO t (x, y)` as `INSERT INTO t (x, y) SELECT a, b`."""
    into = next((index for index, token in enumerate(clause) if keyword(token) == "INTO"), len(clause))
    selected = [made("SELECT", output), *clause[:into]]
    return [made("INSERT", output), *clause[into:], *selected] if into < len(clause) else selected
