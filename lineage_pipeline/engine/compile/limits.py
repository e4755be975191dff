"""Limits come before the parser, which cannot be interrupted: they are read off the tokens."""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot.parser import Parser
from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Limits

_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)

_BARE_JOINS, _FEW = 14, 40
# sqlglot tries for each join without a condition whether that of a later one is meant for it, and for each of those
# again: the time doubles with each. May go when it remembers what it tried.
# A bracket behind a word that may be a type is read twice, once as that of a type, and so is all that stands in it.
_TYPES = 12
_PAREN, _BRACKET = TokenType.L_PAREN, TokenType.L_BRACKET
_CONDITIONS = (TokenType.ON, TokenType.USING, TokenType.CROSS, TokenType.NATURAL)
_BEFORE_NAMES = (TokenType.ALIAS, TokenType.COMMA, TokenType.FROM, TokenType.JOIN)


def over_limits(piece: Piece, limits: Limits) -> ir.Finding | None:
    """Why a statement must not reach the parser, if it must not."""
    tokens = piece.tokens
    end = tokens[-1].end + 1 - tokens[0].start
    if len(tokens) > limits.tokens:
        return over("the statement", f"{limits.tokens} tokens", end)
    if len(tokens) <= _FEW:
        return None
    kinds = piece.kinds
    if kinds.count(TokenType.JOIN) > _BARE_JOINS and max(_bare_joins(kinds), _joined_selects(kinds)) > _BARE_JOINS:
        return over("the number of joins without a condition", str(_BARE_JOINS), end)
    if kinds.count(_PAREN) + kinds.count(_BRACKET) > _TYPES and _nested_types(kinds) > _TYPES:
        return over("the nesting of types", f"{_TYPES} levels", end)
    if len(tokens) <= limits.depth:
        return None
    if sum(map(kinds.count, _OPENING)) > limits.depth and _deepest(kinds) > limits.depth:
        return over("the nesting", f"{limits.depth} levels", end)
    if kinds.count(_BRACKET) > limits.depth and _subscripts(kinds) > limits.depth:
        return over("the nesting", f"{limits.depth} levels", end)
    return None


def _bare_joins(kinds: Sequence[TokenType]) -> int:
    """How many joins have no condition, and need one; behind AS or a comma, CROSS is a name that the parser tries."""
    names = sum(kind in _CONDITIONS and before in _BEFORE_NAMES for before, kind in pairwise(kinds))
    return kinds.count(TokenType.JOIN) - sum(map(kinds.count, _CONDITIONS)) + names


def _joined_selects(kinds: Sequence[TokenType]) -> int:
    """How many joins have a query without brackets behind them, which no engine takes and the parser tries."""
    return sum(pair == (TokenType.JOIN, TokenType.SELECT) for pair in pairwise(kinds))


def _nested_types(kinds: Sequence[TokenType]) -> int:
    """How many brackets behind words that may be types are open at once, at most."""
    if _deepest(kinds) <= _TYPES:
        return 0
    opened: list[bool] = []
    deepest = 0
    for index, kind in enumerate(kinds):
        if kind is _PAREN or kind is _BRACKET:
            opened.append(kinds[index - 1] in Parser.TYPE_TOKENS)
            deepest = max(deepest, sum(opened)) if opened[-1] else deepest
        elif opened and (kind is TokenType.R_PAREN or kind is TokenType.R_BRACKET):
            opened.pop()
    return deepest


def _subscripts(kinds: Sequence[TokenType]) -> int:
    """How many subscripts one value has, at most: the parser goes through all that it has for each further one."""
    chains, longest = [0], 0
    for before, kind in pairwise(kinds):
        if kind is _BRACKET:
            chains[-1] = chains[-1] + 1 if before is TokenType.R_BRACKET else 1
            longest = max(longest, chains[-1])
            chains.append(0)
        elif kind is TokenType.R_BRACKET and len(chains) > 1:
            chains.pop()
    return longest


def _deepest(kinds: Sequence[TokenType]) -> int:
    """How many brackets and CASEs are open at once, at most."""
    depth = deepest = 0
    for kind in kinds:
        if kind in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif kind in _CLOSING:
            depth -= 1
    return deepest


def over(what: str, limit: str, end: int) -> ir.Finding:
    """The finding that something is over a limit, from the start of a statement to an offset in it."""
    return ir.Finding("LIMIT_EXCEEDED", (("what", what), ("limit", limit)), 0, end)
