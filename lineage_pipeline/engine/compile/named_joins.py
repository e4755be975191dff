"""Joins that have a name of their own, by which only the columns that they merge can be asked."""

from collections.abc import Mapping, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, is_name, keyword


def named_using(tokens: Sequence[Token]) -> list[Token]:
    """Postgres: `JOIN t USING (a) AS j` without the name of the join."""
    kept: list[Token] = []
    merged: dict[str, Sequence[Token]] = {}
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        columns = _merged(tokens, index) if keyword(tokens[index - 1]) == "USING" else ()
        behind = index + len(columns) + 2
        if columns and behind + 1 < len(tokens) and keyword(tokens[behind]) == "AS":
            kept.extend(tokens[index:behind])
            merged[tokens[behind + 1].text] = columns
            index = behind + 2
    return _unqualified(kept, merged)


def _merged(tokens: Sequence[Token], index: int) -> Sequence[Token]:
    """The names of columns in brackets, with the commas between them; nothing where it is no such list."""
    if index >= len(tokens) or tokens[index].token_type is not TokenType.L_PAREN:
        return ()
    columns = tokens[index + 1 : behind_brackets(tokens, index) - 1]
    is_list = all(is_name(columns, at) if at % 2 == 0 else token.text == "," for at, token in enumerate(columns))
    return columns if is_list else ()


def _unqualified(tokens: Sequence[Token], merged: Mapping[str, Sequence[Token]]) -> list[Token]:
    """The tokens without the names of joins: `j.a` is `a`, and `j.*` the columns that the join names."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        columns = merged.get(tokens[index].text)
        if columns is None or index + 2 >= len(tokens) or tokens[index + 1].token_type is not TokenType.DOT:
            kept.append(tokens[index])
            index += 1
            continue
        kept.extend(columns if tokens[index + 2].token_type is TokenType.STAR else tokens[index + 2 : index + 3])
        index += 3
    return kept
