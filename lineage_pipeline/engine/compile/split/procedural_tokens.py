"""Tokens of procedural languages: normalized before splitting, and read from quoted bodies at their true offsets."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.procedural_languages import (
    CONDITIONAL_COMPILATION,
    ProceduralLanguage,
)
from lineage_pipeline.engine.compile.dynamic_sql.identifier_function import (
    mentions_identifier_function,
    replace_identifier_calls,
)
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.placeholders import ReplacementStage, replace_placeholders
from lineage_pipeline.engine.compile.tokens import decode_string, keyword, skip_brackets, synthetic_token

_CURSOR_ATTRIBUTES = frozenset("ROWCOUNT FOUND NOTFOUND ISOPEN BULK_ROWCOUNT BULK_EXCEPTIONS".split())
"""Attributes of a cursor; none of them is data."""


def normalize_tokens(tokens: Sequence[Token], text: str, family: ProceduralLanguage) -> Sequence[Token]:
    """The tokens of a script with PL/SQL, psql and IDENTIFIER(…) spellings rewritten for sqlglot."""
    if family.equals:
        return replace_placeholders(tokens, ReplacementStage.POSTGRES_SCRIPT, text)
    if family.identifiers:
        tokens = rewrite_define(tokens) if "define" in text.lower() else tokens
        return replace_identifier_calls(tokens, family) if mentions_identifier_function(text) else tokens
    if not family.plsql:
        return tokens
    kept = list(tokens)
    if "$" in text and any(word in text.upper() for word in CONDITIONAL_COMPILATION):
        kept = _strip_conditional_compilation(kept)
    kept = replace_placeholders(kept, ReplacementStage.PLSQL_SCRIPT, text)
    if "%" in text:
        kept = _replace_cursor_attributes(kept)
    return _strip_row_colons(kept, family) if ":" in text else kept


def _strip_conditional_compilation(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    until = ""
    for token in tokens:
        word = keyword(token)
        if until:
            until = "" if word == until else until
        elif word in CONDITIONAL_COMPILATION:
            until = CONDITIONAL_COMPILATION[word] if CONDITIONAL_COMPILATION[word] != word else ""
        else:
            kept.append(token)
    return kept


def strip_line_continuations(tokens: Sequence[Token], text: str) -> list[Token]:
    """SQL*Plus: a statement without the dashes that continue lines."""
    return [token for token in tokens if token.token_type is not TokenType.DASH or not _is_at_line_end(token, text)]


def _is_at_line_end(token: Token, text: str) -> bool:
    end = text.find("\n", token.end)
    return end >= 0 and not text[token.end + 1 : end].strip()


def _replace_cursor_attributes(tokens: Sequence[Token]) -> list[Token]:
    """PL/SQL: `SQL%ROWCOUNT` and the like become a number."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        asked = index + 2 < len(tokens) and tokens[index + 1].token_type is TokenType.MOD
        if asked and keyword(tokens[index + 2]) in _CURSOR_ATTRIBUTES:
            index = _skip_attribute(tokens, index + 3)
            end = tokens[index - 1].end
            kept.append(Token(TokenType.NUMBER, "0", token.line, token.col, token.start, end, token.comments))
        else:
            kept.append(token)
            index += 1
    return kept


def _skip_attribute(tokens: Sequence[Token], index: int) -> int:
    """The index after an attribute such as `SQL%BULK_EXCEPTIONS(i).ERROR_INDEX`."""
    if keyword(tokens[index - 1]).startswith("BULK_") and index < len(tokens):
        index = skip_brackets(tokens, index) if tokens[index].token_type is TokenType.L_PAREN else index
        index += 2 if index + 1 < len(tokens) and tokens[index].token_type is TokenType.DOT else 0
    return index


def _strip_row_colons(tokens: Sequence[Token], family: ProceduralLanguage) -> list[Token]:
    """PL/SQL triggers: `:new` and `:old` without the colon."""
    words = [keyword(token) for token in tokens]
    rows = {*family.rows, *_read_row_names(words, family)}
    return [
        token
        for index, token in enumerate(tokens)
        if not (token.token_type is TokenType.COLON and index + 1 < len(tokens) and keyword(tokens[index + 1]) in rows)
    ]


def _read_row_names(words: Sequence[str], family: ProceduralLanguage) -> Iterator[str]:
    """The names after NEW and OLD in REFERENCING, with or without AS."""
    for at in [at for at, word in enumerate(words) if word == "REFERENCING"]:
        named = [word for word in words[at + 1 : at + 7] if word != "AS"]
        yield from (name for before, name in zip(named, named[1:], strict=False) if before in family.rows)


def tokenize_body(token: Token, text: str, traits: DialectTraits) -> Sequence[Token] | ParseFailure:
    """The tokens of the code in a string, at their offsets in the file."""
    code, offset, skips = decode_string(text[token.start : token.end + 1], traits)
    inner = tokenize(code, traits)
    if isinstance(inner, ParseFailure):
        return ParseFailure(inner.reason, token.start, token.end + 1)
    base = int(token.start) + offset
    moved = replace_placeholders([shift_token(item, base, skips) for item in inner], ReplacementStage.EXECUTED_TEXT)
    family = traits.procedural
    return normalize_tokens(moved, code, family) if family is not None and not family.plsql else moved


def shift_token(token: Token, base: int, skips: Sequence[int]) -> Token:
    """A token of the decoded code at its offset in the file; each skip is a character that decoding dropped."""
    start, end = int(token.start), int(token.end)
    if skips:
        start, end = start + bisect_right(skips, start), end + bisect_right(skips, end)
    return Token(token.token_type, token.text, token.line, token.col, base + start, base + end, token.comments)


def rewrite_define(tokens: Sequence[Token]) -> list[Token]:
    """Snowflake: DEFINE of an object in a project as CREATE."""
    return [
        synthetic_token("CREATE", token)
        if keyword(token) == "DEFINE" and (not index or tokens[index - 1].token_type is TokenType.SEMICOLON)
        else token
        for index, token in enumerate(tokens)
    ]
