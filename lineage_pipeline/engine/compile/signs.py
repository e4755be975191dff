"""Signs and words before an operand that sqlglot reads otherwise than PostgreSQL and its kin."""

from collections.abc import Callable, Sequence

from sqlglot import exp, parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.spellings import INTERVAL_UNITS, PREFIX_SIGNS, TEXT_TYPES
from lineage_pipeline.engine.compile.words import ENDS, SIGN, behind_brackets, keyword, made

Sign = Callable[[parser.Parser], exp.Expr | None]


def signs_of(name: str, known: dict[TokenType, Sign]) -> dict[TokenType, Sign]:
    """How a grammar reads the signs before an operand."""
    if name not in PREFIX_SIGNS:
        return {**known, TokenType.PLUS: _signed}
    return {
        **known,
        TokenType.PLUS: _signed,
        TokenType.PARAMETER: _absolute,
        TokenType.PIPE_SLASH: _called("DSQRT"),
        TokenType.DPIPE_SLASH: _called("DCBRT"),
    }


def _signed(self: parser.Parser) -> exp.Expr | None:
    """An operand with the sign + before it, which sqlglot drops although engines name columns after it."""
    operand = self._parse_unary()
    if operand is None:
        return None
    found = exp.Paren(this=operand)
    found.meta[SIGN] = True
    return found


def _absolute(self: parser.Parser) -> exp.Expr | None:
    """`@ x`, how far a number is from zero; a name that touches the sign is a variable of the program around."""
    sign, following = self._prev, self._curr
    touches = following.start == sign.end + 1
    if sign.text != "@" or (touches and following.token_type not in _OPERANDS):
        self._retreat(self._index - 1)
        return self._parse_type()
    return self.expression(exp.Abs(this=self._parse_term()))  # which is an error where no operand follows


_OPERANDS = (TokenType.L_PAREN, TokenType.DASH, TokenType.PLUS)


def _called(name: str) -> Sign:
    """A sign that is a function of its operand, which reaches over sums and products."""
    return lambda self: exp.Anonymous(this=name, expressions=[self._parse_term()])


def cast_intervals(tokens: list[Token]) -> list[Token]:
    """`INTERVAL '1' DAY` as `'1'::INTERVAL DAY`: sqlglot cannot tell it from `INTERVAL '1 day'`, which has no unit."""
    starts = [index for index, token in enumerate(tokens) if token.token_type is TokenType.INTERVAL]
    kept: list[Token] = []
    begin = 0
    for index in starts:
        digits = behind_brackets(tokens, index + 1) if _kind(tokens, index + 1) is TokenType.L_PAREN else index + 1
        unit = digits + 1
        if _kind(tokens, digits) is not TokenType.STRING or (digits == index + 1 and not _is_unit(tokens, unit)):
            continue
        text, word = tokens[digits], tokens[index]
        sign = Token(TokenType.DCOLON, "::", word.line, word.col, word.start, word.end)
        kept += [*tokens[begin:index], text, sign, made("INTERVAL", word), *tokens[index + 1 : digits]]
        begin = unit
        while _is_unit(tokens, begin):
            kept.append(tokens[begin])
            begin += 1
            begin = behind_brackets(tokens, begin) if _kind(tokens, begin) is TokenType.L_PAREN else begin
            if begin < len(tokens) and keyword(tokens[begin]) == "TO" and _is_unit(tokens, begin + 1):
                kept.append(tokens[begin])
                begin += 1
    return [*kept, *tokens[begin:]] if begin else tokens


def _is_unit(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and keyword(tokens[index]) in INTERVAL_UNITS


def _kind(tokens: Sequence[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if index < len(tokens) else None


def cast_texts(tokens: Sequence[Token]) -> list[Token]:
    """`cidr '10.0.0.0/8'`, a text under the name of a type, as `'10.0.0.0/8'::cidr`."""
    kept: list[Token] = []
    index = 0
    listed = any(keyword(token) == "COLUMNS" for token in tokens)  # of a document: there PATH says where they are
    types = TEXT_TYPES - {"PATH"} if listed else TEXT_TYPES
    while index < len(tokens):
        word = tokens[index]
        if keyword(word) in types and _kind(tokens, index + 1) is TokenType.STRING:
            sign = Token(TokenType.DCOLON, "::", word.line, word.col, word.start, word.end)
            kept += [tokens[index + 1], sign, word]
            index += 2
            continue
        kept.append(word)
        index += 1
    return kept


def called_factorials(tokens: Sequence[Token]) -> list[Token]:
    """`5!`, `n!` or `(n + 1)!` as a call of FACTORIAL."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        follows = _kind(tokens, index + 1)
        if keyword(token) != "!" or not kept or follows in (TokenType.EQ, TokenType.TILDE):
            kept.append(token)
            continue
        begin = _operand(kept)
        opened = [made("factorial", kept[begin]), made("(", kept[begin])]
        kept = [*kept[:begin], *opened, *kept[begin:], made(")", kept[-1])]
    return kept


def _operand(tokens: Sequence[Token]) -> int:
    """Where the operand begins that ends with the last token: a name, a number, a call, or something in brackets."""
    begin, depth = len(tokens) - 1, 0
    while begin > 0:
        depth += (tokens[begin].token_type is TokenType.R_PAREN) - (tokens[begin].token_type is TokenType.L_PAREN)
        before = tokens[begin - 1]
        called = tokens[begin].token_type is TokenType.L_PAREN and before.token_type is TokenType.VAR
        dotted = TokenType.DOT in (before.token_type, tokens[begin].token_type)
        if depth == 0 and not called and not dotted:
            break
        begin -= 1
    return begin


def bound_texts(tokens: Sequence[Token]) -> list[Token]:
    """psql: `:'v'` is a variable of the client as a text."""
    return [token for index, token in enumerate(tokens) if not _binds(tokens, index)]


def _binds(tokens: Sequence[Token], index: int) -> bool:
    """Whether a colon begins a variable: a text stands behind it, and nothing before it that it could belong to."""
    before, following = tokens[max(index - 1, 0)], tokens[min(index + 1, len(tokens) - 1)]
    text = following.token_type is TokenType.STRING and before.token_type not in ENDS
    return tokens[index].token_type is TokenType.COLON and text
