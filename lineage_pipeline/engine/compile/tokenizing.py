"""Texts to tokens, with the quotes and marks that a dialect has beside those that sqlglot knows."""

import re
from functools import cache
from typing import Any

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, Tokenizer, TokenType

from lineage_pipeline.dialects.families import FAMILIES
from lineage_pipeline.dialects.spellings import HASH_COMMENTS
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.failures import Failure
from lineage_pipeline.engine.compile.isolation import Pool
from lineage_pipeline.engine.compile.parse import dialect_of


def tokenize(text: str, traits: Traits) -> list[Token] | Failure:
    """The tokens of a text, or where it stops being one."""
    dialect = dialect_of(traits.grammar or traits.name)
    family = FAMILIES.get(traits.name)
    with _tokenizers(dialect, traits.quotes, family is not None and family.dollars).borrow() as tokenizer:
        marked = _ARGUMENT.sub(_mark(tokenizer), text) if "$" in text and tokenizer.HEREDOC_STRINGS else text
        tokens = _tokens(tokenizer, marked) or _tokens(tokenizer, _HEXADECIMAL.sub(_without_blanks, marked))
    if tokens is None:
        return Failure("a quote or a comment in it does not end", 0, len(text))
    return tokens if marked is text else [_argument(token, text) for token in tokens]


def _tokens(tokenizer: Tokenizer, text: str) -> list[Token] | None:
    try:
        return tokenizer.tokenize(text)
    except TokenError:  # which says no more than that
        return None


_HEXADECIMAL = re.compile(r"\b[xX]'[0-9a-fA-F]*(?:\s+[0-9a-fA-F]+)+\s*'")
"""`X'65 66'`: bytes with blanks between them, which sqlglot takes for no number."""


def _without_blanks(found: re.Match[str]) -> str:
    return re.sub(r"\s", "0", found[0])  # as long as before, so that all places stay


_ARGUMENT = re.compile(r"(?<![\w$])\$(?=[\d{])")
"""`$1`, `${x}`: sqlglot takes `$1,$` for the beginning of a quoted body, so that the mark is another one meanwhile."""


def _mark(tokenizer: Tokenizer) -> str:
    return ":" if ".:" not in tokenizer.KEYWORDS else "@"


def _argument(token: Token, text: str) -> Token:
    if token.token_type not in (TokenType.COLON, TokenType.PARAMETER) or text[token.start] != "$":
        return token
    return Token(TokenType.PARAMETER, "$", token.line, token.col, token.start, token.end, token.comments)


@cache
def _tokenizers(dialect: Dialect, quotes: str, dollars: bool) -> Pool[Tokenizer]:
    """Tokenizers with further quotes, which do not swallow what stands behind GO, CALL or REPLACE."""
    base = dialect.tokenizer_class
    changes: dict[str, Any] = {"COMMANDS": set()}
    if dollars:
        changes["RAW_STRINGS"] = [*base.RAW_STRINGS, "$$"]
    if base.HEREDOC_STRINGS:  # `$tag$`: a tag is a name, in ClickHouse too
        changes |= {"HEREDOC_TAG_IS_IDENTIFIER": True, "HEREDOC_STRING_ALTERNATIVE": TokenType.PARAMETER}
    if type(dialect).__name__.lower() in HASH_COMMENTS:
        changes["COMMENTS"] = [*base.COMMENTS, "#"]
    if quotes:
        changes["IDENTIFIERS"] = [*base.IDENTIFIERS, *quotes]
    if type(dialect) is Dialect:
        changes["KEYWORDS"] = {**base.KEYWORDS, "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE}
    own = type("LineageTokenizer", (base,), changes)
    return Pool(lambda: own(dialect=dialect))
