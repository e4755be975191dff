"""The INSERTs of `FROM source INSERT … INSERT …`: each is a statement with the source behind its select list."""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.pieces import Piece

_CLAUSES = frozenset("WHERE GROUP HAVING ORDER SORT DISTRIBUTE CLUSTER LIMIT UNION LATERAL WINDOW".split())


def arms(tokens: Sequence[Token]) -> Iterator[Piece]:
    """A statement, or each INSERT of `FROM source INSERT … INSERT …` with the source behind its select list."""
    begin = _set_begin(tokens)
    if begin:
        yield Piece(tokens[:begin])
        tokens = tokens[begin:]
    several = tokens[0].token_type in _SOURCE_FIRST and _INSERT in map(_KIND, tokens)
    start, heads = _inserts(tokens) if several else (-1, [])
    if not heads:
        yield Piece(tokens)
        return
    shared = tokens[start : heads[0]]
    for position, head in enumerate(heads):
        end = heads[position + 1] if position + 1 < len(heads) else len(tokens)
        arm = tokens[head:end]
        cut_at = _clause(arm)
        ordered = [*tokens[:start], *arm[:cut_at], *shared, *arm[cut_at:]]
        first = tokens[0].start if position == 0 else arm[0].start
        yield Piece(ordered, begin=first, stop=int(arm[-1].end) + 1)


def _set_begin(tokens: Sequence[Token]) -> int:
    """Flink: where the first statement of `EXECUTE STATEMENT SET BEGIN …` begins, or 0."""
    if tokens[0].text.upper() not in ("EXECUTE", "COMPILE"):
        return 0
    words = [token.text.upper() for token in tokens[:12]]
    begin = words.index("BEGIN") + 1 if "BEGIN" in words else 0
    return begin if words[max(begin - 3, 0) : begin] == ["STATEMENT", "SET", "BEGIN"] and begin < len(tokens) else 0


_SOURCE_FIRST = (TokenType.FROM, TokenType.WITH)
_INSERT = TokenType.INSERT
_KIND = attrgetter("token_type")


def _inserts(tokens: Sequence[Token]) -> tuple[int, list[int]]:
    """Where the source of a statement that begins with it stands, and where its INSERTs do."""
    depth, start, heads = 0, -1, []
    opening, closing = TokenType.L_PAREN, TokenType.R_PAREN
    for index, token in enumerate(tokens):
        depth += (token.token_type is opening) - (token.token_type is closing)
        if depth:
            continue
        if token.token_type is TokenType.FROM and start < 0:
            start = index
        elif token.token_type is TokenType.INSERT and start >= 0:
            heads.append(index)
        elif token.token_type in (TokenType.SELECT, TokenType.INSERT) and start < 0:
            break
    return start, heads


def _clause(tokens: Sequence[Token]) -> int:
    """Where the clauses behind a select list begin."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.text.upper().split(" ")[0] in _CLAUSES and token.token_type is not TokenType.IDENTIFIER:
            return index
    return len(tokens)
