"""`IDENTIFIER('a.b')` in place of a name: a constant is that name, all else an unknown name that holds its tokens."""

import re
from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.engine.compile.dynamic_sql.constant_folding import KnownTexts, fold_texts, join_text
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS, keyword, read_dotted_name, skip_brackets
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

_NAME_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
"""One part of a dotted name, quoted or not."""


_IDENTIFIER_CALL = re.compile(r"\bidentifier\s*\(|\btable\s*\(\s*[:$]", re.IGNORECASE)
_UNKNOWN_PREFIX = RUNTIME_PLACEHOLDER + "("


def uses_identifier_function(text: str, traits: DialectTraits) -> bool:
    """Whether a script may build names from texts."""
    family = traits.procedural
    return family is not None and family.identifiers and mentions_identifier_function(text)


def mentions_identifier_function(text: str) -> bool:
    """Whether a text contains IDENTIFIER(…) or TABLE($v), checked cheaply first."""
    words = text.lower()
    if "identifier" not in words and not ("table" in words and ("$" in words or ":" in words)):
        return False
    return _IDENTIFIER_CALL.search(text) is not None


def replace_identifier_calls(tokens: Sequence[Token], family: ProceduralLanguage) -> list[Token]:
    """The tokens with names instead of IDENTIFIER(…); what is not constant becomes an unknown name."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = index + 2 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        if not opened or not _is_identifier_call(tokens, index, family):
            kept.append(tokens[index])
            index += 1
            continue
        end = skip_brackets(tokens, index + 1)
        inner = tokens[index + 2 : end - 1]
        constant = len(inner) == 1 and inner[0].token_type in STRING_TOKENS
        kept.extend(_split_name(inner[0]) if constant else [_build_unknown_name(inner)] if inner else ())
        index = end
    return kept


def _is_identifier_call(tokens: Sequence[Token], index: int, family: ProceduralLanguage) -> bool:
    """Whether a table is named here: `IDENTIFIER(…)`, or Snowflake's `TABLE($v)`."""
    word = keyword(tokens[index])
    if word != "TABLE" or not family.marked or index + 4 >= len(tokens):
        return word == "IDENTIFIER"
    marked = tokens[index + 2].text in (":", "$") and tokens[index + 4].token_type is TokenType.R_PAREN
    return marked and (index == 0 or keyword(tokens[index - 1]) != "RETURN")


def resolve_identifiers(piece: RawStatement, known: KnownTexts) -> RawStatement:
    """A raw statement with the names that variables hold; what is not certain stays unknown."""
    use = piece.use
    if use is not None and use.target is not None and use.target.parts[-1].startswith(_UNKNOWN_PREFIX):
        callee = _resolve_unknown_name(Token(TokenType.IDENTIFIER, use.target.parts[-1], start=0, end=0), known)
        target = read_dotted_name(callee, 0, 0, known.traits)[0] if callee else use.target
        place = {"start": use.target.start, "end": use.target.end}
        use = msgspec.structs.replace(use, target=msgspec.structs.replace(target, **place))
        piece = msgspec.structs.replace(piece, use=use)
    if not any(token.text.startswith(_UNKNOWN_PREFIX) for token in piece.tokens):
        return piece
    tokens = [one for token in piece.tokens for one in (_resolve_unknown_name(token, known) or [token])]
    return msgspec.structs.replace(piece, tokens=tokens, begin=piece.start, stop=piece.end, words=())


def _resolve_unknown_name(token: Token, known: KnownTexts) -> list[Token]:
    """The name tokens that an unknown name resolves to, at its position."""
    code = token.text[len(_UNKNOWN_PREFIX) : -1] if token.text.startswith(_UNKNOWN_PREFIX) else ""
    inner = tokenize(code, known.traits) if code else []
    if isinstance(inner, ParseFailure) or not inner:
        return []
    texts = fold_texts(inner, msgspec.structs.replace(known, source=code))
    if len(texts) != 1 or all(part.unknown for part in texts[0]):
        return []
    named = Token(TokenType.STRING, join_text(texts[0]), token.line, token.col, token.start, token.end)
    return [Token(one.token_type, one.text, one.line, one.col, token.start, token.end) for one in _split_name(named)]


def _split_name(token: Token) -> Iterator[Token]:
    """The name tokens in a string, each at its offset."""
    for number, match in enumerate(_NAME_PART.finditer(token.text)):
        written = match[0]
        start = int(token.start) + 1 + match.start() + len(written) - len(written.lstrip())
        place = (token.line, token.col, start, start + len(written.strip()) - 1)
        if number:
            yield Token(TokenType.DOT, ".", token.line, token.col, start - 1, start - 1)
        name = match[1] if match[1] is not None else match[2].strip()
        exact = match[1] is not None or not (name[:1].isalpha() or name[:1] == "_")  # `&{x}` of a client is no word
        yield Token(TokenType.IDENTIFIER if exact else TokenType.VAR, name, *place)


def _build_unknown_name(inner: Sequence[Token]) -> Token:
    first, last = inner[0], inner[-1]
    code = " ".join(_quote_token(token) for token in inner)
    return Token(TokenType.IDENTIFIER, f"{_UNKNOWN_PREFIX}{code})", first.line, first.col, first.start, last.end)


def _quote_token(token: Token) -> str:
    if token.token_type not in STRING_TOKENS:
        return token.text
    return "'" + token.text.replace("'", "''") + "'"
