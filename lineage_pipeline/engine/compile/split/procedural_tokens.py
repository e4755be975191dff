"""Tokens of procedural languages: normalized before splitting, and read from quoted bodies at their true offsets."""

import re
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
from lineage_pipeline.engine.compile.tokens import decode_string, keyword, skip_brackets, synthetic_token

_SUBSTITUTION_MARKS = (TokenType.AMP, TokenType.DAMP)
_CURSOR_ATTRIBUTES = frozenset("ROWCOUNT FOUND NOTFOUND ISOPEN BULK_ROWCOUNT BULK_EXCEPTIONS".split())
"""Attributes of a cursor; none of them is data."""


def normalize_tokens(tokens: Sequence[Token], text: str, family: ProceduralLanguage) -> Sequence[Token]:
    """The tokens of a script with PL/SQL, psql and IDENTIFIER(…) spellings rewritten for sqlglot."""
    if family.equals:
        kept = _join_extension_names(tokens) if "@" in text else tokens
        return _strip_line_variables(kept) if _PSQL_LINE_VARIABLE.search(text) else kept
    if family.identifiers:
        tokens = rewrite_define(tokens) if "define" in text.lower() else tokens
        return replace_identifier_calls(tokens, family) if mentions_identifier_function(text) else tokens
    if not family.result_word:
        return tokens
    kept = list(tokens)
    if "$" in text and any(word in text.upper() for word in CONDITIONAL_COMPILATION):
        kept = _strip_conditional_compilation(kept)
    if "&" in text:
        kept = _read_substitutions(kept)
    if "%" in text:
        kept = _replace_cursor_attributes(kept)
    return _strip_row_colons(kept, family) if ":" in text else kept


_PSQL_LINE_VARIABLE = re.compile(r"^\s*:\w+\s", re.MULTILINE)
"""A line that begins with a psql variable, usually EXPLAIN or empty."""


def _strip_line_variables(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without a psql variable before the first keyword of a statement."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        before = kept[-1].token_type if kept else TokenType.SEMICOLON
        first = before is TokenType.SEMICOLON and token.token_type is TokenType.COLON
        named = index and tokens[index - 1].token_type is TokenType.COLON and tokens[index - 1].end + 1 == token.start
        if not first and not (before is TokenType.SEMICOLON and named):
            kept.append(token)
    return kept


def _join_extension_names(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL extensions: `@extschema@` is a name that is filled at installation."""
    kept: list[Token] = []
    for token in tokens:
        marks = [item.text for item in kept[-2:-1]]
        if token.text == "@" and marks == ["@"] and kept[-1].end + 1 == token.start:
            name, mark = kept.pop(), kept.pop()
            kept.append(Token(TokenType.VAR, name.text, mark.line, mark.col, mark.start, token.end, mark.comments))
        else:
            kept.append(token)
    return kept


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


def _read_substitutions(tokens: Sequence[Token]) -> list[Token]:
    """SQL*Plus: `&name.` is read as a name, without the dot that ends it."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.token_type in _SUBSTITUTION_MARKS and following is not None and following.start == token.end + 1:
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
    moved = read_numbered_binds([_shift_token(item, base, skips) for item in inner])
    family = traits.procedural
    return normalize_tokens(moved, code, family) if family is not None and not family.result_word else moved


_SLICE_STARTS = frozenset("NUMBER VAR IDENTIFIER R_PAREN R_BRACKET L_BRACKET".split())
"""Token types before the colon of a slice, `a[1:2]`."""


def read_numbered_binds(tokens: Sequence[Token]) -> list[Token]:
    """`:1` in an executed text as the placeholder `?`, which sqlglot reads."""
    kept: list[Token] = []
    for token in tokens:
        before = kept[-1] if kept else None
        marked = token.token_type is TokenType.NUMBER and before is not None and before.token_type is TokenType.COLON
        if marked and before is not None and (len(kept) < 2 or kept[-2].token_type.name not in _SLICE_STARTS):
            kept[-1] = Token(
                TokenType.PLACEHOLDER, "?", before.line, before.col, before.start, token.end, token.comments
            )
        else:
            kept.append(token)
    return kept


def _shift_token(token: Token, base: int, skips: Sequence[int]) -> Token:
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
