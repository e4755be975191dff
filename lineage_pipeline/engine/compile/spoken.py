"""Words of procedural languages that the parser does not speak, left out or put into words that it knows."""

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import CHOICES, Family
from lineage_pipeline.engine.compile.identifiers import asked, identified
from lineage_pipeline.engine.compile.prefixes import defined
from lineage_pipeline.engine.compile.words import behind_brackets, keyword

_HOLES = (TokenType.AMP, TokenType.DAMP)
_ATTRIBUTES = frozenset("ROWCOUNT FOUND NOTFOUND ISOPEN BULK_ROWCOUNT BULK_EXCEPTIONS".split())
"""What can be asked of a cursor; none of it is data."""


def spoken(tokens: Sequence[Token], text: str, family: Family) -> Sequence[Token]:
    """The tokens of a script in words that the parser knows: PL/SQL and extensions of Postgres need that."""
    if family.equals:
        kept = _named(tokens) if "@" in text else tokens
        return _unprefixed(kept) if _PREFIX.search(text) else kept
    if family.identifiers:
        tokens = defined(tokens) if "define" in text.lower() else tokens
        return identified(tokens, family) if asked(text) else tokens
    if not family.result_word:
        return tokens
    kept = list(tokens)
    if "$" in text and any(word in text.upper() for word in CHOICES):
        kept = _without_choices(kept)
    if "&" in text:
        kept = _without_holes(kept)
    if "%" in text:
        kept = _without_attributes(kept)
    return _without_marks(kept, family) if ":" in text else kept


_PREFIX = re.compile(r"^\s*:\w+\s", re.MULTILINE)
"""A line that begins with a variable of psql, mostly with EXPLAIN or nothing in it."""


def _unprefixed(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without a variable of psql before the first word of a statement."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        before = kept[-1].token_type if kept else TokenType.SEMICOLON
        first = before is TokenType.SEMICOLON and token.token_type is TokenType.COLON
        named = index and tokens[index - 1].token_type is TokenType.COLON and tokens[index - 1].end + 1 == token.start
        if not first and not (before is TokenType.SEMICOLON and named):
            kept.append(token)
    return kept


def _named(tokens: Sequence[Token]) -> list[Token]:
    """`@extschema@` stands for a name that is filled in when an extension is installed."""
    kept: list[Token] = []
    for token in tokens:
        marks = [item.text for item in kept[-2:-1]]
        if token.text == "@" and marks == ["@"] and kept[-1].end + 1 == token.start:
            name, mark = kept.pop(), kept.pop()
            kept.append(Token(TokenType.VAR, name.text, mark.line, mark.col, mark.start, token.end, mark.comments))
        else:
            kept.append(token)
    return kept


def _without_choices(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    until = ""
    for token in tokens:
        word = keyword(token)
        if until:
            until = "" if word == until else until
        elif word in CHOICES:
            until = CHOICES[word] if CHOICES[word] != word else ""
        else:
            kept.append(token)
    return kept


def _without_holes(tokens: Sequence[Token]) -> list[Token]:
    """`&name.` stands for a text that the client asks for: it is read as a name, without the dot that ends it."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.token_type in _HOLES and following is not None and following.start == token.end + 1:
            name = Token(
                TokenType.VAR, following.text, token.line, token.col, token.start, following.end, token.comments
            )
            kept.append(name)
            dots = [item.token_type for item in tokens[index + 2 : index + 4]]
            index += 3 if dots == [TokenType.DOT, TokenType.DOT] else 2
        else:
            kept.append(token)
            index += 1
    return kept


def uncontinued(tokens: Sequence[Token], text: str) -> list[Token]:
    """The tokens of a statement without the dashes that end lines: SQL*Plus goes on in the next one without them."""
    return [token for token in tokens if token.token_type is not TokenType.DASH or not _ends_line(token, text)]


def _ends_line(token: Token, text: str) -> bool:
    end = text.find("\n", token.end)
    return end >= 0 and not text[token.end + 1 : end].strip()


def _without_attributes(tokens: Sequence[Token]) -> list[Token]:
    """`SQL%ROWCOUNT` and the like become a number."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        asked = index + 2 < len(tokens) and tokens[index + 1].token_type is TokenType.MOD
        if asked and keyword(tokens[index + 2]) in _ATTRIBUTES:
            index = _behind_attribute(tokens, index + 3)
            end = tokens[index - 1].end
            kept.append(Token(TokenType.NUMBER, "0", token.line, token.col, token.start, end, token.comments))
        else:
            kept.append(token)
            index += 1
    return kept


def _behind_attribute(tokens: Sequence[Token], index: int) -> int:
    """The token behind which row is asked for, and what of it: `SQL%BULK_EXCEPTIONS(i).ERROR_INDEX`."""
    if keyword(tokens[index - 1]).startswith("BULK_") and index < len(tokens):
        index = behind_brackets(tokens, index) if tokens[index].token_type is TokenType.L_PAREN else index
        index += 2 if index + 1 < len(tokens) and tokens[index].token_type is TokenType.DOT else 0
    return index


def _without_marks(tokens: Sequence[Token], family: Family) -> list[Token]:
    """The colon before the rows of a trigger goes."""
    words = [keyword(token) for token in tokens]
    rows = {*family.rows, *_row_names(words, family)}
    return [
        token
        for index, token in enumerate(tokens)
        if not (token.token_type is TokenType.COLON and index + 1 < len(tokens) and keyword(tokens[index + 1]) in rows)
    ]


def _row_names(words: Sequence[str], family: Family) -> Iterator[str]:
    """What triggers call their rows: the words behind NEW and OLD, with or without AS."""
    for at in [at for at, word in enumerate(words) if word == "REFERENCING"]:
        named = [word for word in words[at + 1 : at + 7] if word != "AS"]
        yield from (name for before, name in zip(named, named[1:], strict=False) if before in family.rows)
