"""Functions of whole rows, rows of cursors, values that variables get on the way: in words that the parser knows."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.phrases import SCORING
from lineage_pipeline.engine.compile.cursor import items
from lineage_pipeline.engine.compile.words import ENDS, behind_brackets, keyword, made


def scored(tokens: Sequence[Token]) -> list[Token]:
    """`PREDICTION(model COST MODEL USING a AS x, b)` as `PREDICTION(a, b)`: the model is no data."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        if not opened or not keyword(tokens[index - 1]).startswith(SCORING):
            continue
        end = behind_brackets(tokens, index)
        words = [keyword(token) for token in tokens[index:end]]
        if "USING" in words:
            kept.append(tokens[index])
            kept.extend(_values(scored(tokens[index + words.index("USING") + 1 : end - 1])))
            kept.append(tokens[end - 1])
            index = end
    return kept


def _values(tokens: Sequence[Token]) -> list[Token]:
    """The items of a list without their names."""
    kept: list[Token] = []
    for item in items(tokens):
        named = len(item) > 2 and keyword(item[-2]) == "AS"
        if kept:
            kept.append(Token(TokenType.COMMA, ",", item[0].line, item[0].col, item[0].start, item[0].start))
        kept.extend(item[:-2] if named else item)
    return kept


def rows_as_documents(tokens: Sequence[Token]) -> list[Token]:
    """`JSON_OBJECT(t.*)` as a function that takes any arguments."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        inner = tokens[index + 2 : index + 5]
        starred = any(item.token_type is TokenType.STAR for item in inner[: 1 if len(inner) < 3 else 3])
        opened = keyword(token) == "JSON_OBJECT" and keyword(tokens[min(index + 1, len(tokens) - 1)]) == "("
        if opened and starred:
            token = Token(TokenType.VAR, "JSON_ROW", token.line, token.col, token.start, token.end, token.comments)
        kept.append(token)
    return kept


def without_current(tokens: Sequence[Token]) -> list[Token]:
    """`WHERE CURRENT OF c` goes: which row a cursor stands on is no condition on columns."""
    words = [keyword(token) for token in tokens]
    at = next((at for at in range(len(words) - 3) if words[at : at + 3] == ["WHERE", "CURRENT", "OF"]), len(words))
    behind = at + (5 if words[at + 3 : at + 4] in (["GLOBAL"], ["@"], [":"]) else 4)
    return [*tokens[:at], *tokens[behind:]]


def aliased_members(tokens: Sequence[Token]) -> list[Token]:
    """Spark: `struct(1 a, x b)` with the AS before the names of members."""
    kept: list[Token] = []
    around: list[str] = []  # what stands before each bracket that is open
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else token
        if token.token_type is TokenType.L_PAREN:
            around.append(keyword(before))
        elif token.token_type is TokenType.R_PAREN and around:
            around.pop()
        named = before.token_type in ENDS and token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        ended = index + 1 < len(tokens) and tokens[index + 1].token_type in (TokenType.COMMA, TokenType.R_PAREN)
        if named and ended and around[-1:] == ["STRUCT"]:
            kept.append(made("AS", token))
        kept.append(token)
    return kept


_BEHIND_VALUE = frozenset(", WHERE ORDER LIMIT )".split())


def bracketed_assignments(tokens: Sequence[Token]) -> list[Token]:
    """MySQL: `SET c = @v := x` with brackets around what the variable gets on the way."""
    if not any(token.token_type is TokenType.COLON_EQ for token in tokens):
        return list(tokens)
    kept: list[Token] = []
    ends: list[int] = []
    for index, token in enumerate(tokens):
        if ends and index == ends[-1]:
            kept.append(made(")", tokens[ends.pop() - 1]))
        kept.append(token)
        assigned = tokens[index + 1 : index + 4]
        if token.token_type is TokenType.EQ and [part.text for part in assigned[::2]] == ["@", ":="]:
            kept.append(made("(", assigned[0]))
            ends.append(_value_end(tokens, index + 4))
    return [*kept, *(made(")", tokens[-1]) for _ in ends)]


def _value_end(tokens: Sequence[Token], index: int) -> int:
    """The token behind a value: what ends it outside of its brackets."""
    while index < len(tokens) and keyword(tokens[index]) not in _BEHIND_VALUE:
        index = behind_brackets(tokens, index) if tokens[index].token_type is TokenType.L_PAREN else index + 1
    return index
