"""Words: reading keywords, names and brackets off a list of tokens."""

from collections.abc import Sequence

from sqlglot.tokens import Token, Tokenizer, TokenType

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.vocabulary import ir

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NATIONAL_STRING)

ENDS = (
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
)
"""What an operand may end with."""

SIGN = "sign"
"""What marks brackets that nobody wrote: they stand for the sign + before an operand."""


def keyword(token: Token) -> str:
    """The keyword that a token may be: quoted names and strings are none."""
    if token.token_type in _QUOTED:
        return ""
    return token.text.upper()


def keywords(tokens: Sequence[Token]) -> list[str]:
    """The keywords that tokens may be, in order: there are many, and a call for each takes long."""
    return ["" if token.token_type in _QUOTED else token.text.upper() for token in tokens]


def made(word: str, token: Token) -> Token:
    """A word that nobody wrote, at the place of a token."""
    kind = Tokenizer.KEYWORDS.get(word) or Tokenizer.SINGLE_TOKENS.get(word, TokenType.VAR)
    return Token(kind, word, token.line, token.col, token.start, token.end)


def behind_brackets(tokens: Sequence[Token], index: int) -> int:
    """The token behind the brackets that open at a token."""
    depth = 0
    while index < len(tokens):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        index += 1
        if depth == 0:
            break
    return index


def is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name can begin at a token: a quoted one, or any word."""
    if index >= len(tokens):
        return False
    token = tokens[index]
    if token.token_type is TokenType.IDENTIFIER:
        return True
    return token.token_type is not TokenType.STRING and (token.text[:1].isalpha() or token.text[:1] in ("_", "#"))


def behind_name(tokens: Sequence[Token], index: int) -> int:
    """The token behind a dotted name that begins at a token, or that token."""
    while is_name(tokens, index):
        index += 1
        if index >= len(tokens) or tokens[index].token_type is not TokenType.DOT:
            return index
        index += 1
    return index


def dotted_name(tokens: Sequence[Token], index: int, first: int, traits: Traits) -> tuple[ir.Name, int]:
    """The dotted name at a token with its place relative to the token `first`, and the token behind it."""
    begin, parts, written = index, [], ""
    while index < len(tokens):
        token = tokens[index]
        if token.token_type is TokenType.DOT:
            parts.append("")
            index += 1
            continue
        written, index = _part(tokens, index)
        parts.append(fold(written, token.token_type is TokenType.IDENTIFIER, traits.tables))
        if index >= len(tokens) or tokens[index].token_type is not TokenType.DOT:
            break
        index += 1
    origin = tokens[first].start
    return ir.Name(tuple(parts), written, tokens[begin].start - origin, tokens[index - 1].end + 1 - origin), index


def _part(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """One part of a name, with the marks of a temporary object before it, and the token behind it."""
    text = tokens[index].text
    while tokens[index].text in ("#", "##") and index + 1 < len(tokens):
        index += 1
        text += tokens[index].text
    return text, index + 1


def search_path(tokens: Sequence[Token], traits: Traits) -> tuple[str, ...]:
    """The context that SET search_path makes of a list of schemas, which the parser does not read."""
    words = [keyword(token) for token in tokens[:3]]
    if "SEARCH_PATH" not in words:
        return ()
    names = [token for token in tokens[words.index("SEARCH_PATH") + 2 :] if token.token_type is not TokenType.COMMA]
    folded = (fold(token.text, token.token_type in _QUOTED, traits.tables) for token in names if token.text != "$user")
    return "SEARCH_PATH", *folded
