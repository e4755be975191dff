"""Blanks that somebody fills before a statement runs: `${schema}.t`, `{{ table }}`, `:'value'`, `%(name)s`, `<name>`.

Where a name stands, a blank is part of that name; elsewhere it is a value from outside.
"""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import keyword

_NAMES_FOLLOW = frozenset(
    "FROM JOIN INTO TABLE VIEW UPDATE OVERWRITE ONLY DATABASE SCHEMA USE EXISTS REFERENCES TRUNCATE INDEX".split()
)
"""Words behind which a blank stands for a name."""

_BEFORE_BLANKS = _NAMES_FOLLOW | frozenset(
    ["GROUP BY", "ORDER BY", *"SELECT WHERE AND OR ON FUNCTION PROCEDURE WAREHOUSE ROLE = AS".split()]
)
"""Words behind which `<` opens a blank."""

_OPENINGS = (TokenType.L_BRACE, TokenType.L_PAREN)
_CLOSING = {TokenType.L_BRACE: TokenType.R_BRACE, TokenType.L_PAREN: TokenType.R_PAREN}
_LONGEST = 40


def without_blanks(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with names and placeholders in the place of blanks."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _behind_blank(tokens, index)
        if end == index:
            kept.append(tokens[index])
            index += 1
            continue
        begin = index
        while end < len(tokens) and _touches(tokens, end) and _is_part(tokens, end):
            end = max(_behind_blank(tokens, end), end + 1)
        first = kept[-1] if kept else None
        if first is not None and first.end + 1 == tokens[begin].start and _is_word(first):
            kept.pop()
        else:
            first = tokens[begin]
        kept.extend(_filled(first, tokens[begin:end], kept, tokens[end] if end < len(tokens) else None))
        index = end
    return kept


def _behind_blank(tokens: Sequence[Token], index: int) -> int:
    """The token behind a blank that begins at a token, or that token."""
    text = tokens[index].text
    following = tokens[index + 1] if index + 1 < len(tokens) and _touches(tokens, index + 1) else None
    if following is None:
        return index
    if text[-1:] in ("$", "%", "{") and following.token_type in _OPENINGS:
        end = _behind_closing(tokens, index + 1)
        if text == "{":
            return end + 1 if end < len(tokens) and tokens[end].text == "}" else index
        typed = text == "%" and end < len(tokens) and keyword(tokens[end]) in ("S", "D")
        return end + typed if text[-1] == "$" or typed else index
    if text == "%" and keyword(following) == "S":
        return index + 2
    if text == "<" and _is_word(following) and (not index or _stands_apart(tokens, index)):
        end = next((at for at in range(index + 2, min(index + _LONGEST, len(tokens))) if tokens[at].text == ">"), 0)
        inner = tokens[index + 1 : end]
        return end + 1 if end and all(_is_word(token) or token.text == "-" for token in inner) else index
    if text == ":" and following.token_type in (TokenType.STRING, TokenType.IDENTIFIER, TokenType.VAR):
        return index + 2 if index and tokens[index - 1].end + 1 < tokens[index].start else index
    return index + 2 if text in ("@", "&") and _is_word(following) else index


def _stands_apart(tokens: Sequence[Token], index: int) -> bool:
    """Whether no value that could be compared, and no type, stands before `<`."""
    before = tokens[index - 1]
    return before.token_type in (TokenType.DOT, TokenType.COMMA, TokenType.L_PAREN) or keyword(before) in _BEFORE_BLANKS


def _behind_closing(tokens: Sequence[Token], index: int) -> int:
    """The token behind the bracket that closes the one at a token; the token before it where that is far away."""
    closing = _CLOSING[tokens[index].token_type]
    for at in range(index + 1, min(index + _LONGEST, len(tokens))):
        if tokens[at].token_type is closing:
            return at + 1
    return index - 1


def _touches(tokens: Sequence[Token], index: int) -> bool:
    return bool(tokens[index - 1].end + 1 == tokens[index].start)


def _is_word(token: Token) -> bool:
    return token.token_type is not TokenType.STRING and (token.text[:1].isalnum() or token.text[:1] == "_")


def _is_part(tokens: Sequence[Token], index: int) -> bool:
    return _is_word(tokens[index]) or _behind_blank(tokens, index) > index


def _filled(first: Token, blank: Sequence[Token], before: Sequence[Token], after: Token | None) -> list[Token]:
    """What stands for a blank: a quoted name as it was written, or a placeholder."""
    written = "".join(token.text for token in ([first, *blank] if first is not blank[0] else blank))
    last = blank[-1]
    previous = before[-1] if before else None
    dotted = previous is not None and previous.token_type is TokenType.DOT
    dotted = dotted or (after is not None and after.token_type is TokenType.DOT)
    named = previous is not None and keyword(previous) in _NAMES_FOLLOW
    whole = first is blank[0] and len(first.text) == 1 and first.text != "<"
    if dotted or named or not whole or last.token_type is TokenType.IDENTIFIER:
        return [Token(TokenType.IDENTIFIER, written, first.line, first.col, first.start, last.end)]
    place = (first.line, first.col, first.start, last.end)
    return [Token(TokenType.COLON, ":", *place), Token(TokenType.VAR, "blank", *place)]
