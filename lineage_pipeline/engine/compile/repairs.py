"""Repairs: what stopped the parser is written so that it can read on. They run only where a statement did not parse.

Tokens keep their places, and a token that is put in stands at the place of its neighbour.
"""

from collections.abc import Callable, Sequence

import msgspec
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.blanks import without_blanks
from lineage_pipeline.engine.compile.feeds import declared, ingested, structured
from lineage_pipeline.engine.compile.idioms import (
    arranged_pivots,
    called_windows,
    emptied_tables,
    joined_comparisons,
    joined_sets,
    named_sample,
    nearest_joins,
    partitioned_rows,
    pivoted_tables,
    plain_calls,
    plain_intervals,
    plain_order,
    single_keys,
    spoken_names,
    unmasked,
    without_error_log,
)
from lineage_pipeline.engine.compile.inlined import changed_rows, document_rows, file_rows, unbound, viewed_insert
from lineage_pipeline.engine.compile.named_joins import named_using
from lineage_pipeline.engine.compile.past import without_time, without_versions
from lineage_pipeline.engine.compile.patterns import matched, without_details, without_paths
from lineage_pipeline.engine.compile.phrases import (
    aliased_views,
    as_transform,
    bracketed_using,
    custom_operators,
    function_names,
    joined_numbers,
    joined_strings,
    piped_stars,
    plain_columns,
    plain_json,
    ungrouped_order,
)
from lineage_pipeline.engine.compile.rowwise import aliased_members, rows_as_documents, scored, without_current
from lineage_pipeline.engine.compile.signs import bound_texts, called_factorials, cast_texts
from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, keyword, made


class Repair(msgspec.Struct, frozen=True):
    """A way to write a construct that the parser does not know; it is tried where all the words occur."""

    words: frozenset[str]
    rewrite: Callable[[Sequence[Token]], list[Token]]


def repaired(tokens: Sequence[Token], tried: Sequence[Token]) -> list[Token] | None:
    """The tokens after all repairs that have something to do, or None where they are those that were tried already."""
    present = {keyword(token) for token in tokens}
    kept = list(tokens)
    for repair in REPAIRS:
        if repair.words <= present:
            kept = repair.rewrite(kept)
    return kept if len(kept) != len(tried) or any(a is not b for a, b in zip(kept, tried, strict=True)) else None


def placed(token: Token, kind: TokenType, text: str) -> Token:
    """A token of another kind at the place of one."""
    return Token(kind, text, token.line, token.col, token.start, token.end, token.comments)


def _table_arguments(tokens: Sequence[Token]) -> list[Token]:
    """A table or a model handed to a function, `f(TABLE t, …)` or `f(TABLE(t))`, becomes the query of all its rows."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        before = tokens[index - 1].token_type if index else None
        argument = before in (TokenType.L_PAREN, TokenType.COMMA, TokenType.FARROW)
        if keyword(token) not in ("TABLE", "MODEL") or not argument:
            kept.append(token)
            index += 1
            continue
        bracketed = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        begin = index + 2 if bracketed else index + 1
        end = behind_name(tokens, begin)
        if end == begin or (bracketed and _kind(tokens, end) is not TokenType.R_PAREN):
            kept.append(token)
            index += 1
            continue
        after = tokens[end - 1]
        if len(kept) > 1 and keyword(kept[-2]) == "SESSION":  # a word of its own to the parser, here a function
            kept[-2] = placed(kept[-2], TokenType.VAR, kept[-2].text)
        kept.extend(
            [
                placed(token, TokenType.L_PAREN, "("),
                placed(token, TokenType.SELECT, "SELECT"),
                placed(token, TokenType.STAR, "*"),
                placed(token, TokenType.FROM, "FROM"),
                *tokens[begin:end],
                placed(after, TokenType.R_PAREN, ")"),
            ]
        )
        index = _behind_keys(tokens, end + 1 if bracketed else end)
    return kept


def _kind(tokens: Sequence[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if index < len(tokens) else None


def _behind_keys(tokens: Sequence[Token], index: int) -> int:
    """The token behind PARTITION BY and ORDER BY of a table that is handed to a function."""
    while index < len(tokens) and tokens[index].token_type in (TokenType.PARTITION_BY, TokenType.ORDER_BY):
        while _kind(tokens, index) not in (None, TokenType.R_PAREN, TokenType.COMMA):
            opened = tokens[index].token_type is TokenType.L_PAREN
            index = behind_brackets(tokens, index) if opened else index + 1
    return index


def _one_call(tokens: Sequence[Token]) -> list[Token]:
    """What a function is set to stands among its arguments: `f('x')(a, b)` as `f('x', a, b)`."""
    kept = list(tokens)
    for index in range(len(kept) - 2):
        named = _kind(kept, index) is TokenType.VAR and kept[index].text not in _SET
        if named and _kind(kept, index + 1) is TokenType.L_PAREN:
            end = behind_brackets(kept, index + 1)
            called = _kind(kept, end) is TokenType.L_PAREN and _kind(kept, end + 1) not in _QUERIES
            if called and end - index > 3:
                kept[end - 1 : end + 1] = [placed(kept[end], TokenType.COMMA, ",")]
    return kept


_SET = frozenset(getattr(ClickHouse.parser_class, "AGG_FUNC_MAPPING", ()))
"""Functions that the parser knows to be set to something."""

_QUERIES = (TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.R_PAREN)


def _pattern_limits(tokens: Sequence[Token]) -> list[Token]:
    """How long the rows of a pattern may lie apart, `PATTERN (…) WITHIN INTERVAL …`, goes."""
    kept: list[Token] = []
    dropping = False
    for index, token in enumerate(tokens):
        begins = keyword(token) == "WITHIN" and keyword(tokens[min(index + 1, len(tokens) - 1)]) == "INTERVAL"
        dropping = (dropping or begins) and keyword(token) != "DEFINE"
        if not dropping:
            kept.append(token)
    return kept


def _plain_kind(tokens: Sequence[Token]) -> list[Token]:
    """A foreign or external table is altered and dropped as any other."""
    if keyword(tokens[0]) in ("ALTER", "DROP") and keyword(tokens[1]) in ("FOREIGN", "EXTERNAL", "DYNAMIC", "HYBRID"):
        return [tokens[0], *tokens[2:]]
    return list(tokens)


def _moved(tokens: Sequence[Token]) -> list[Token]:
    """`ALTER TABLE a.t SET SCHEMA s` as `ALTER TABLE a.t RENAME TO s.t`."""
    words = [keyword(token) for token in tokens]
    if words[0] != "ALTER" or words[-3:-1] != ["SET", "SCHEMA"]:
        return list(tokens)
    at, last = len(tokens) - 3, tokens[-4]
    dot = placed(tokens[-1], TokenType.DOT, ".")
    return [*tokens[:at], made("RENAME", tokens[at]), made("TO", tokens[at]), tokens[-1], dot, last]


def _repair(words: str, rewrite: Callable[[Sequence[Token]], list[Token]]) -> Repair:
    return Repair(frozenset(words.split()), rewrite)


REPAIRS: tuple[Repair, ...] = (
    _repair("INTO :", unbound),
    Repair(frozenset({"INTO", "PARTITIONED BY"}), ingested),
    _repair("EXTERN EXTEND", declared),
    _repair("", without_blanks),
    _repair("", joined_strings),
    _repair("", joined_numbers),
    _repair("", custom_operators),
    _repair("TABLE (", _table_arguments),
    _repair("MODEL (", _table_arguments),
    _repair("SELECT ( )", _one_call),
    _repair("MATCH_RECOGNIZE WITHIN", _pattern_limits),
    _repair("TABLE", _plain_kind),
    _repair("ALTER SET SCHEMA", _moved),
    _repair("IS (", function_names),
    _repair("JOIN USING", bracketed_using),
    _repair("JOIN USING AS", named_using),
    _repair("LATERAL VIEW", aliased_views),
    _repair("MAP USING", as_transform),
    _repair("REDUCE USING", as_transform),
    _repair("ON (", plain_json),
    _repair("RETURNING (", plain_json),
    _repair("WITH (", plain_json),
    _repair("DESC", ungrouped_order),
    _repair("ASC", ungrouped_order),
    _repair("|>", piped_stars),
    _repair("USING (", scored),
    _repair("JSON_TABLE ON", plain_columns),
    _repair("JSON_OBJECT *", rows_as_documents),
    _repair("CURRENT OF", without_current),
    _repair("STRUCT (", aliased_members),
    _repair("MATCH (", matched),
    _repair("PATH", without_paths),
    _repair("APPROXIMATE", without_details),
    _repair("LANGUAGE", without_details),
    _repair("FLOAT32", without_details),
    _repair("FLOAT16", without_details),
    _repair("::", without_details),
    _repair("SYSTEM_TIME", without_time),
    _repair("VERSIONS BETWEEN", without_versions),
    _repair("NEAREST BY", nearest_joins),
    _repair("ON (", partitioned_rows),
    _repair("WINDOW (", called_windows),
    _repair("SESSION (", called_windows),
    _repair("ROW", structured),
    _repair("ON CONFLICT DO", structured),
    _repair("RECURSIVE SEARCH", single_keys),
    _repair("RECURSIVE CYCLE", single_keys),
    _repair("IDENTIFIER (", spoken_names),
    _repair("DISTINCT (", plain_calls),
    _repair("SAMPLE", named_sample),
    _repair("TABLE MASK", unmasked),
    _repair("CREATE PIVOT", pivoted_tables),
    _repair("CREATE UNPIVOT", pivoted_tables),
    _repair("LOG ERRORS", without_error_log),
    _repair("PIVOT", arranged_pivots),
    _repair("UNPIVOT", arranged_pivots),
    _repair("USING", plain_order),
    _repair("DELETE . *", emptied_tables),
    _repair("=", joined_comparisons),
    _repair("OUTPUT (", changed_rows),
    _repair("OPENXML (", document_rows),
    _repair("OPENJSON (", document_rows),
    _repair("OPENROWSET (", file_rows),
    _repair("INSERT INTO (", viewed_insert),
    _repair("MULTISET", joined_sets),
    _repair("INTERVAL (", plain_intervals),
    _repair(":", bound_texts),
    _repair("!", called_factorials),
    _repair("", cast_texts),
)
"""In order; a repair without words is always tried."""
