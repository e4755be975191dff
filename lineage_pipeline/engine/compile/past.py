"""States of the past: which version of a table is read has no bearing on lineage, so that it may go."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, keyword

_ENDS = frozenset(
    "AS JOIN INNER LEFT RIGHT FULL CROSS NATURAL WHERE GROUP ORDER HAVING QUALIFY LIMIT ON USING UNION EXCEPT "
    "INTERSECT MINUS WINDOW TABLESAMPLE PIVOT UNPIVOT MATCH_RECOGNIZE CONNECT START , ) ;".split()
) | {"GROUP BY", "ORDER BY", "|>"}
"""What may stand behind the time of a table."""


def without_time(tokens: Sequence[Token]) -> list[Token]:
    """`t FOR SYSTEM_TIME AS OF x AS a` becomes `t AS a`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        words = " ".join(keyword(token) for token in tokens[index : index + 4])
        if not words.startswith("FOR SYSTEM_TIME AS OF"):
            kept.append(tokens[index])
            index += 1
            continue
        index = _behind(tokens, index + words[: len("FOR SYSTEM_TIME AS OF")].count(" ") + 1)
    return kept


def without_versions(tokens: Sequence[Token]) -> list[Token]:
    """`t VERSIONS BETWEEN SCN x AND y` becomes `t`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = keyword(tokens[index]) == "VERSIONS" and keyword(tokens[min(index + 1, len(tokens) - 1)]) == "BETWEEN"
        if not opened:
            kept.append(tokens[index])
            index += 1
            continue
        index = _behind(tokens, index + 2)
    return kept


def _behind(tokens: Sequence[Token], index: int) -> int:
    """The token behind an expression that says a time."""
    while index < len(tokens) and keyword(tokens[index]) not in _ENDS:
        opened = tokens[index].token_type is TokenType.L_PAREN
        index = behind_brackets(tokens, index) if opened else index + 1
    return index
