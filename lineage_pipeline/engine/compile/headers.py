"""Headers of T-SQL modules: their parameters, read off the tokens before the body."""

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.engine.compile.words import keyword
from lineage_pipeline.vocabulary import ir

_OPEN, _CLOSE = TokenType.L_PAREN, TokenType.R_PAREN
_NO_TYPE = frozenset("AS NULL NOT VARYING OUT OUTPUT READONLY =".split())
_HEADER_ENDS = frozenset("RETURNS WITH FOR AS BEGIN".split())


def parameters(tokens: Sequence[Token], origin: int, traits: Traits) -> tuple[ir.ColumnDef, ...]:
    """The parameters of a module; `tokens` begin behind its name, places count from `origin`."""
    return tuple(_parameter(part, origin, traits) for part in _parts(tokens))


def outputs(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The parameters that are handed back to the caller."""
    return tuple(
        "@" + part[1].text.lower()
        for part in _parts(tokens)
        if any(keyword(token) in ("OUT", "OUTPUT") for token in part[2:])
    )


def _parts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of each parameter: from its mark to the comma or bracket behind it."""
    depth, begin = 0, -1
    base = 1 if tokens and tokens[0].token_type is _OPEN else 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is _OPEN) - (token.token_type is _CLOSE)
        ends = token.token_type is TokenType.COMMA and depth == base
        ends = ends or depth < base or (depth == base and begin < 0 and keyword(token) in _HEADER_ENDS)
        if ends and begin >= 0:
            yield tokens[begin:index]
            begin = -1
        if depth < base or (begin < 0 and depth == base and keyword(token) in _HEADER_ENDS):
            return
        if begin < 0 and depth == base and token.token_type is TokenType.PARAMETER:
            begin = index
        elif begin >= 0 and depth == base and keyword(token) in ("RETURNS", "WITH", "FOR"):
            yield tokens[begin:index]
            return
    if begin >= 0:
        yield tokens[begin:]


def _parameter(tokens: Sequence[Token], origin: int, traits: Traits) -> ir.ColumnDef:
    name = tokens[1] if len(tokens) > 1 else tokens[0]
    declared: list[str] = []
    default = ""
    for index, token in enumerate(tokens[2:], 2):
        word = keyword(token)
        if token.token_type is TokenType.EQ:
            default = "".join(item.text for item in tokens[index + 1 :] if keyword(item) not in _NO_TYPE)
            break
        if word not in _NO_TYPE:
            declared.append(token.text)
    return ir.ColumnDef(
        "@" + name.text.lower(),
        "@" + name.text,
        _type(declared, traits),
        default=default,
        start=tokens[0].start - origin,
        end=name.end + 1 - origin,
    )


def _type(words: Sequence[str], traits: Traits) -> str:
    text = "".join(words)
    try:
        return spelling(exp.DataType.build(text, dialect=traits.name, udt=True), traits.name) if text else ""
    except SqlglotError:
        return text.upper()
