"""Names that a function makes of a text: `IDENTIFIER('a.b')` stands wherever a name may."""

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.literals import STRINGS
from lineage_pipeline.engine.compile.words import behind_brackets, keyword

_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
"""One part of a dotted name, in quotes or not."""


def identified(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with names in the place of IDENTIFIER(…); what is no constant is a name as it is written."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = index + 2 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        if not opened or keyword(tokens[index]) != "IDENTIFIER":
            kept.append(tokens[index])
            index += 1
            continue
        end = behind_brackets(tokens, index + 1)
        inner = tokens[index + 2 : end - 1]
        constant = len(inner) == 1 and inner[0].token_type in STRINGS
        kept.extend(_parts(inner[0]) if constant else [_unknown(inner)] if inner else ())
        index = end
    return kept


def _parts(token: Token) -> Iterator[Token]:
    """The names in a string, each where it stands."""
    for number, match in enumerate(_PART.finditer(token.text)):
        written = match[0]
        start = int(token.start) + 1 + match.start() + len(written) - len(written.lstrip())
        place = (token.line, token.col, start, start + len(written.strip()) - 1)
        if number:
            yield Token(TokenType.DOT, ".", token.line, token.col, start - 1, start - 1)
        quoted = match[1] is not None
        yield Token(TokenType.IDENTIFIER if quoted else TokenType.VAR, match[1] if quoted else match[2].strip(), *place)


def _unknown(inner: Sequence[Token]) -> Token:
    first, last = inner[0], inner[-1]
    written = "".join(token.text for token in inner)
    return Token(TokenType.IDENTIFIER, written, first.line, first.col, first.start, last.end)
