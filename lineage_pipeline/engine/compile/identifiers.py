"""Names that a function makes of a text: `IDENTIFIER('a.b')` stands wherever a name may.

A constant is that name. What else stands there is a hole with its tokens in it, up to where variables are known.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import FAMILIES, Family
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.failures import Failure
from lineage_pipeline.engine.compile.literals import STRINGS
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.texts import Known, joined, texts_of
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.engine.compile.words import behind_brackets, dotted_name, keyword
from lineage_pipeline.vocabulary.analysis import HOLE

_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
"""One part of a dotted name, in quotes or not."""


_ASKED = re.compile(r"\bidentifier\s*\(|\btable\s*\(\s*[:$]", re.IGNORECASE)
_OPENED = HOLE + "("


def speaks(text: str, traits: Traits) -> bool:
    """Whether names may be made of texts in a script."""
    family = FAMILIES.get(traits.name)
    return family is not None and family.identifiers and asked(text)


def asked(text: str) -> bool:
    """Whether a text has words in it that make names; few have, and looking for them costs more than for one word."""
    words = text.lower()
    if "identifier" not in words and not ("table" in words and ("$" in words or ":" in words)):
        return False
    return _ASKED.search(text) is not None


def identified(tokens: Sequence[Token], family: Family) -> list[Token]:
    """The tokens with names in the place of IDENTIFIER(…); what is no constant is a hole."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = index + 2 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        if not opened or not _is_spoken(tokens, index, family):
            kept.append(tokens[index])
            index += 1
            continue
        end = behind_brackets(tokens, index + 1)
        inner = tokens[index + 2 : end - 1]
        constant = len(inner) == 1 and inner[0].token_type in STRINGS
        kept.extend(_parts(inner[0]) if constant else [_unknown(inner)] if inner else ())
        index = end
    return kept


def _is_spoken(tokens: Sequence[Token], index: int, family: Family) -> bool:
    """Whether a table is named here: `IDENTIFIER(…)`, or `TABLE($v)` with a text of a variable in it."""
    word = keyword(tokens[index])
    if word != "TABLE" or not family.marked or index + 4 >= len(tokens):
        return word == "IDENTIFIER"
    marked = tokens[index + 2].text in (":", "$") and tokens[index + 4].token_type is TokenType.R_PAREN
    return marked and (index == 0 or keyword(tokens[index - 1]) != "RETURN")


def resolved(piece: Piece, known: Known) -> Piece:
    """A piece with the names that variables hold; what is not known for certain stays a hole."""
    use = piece.use
    if use is not None and use.target is not None and use.target.parts[-1].startswith(_OPENED):
        callee = _named(Token(TokenType.IDENTIFIER, use.target.parts[-1], start=0, end=0), known)
        target = dotted_name(callee, 0, 0, known.traits)[0] if callee else use.target
        place = {"start": use.target.start, "end": use.target.end}
        use = msgspec.structs.replace(use, target=msgspec.structs.replace(target, **place))
        piece = msgspec.structs.replace(piece, use=use)
    if not any(token.text.startswith(_OPENED) for token in piece.tokens):
        return piece
    tokens = [one for token in piece.tokens for one in (_named(token, known) or [token])]
    return msgspec.structs.replace(piece, tokens=tokens, begin=piece.start, stop=piece.end, words=())


def _named(token: Token, known: Known) -> list[Token]:
    """The names that the tokens in a hole come to, at its place."""
    code = token.text[len(_OPENED) : -1] if token.text.startswith(_OPENED) else ""
    inner = tokenize(code, known.traits) if code else []
    if isinstance(inner, Failure) or not inner:
        return []
    texts = texts_of(inner, msgspec.structs.replace(known, source=code))
    if len(texts) != 1 or all(part.hole for part in texts[0]):
        return []
    named = Token(TokenType.STRING, joined(texts[0]), token.line, token.col, token.start, token.end)
    return [Token(one.token_type, one.text, one.line, one.col, token.start, token.end) for one in _parts(named)]


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
    code = " ".join(_written(token) for token in inner)
    return Token(TokenType.IDENTIFIER, f"{_OPENED}{code})", first.line, first.col, first.start, last.end)


def _written(token: Token) -> str:
    if token.token_type not in STRINGS:
        return token.text
    return "'" + token.text.replace("'", "''") + "'"
