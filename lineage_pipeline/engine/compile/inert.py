"""Alterations without bearing on lineage, told by their words: most ways to alter a table leave its columns alone."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.alterations import CHANGES, INERT, INERT_COLUMN, INERT_PARTS
from lineage_pipeline.engine.compile.words import behind_brackets, is_name, keyword

_ALTERED = ("TABLE", "VIEW")


def is_inert(tokens: Sequence[Token]) -> bool:
    """Whether a statement alters a table or view in ways that leave its columns and its name as they are."""
    if keyword(tokens[0]) != "ALTER":
        return False
    kind = next((at for at, token in enumerate(tokens[1:4], 1) if keyword(token) in _ALTERED), 0)
    begin = _behind_name(tokens, _behind_words(tokens, kind + 1, ("IF", "EXISTS", "ONLY")))
    if not kind or begin >= len(tokens):
        return False
    return all(_leaves_columns(words) for words in _actions(tokens, begin))


def _behind_words(tokens: Sequence[Token], index: int, words: Sequence[str]) -> int:
    while index < len(tokens) and keyword(tokens[index]) in words:
        index += 1
    return index


def _behind_name(tokens: Sequence[Token], index: int) -> int:
    """The token behind a name, and behind the partition of it that is altered."""
    while is_name(tokens, index):
        index += 1
        if index >= len(tokens) or tokens[index].token_type is not TokenType.DOT:
            break
        index += 1
    if index < len(tokens) and tokens[index].token_type is TokenType.STAR:
        index += 1
    return index


def _actions(tokens: Sequence[Token], index: int) -> Iterator[list[str]]:
    """The words of each action, without what stands in brackets."""
    words: list[str] = []
    while index < len(tokens):
        if tokens[index].token_type is TokenType.COMMA:
            yield words
            words = []
            index += 1
            continue
        words.extend(keyword(tokens[index]).split() or [""])
        opened = tokens[index].token_type is TokenType.L_PAREN
        index = behind_brackets(tokens, index) if opened else index + 1
    yield words


def _leaves_columns(words: list[str]) -> bool:
    if not words or any(tuple(words[: len(change)]) == change for change in CHANGES):
        return False
    if words[0] in INERT or words[0] == "SET":
        return True
    second = next((word for word in words[1:] if word not in ("IF", "NOT", "EXISTS", "ROW")), "")
    parts = INERT_PARTS.get(words[0], frozenset())
    if second in parts or (len(words) > 1 and words[1] in parts):
        return True
    behind = words[3:] if len(words) > 1 and words[1] == "COLUMN" else words[2:]
    return words[0] in ("ALTER", "MODIFY") and any(tuple(behind[: len(item)]) == item for item in INERT_COLUMN)
