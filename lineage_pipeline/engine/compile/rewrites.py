"""Statements in a spelling that the parser does not know, written out in one that it knows.

Tokens keep their places. `REWRITES` are applied to every statement that begins with the word, `SPELLINGS` only to
those that the parser could not read.
"""

from collections.abc import Callable, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.spellings import SPELLINGS, Spelling
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.feeds import fed_table
from lineage_pipeline.engine.compile.phrases import without_formats
from lineage_pipeline.engine.compile.prefixes import unlocked, without_functions
from lineage_pipeline.engine.compile.recursive_views import recursive_view
from lineage_pipeline.engine.compile.rowwise import bracketed_assignments
from lineage_pipeline.engine.compile.signs import cast_intervals
from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, keyword, made

Rewrite = Callable[[list[Token]], list[Token]]


def rewritten(tokens: list[Token], traits: Traits) -> list[Token]:
    """The tokens of a statement as the parser is to see them."""
    first = keyword(tokens[0])
    for family in ("", traits.family):
        for rewrite in REWRITES.get(family, {}).get(first, ()):
            tokens = rewrite(tokens)
    return tokens


def respelled(tokens: list[Token], traits: Traits) -> list[Token]:
    """A statement that could not be read, in other spellings where there are some."""
    words = [keyword(token) for token in tokens]
    kept = tokens
    for family in ("", traits.family):
        for spelling in SPELLINGS.get(family, ()):
            if spelling.words[0] in words and (not spelling.within or words[0] in spelling.within):
                kept = _respelled(kept, spelling)
    return kept


def _respelled(tokens: list[Token], spelling: Spelling) -> list[Token]:
    """The tokens with one spelling replaced by another wherever it stands; brackets or a value go with it."""
    width, kept, index, found = len(spelling.words), list[Token](), 0, False
    while index < len(tokens):
        here = index == 0 or not spelling.leading
        if here and tuple(keyword(token) for token in tokens[index : index + width]) == spelling.words:
            end = _end(tokens, index + width, spelling)
            if end >= 0:
                kept.extend(made(word, tokens[index]) for word in spelling.instead)
                index, found = end, True
                continue
        kept.append(tokens[index])
        index += 1
    return kept if found else tokens


def _end(tokens: Sequence[Token], index: int, spelling: Spelling) -> int:
    """The token behind what goes with a spelling, or -1 where it is not followed by that."""
    opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
    if spelling.brackets:
        return behind_brackets(tokens, index) if opened else -1
    for _ in range(spelling.values):
        index += 1
        while index < len(tokens) and tokens[index].token_type in (TokenType.DOT, TokenType.EQ):
            index += 2
    return min(index, len(tokens))


def _at_depth(tokens: Sequence[Token], *words: str, start: int = 0) -> int:
    """The first of some words outside brackets, or -1."""
    depth = 0
    for index in range(start, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and keyword(tokens[index]) in words:
            return index
    return -1


def _without_top(tokens: list[Token]) -> list[Token]:
    """T-SQL: how many rows a statement changes at most."""
    if len(tokens) < 3 or keyword(tokens[1]) != "TOP":
        return tokens
    end = behind_brackets(tokens, 2) if tokens[2].token_type is TokenType.L_PAREN else 3
    end += end < len(tokens) and keyword(tokens[end]) == "PERCENT"
    return [tokens[0], *tokens[end:]]


def _one_from(tokens: list[Token]) -> list[Token]:
    """T-SQL: `DELETE FROM alias FROM table AS alias` as `DELETE alias FROM …`."""
    if keyword(tokens[1] if len(tokens) > 1 else tokens[0]) == "FROM" and _at_depth(tokens, "FROM", start=2) > 0:
        return [tokens[0], *tokens[2:]]
    return tokens


_PRIORITIES = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK")


def _without_priority(tokens: list[Token]) -> list[Token]:
    """MySQL: when a statement runs, and whether its errors matter."""
    end = 1
    ignored = ("IGNORE",) if keyword(tokens[0]) != "INSERT" else ()
    while end < len(tokens) and keyword(tokens[end]) in (*_PRIORITIES, *ignored):
        end += 1
    return [tokens[0], *tokens[end:]]


def _replace_as_insert(tokens: list[Token]) -> list[Token]:
    """MySQL: REPLACE is an INSERT that removes what is in its way."""
    return [made("INSERT", tokens[0]), *_without_priority(tokens)[1:]]


def _mutation(tokens: list[Token]) -> list[Token]:
    """ClickHouse: `ALTER TABLE t UPDATE …` and `ALTER TABLE t DELETE WHERE …` as plain statements."""
    at = _at_depth(tokens, "UPDATE", "DELETE")
    if len(tokens) < 4 or keyword(tokens[1]) != "TABLE" or at < 0 or keyword(tokens[at - 1]) in ("ON", "TTL"):
        return tokens
    end = 3
    while end < at and tokens[end].token_type is TokenType.DOT:
        end += 2
    rest = tokens[at + 1 :]
    in_partition = _at_depth(rest, "IN")
    where = _at_depth(rest, "WHERE")
    settings = _at_depth(rest, "SETTINGS")
    rest = rest[:settings] if settings >= 0 else rest
    if 0 <= in_partition < where and keyword(rest[in_partition + 1]) == "PARTITION":
        rest = [*rest[:in_partition], *rest[where:]]
    if keyword(tokens[at]) == "UPDATE":
        return [tokens[at], *tokens[2:end], made("SET", tokens[at]), *rest]
    return [tokens[at], made("FROM", tokens[at]), *tokens[2:end], *rest]


def _requeried(tokens: list[Token]) -> list[Token]:
    """ClickHouse: `ALTER TABLE v MODIFY QUERY …` makes a view anew."""
    at = next((at for at in range(3, len(tokens)) if keyword(tokens[at]) == "QUERY"), 0)
    if keyword(tokens[at - 1]) != "MODIFY":
        return tokens
    name = tokens[2 : _at_depth(tokens, "ON", "MODIFY")]
    view = [made(word, tokens[0]) for word in ("CREATE", "OR", "REPLACE", "VIEW")]
    return [*view, *name, made("AS", tokens[at]), *tokens[at + 1 :]]


def _aliased_from(tokens: list[Token]) -> list[Token]:
    """Teradata: the last table of `UPDATE x FROM t AS x, s SET …` with an alias, or the parser takes SET for one."""
    first, set_ = _at_depth(tokens, "FROM"), _at_depth(tokens, "SET")
    if not 0 < first < set_ - 1:
        return tokens
    before = tokens[set_ - 2].token_type
    if before in (TokenType.FROM, TokenType.COMMA, TokenType.DOT):
        return [*tokens[:set_], made("AS", tokens[set_ - 1]), tokens[set_ - 1], *tokens[set_:]]
    return tokens


def _inline_target(tokens: list[Token]) -> list[Token]:
    """Oracle: `UPDATE (query) alias SET …` with the query as a CTE."""
    if len(tokens) < 3 or tokens[1].token_type is not TokenType.L_PAREN:
        return tokens
    end = behind_brackets(tokens, 1)
    named = end < len(tokens) and keyword(tokens[end]) != "SET"
    name = [tokens[end]] if named else [made("inline_view", tokens[1])]
    rest = tokens[end + named :]
    return [made("WITH", tokens[0]), *name, made("AS", tokens[0]), *tokens[1:end], tokens[0], *name, *rest]


def _delete_as_arm(tokens: list[Token]) -> list[Token]:
    """Oracle: `UPDATE SET … DELETE WHERE c` of a MERGE as an arm of its own."""
    at = _at_depth(tokens, "DELETE")
    if at < 0 or at + 1 >= len(tokens) or keyword(tokens[at + 1]) != "WHERE":
        return tokens
    end = _at_depth(tokens, "WHEN", "LOG", start=at)
    end = end if end > 0 else len(tokens)
    arm = [made(word, tokens[at]) for word in ("WHEN", "MATCHED", "AND")]
    return [*tokens[:at], *arm, *tokens[at + 2 : end], made("THEN", tokens[at]), tokens[at], *tokens[end:]]


def _duplicates_removed(tokens: list[Token]) -> list[Token]:
    """Redshift: `MERGE … REMOVE DUPLICATES` inserts the row of the source as it is."""
    if [keyword(token) for token in tokens[-2:]] != ["REMOVE", "DUPLICATES"]:
        return tokens
    words = ("WHEN", "NOT", "MATCHED", "THEN", "INSERT", "ROW")
    return [*tokens[:-2], *(made(word, tokens[-2]) for word in words)]


def _without_evolution(tokens: list[Token]) -> list[Token]:
    """Spark: `MERGE WITH SCHEMA EVOLUTION INTO …`."""
    if [keyword(token) for token in tokens[1:4]] == ["WITH", "SCHEMA", "EVOLUTION"]:
        return [tokens[0], *tokens[4:]]
    return tokens


def _applied_changes(tokens: list[Token]) -> list[Token]:
    """Databricks: `APPLY CHANGES INTO t FROM s … COLUMNS * EXCEPT (…)` as an INSERT by name."""
    into, source = _at_depth(tokens, "INTO"), _at_depth(tokens, "FROM")
    keys = _at_depth(tokens, "KEYS")
    if not 0 < into < source < keys:
        return tokens
    columns = _at_depth(tokens, "COLUMNS", start=keys)
    stored = _at_depth(tokens, "STORED", "TRACK", start=columns) if columns > 0 else -1
    listed = tokens[columns + 1 : stored if stored > 0 else len(tokens)] if columns > 0 else []
    chosen = listed if listed and listed[0].token_type is not TokenType.L_PAREN else listed[1:-1]
    first = tokens[0]
    named = [made("BY", first), made("NAME", first), made("SELECT", first)]
    star = [Token(TokenType.STAR, "*", first.line, first.col, first.start, first.end)]
    return [made("INSERT", first), *tokens[into:source], *named, *(chosen or star), *tokens[source:keys]]


def _flow(tokens: list[Token]) -> list[Token]:
    """Databricks: the statement that a flow runs."""
    if keyword(tokens[1] if len(tokens) > 1 else tokens[0]) != "FLOW":
        return tokens
    begin = _at_depth(tokens, "INSERT", "AUTO")
    if begin < 0:
        return tokens
    return tokens[begin:] if keyword(tokens[begin]) == "INSERT" else _applied_changes(tokens[begin:])


def _plain_format(tokens: list[Token]) -> list[Token]:
    """Spark: the class of a source outside, `USING org.apache.spark.sql.jdbc`, by its last name."""
    at = _at_depth(tokens, "USING") + 1
    end = behind_name(tokens, at) if at else 0
    return [*tokens[:at], *tokens[end - 1 :]] if end > at + 1 else tokens


def _placed_directory(tokens: list[Token]) -> list[Token]:
    """Spark: `INSERT OVERWRITE DIRECTORY USING f OPTIONS (path '…')` with the path where the others have it."""
    at = _at_depth(tokens, "DIRECTORY")
    if at < 0 or keyword(tokens[min(at + 1, len(tokens) - 1)]) != "USING":
        return tokens
    path = next((index for index, token in enumerate(tokens) if token.text.lower() == "path"), -1)
    strings = [token for token in tokens[path : path + 3] if token.token_type is TokenType.STRING] if path > 0 else []
    return [*tokens[: at + 1], *strings[:1], *tokens[at + 1 :]]


def _redefined(tokens: list[Token]) -> list[Token]:
    """A view that gets another query is made anew."""
    view = _at_depth(tokens[:4], "VIEW")
    if view < 0 or _at_depth(tokens, "AS") < 0:
        return tokens
    return [*(made(word, tokens[0]) for word in ("CREATE", "OR", "REPLACE")), *tokens[1:]]


def _inline_rows(tokens: list[Token]) -> list[Token]:
    """ClickHouse: rows that stand behind FORMAT, in whatever form, are rows of constants."""
    at = _at_depth(tokens, "FORMAT", "SELECT", "VALUES", "WITH", "FROM")
    if at < 0 or keyword(tokens[at]) != "FORMAT" or keyword(tokens[min(at + 1, len(tokens) - 1)]) == "VALUES":
        return tokens
    return [*tokens[:at], made("DEFAULT", tokens[at]), made("VALUES", tokens[at])]


REWRITES: dict[str, dict[str, tuple[Rewrite, ...]]] = {
    "": {"ALTER": (_redefined,), "CREATE": (recursive_view,)},
    "tsql": {"INSERT": (_without_top,), "UPDATE": (_without_top,), "DELETE": (_without_top, _one_from)},
    "mysql": {
        "INSERT": (_without_priority,),
        "UPDATE": (_without_priority, bracketed_assignments),
        "DELETE": (_without_priority,),
        "REPLACE": (_replace_as_insert,),
    },
    "clickhouse": {"ALTER": (_mutation, _requeried), "INSERT": (_inline_rows,)},
    "sqlite": {"REPLACE": (_replace_as_insert,)},
    "trino": {"USING": (without_functions,)},
    "teradata": {
        **dict.fromkeys(("SELECT", "SEL", "WITH", "INSERT", "INS", "CREATE", "REPLACE", "MERGE"), (without_formats,)),
        "UPDATE": (_aliased_from, without_formats),
        "UPD": (_aliased_from, without_formats),
        "LOCKING": (unlocked, without_formats),
        "LOCK": (unlocked, without_formats),
    },
    "oracle": {"UPDATE": (_inline_target,), "MERGE": (_delete_as_arm,)},
    "postgres": {
        **dict.fromkeys(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"), (cast_intervals,)),
        "CREATE": (cast_intervals, fed_table),
    },
    "redshift": {"MERGE": (_duplicates_removed,)},
    "spark": {
        "MERGE": (_without_evolution,),
        "APPLY": (_applied_changes,),
        "AUTO": (_applied_changes,),
        "CREATE": (_flow, _plain_format),
        "INSERT": (_placed_directory,),
    },
}
"""Who rewrites statements, by family of dialects and first word."""
