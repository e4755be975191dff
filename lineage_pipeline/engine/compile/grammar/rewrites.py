"""Rewrites: the tables of token rewrites, applied to all statements or only to those that did not parse.
Tokens keep their offsets; an inserted token has the offset of its neighbor.
"""

from collections.abc import Callable, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.spellings import DROPPED_CLAUSES, SPELLINGS, TABLE_HINTS, DroppedClause, Spelling
from lineage_pipeline.engine.compile.grammar.ddl import (
    drop_masks,
    rewrite_alter_view,
    rewrite_modify_query,
    rewrite_recursive_view,
    rewrite_table_from_source,
    shorten_format_class,
)
from lineage_pipeline.engine.compile.grammar.dml import (
    alias_last_source,
    bracket_assignments,
    drop_bound_returning,
    drop_current_of,
    drop_error_log,
    drop_query_cache,
    move_directory_path,
    rewrite_apply_changes,
    rewrite_delete_stars,
    rewrite_druid_ingestion,
    rewrite_flow,
    rewrite_format_rows,
    rewrite_inline_insert_target,
    rewrite_inline_target,
    rewrite_merge_delete,
    rewrite_mutation,
    rewrite_remove_duplicates,
    rewrite_replace,
)
from lineage_pipeline.engine.compile.grammar.functions import (
    alias_struct_members,
    drop_call_distinct,
    drop_json_clauses,
    drop_json_column_clauses,
    merge_call_parameters,
    rewrite_is_function,
    rewrite_json_row,
    rewrite_prediction,
    rewrite_rows,
    rewrite_transform,
    rewrite_window_functions,
)
from lineage_pipeline.engine.compile.grammar.query_clauses import (
    alias_lateral_views,
    drop_order_operator,
    drop_system_time,
    drop_versions,
    keep_first_search_key,
    rewrite_nearest_joins,
    strip_join_aliases,
)
from lineage_pipeline.engine.compile.grammar.table_sources import (
    bracket_ordered_pivots,
    drop_graph_paths,
    drop_pattern_within,
    drop_tsql_details,
    rewrite_extern,
    rewrite_graph_match,
    rewrite_nested_writes,
    rewrite_open_rowset,
    rewrite_open_xml,
    rewrite_partitioned_rows,
    rewrite_pivot_body,
    rewrite_sample_names,
    rewrite_table_arguments,
)
from lineage_pipeline.engine.compile.grammar.terms import (
    drop_interval_precision,
    join_comparisons,
    join_numbers,
    join_strings,
    read_bound_texts,
    rewrite_custom_operators,
    rewrite_factorials,
    rewrite_intervals,
    rewrite_multisets,
    rewrite_teradata_formats,
    rewrite_typed_texts,
)
from lineage_pipeline.engine.compile.placeholders import replace_placeholders
from lineage_pipeline.engine.compile.tokens import keyword, keywords_of, skip_brackets, synthetic_token

STATEMENT_KEYWORDS = frozenset(
    "SELECT SEL WITH INSERT INS UPDATE UPD DELETE DEL MERGE CREATE REPLACE UNLOAD VALUES TABLE".split()
)
"""Keywords that begin a statement after a prefix such as LOCKING or PREPARE."""


def strip_locking(tokens: list[Token]) -> list[Token]:
    """Teradata: `LOCKING TABLE t FOR ACCESS SELECT …` as the statement alone."""
    for index in range(2, len(tokens)):
        mode = keyword(tokens[index - 1]) in ("ACCESS", "READ", "WRITE", "EXCLUSIVE", "SHARE", "MODE", "NOWAIT")
        if mode and keyword(tokens[index]) in STATEMENT_KEYWORDS:
            return tokens[index:]
    return tokens


def strip_external_functions(tokens: list[Token]) -> list[Token]:
    """Athena: the query after `USING EXTERNAL FUNCTION f(…) RETURNS … LAMBDA 'name'`."""
    if [keyword(token) for token in tokens[1:3]] != ["EXTERNAL", "FUNCTION"]:
        return tokens
    index = 3
    while index < len(tokens) and keyword(tokens[index]) not in ("SELECT", "WITH"):
        opened = tokens[index].token_type is TokenType.L_PAREN
        index = skip_brackets(tokens, index) if opened else index + 1
    return tokens[index:] or tokens


_COMPOUND_SIGNS = "+-*/%"
_COMPOUND_TOKENS = (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD)


def drop_irrelevant_clauses(tokens: Sequence[Token], traits: DialectTraits, known: Sequence[str] = ()) -> list[Token]:
    """The tokens without clauses that do not affect lineage, and with `x += y` written out."""
    clauses = DROPPED_CLAUSES.get(traits.family)
    if clauses is None:
        return list(tokens)
    written = known or keywords_of(tokens)
    words = set(written)
    kept = list(tokens)
    defines = _defines_table(tokens)
    first = "TABLE" if defines else written[0]
    present = [item for item in clauses if item.words[0] in words and (not item.within or first in item.within)]
    if present:
        kept = _drop_clauses(kept, present)
    if traits.batches and ((defines and not _STORAGE_KEYWORDS.isdisjoint(words)) or _has_hints(written, words)):
        kept = _drop_storage(kept)
    if "XMLNAMESPACES" in words:
        kept = _drop_xml_namespaces(kept)
    return (
        _expand_compound_assignments(kept) if "=" in words and any(mark in words for mark in _COMPOUND_SIGNS) else kept
    )


_STORAGE_KEYWORDS = frozenset({"WITH", "INDEX", "ON"})
"""Keywords that describe the storage of a table."""


def _has_hints(written: Sequence[str], words: set[str]) -> bool:
    """Whether `WITH (` occurs anywhere."""
    return "WITH" in words and ("WITH", "(") in zip(written, written[1:], strict=False)


def _defines_table(tokens: Sequence[Token]) -> bool:
    words = [keyword(token) for token in tokens[:5]]
    return words[0] in ("CREATE", "ALTER", "DECLARE") and "TABLE" in words


def _is_paren_at(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def _drop_clauses(tokens: Sequence[Token], clauses: Sequence[DroppedClause]) -> list[Token]:
    starts = {clause.words[0] for clause in clauses}
    kept: list[Token] = []
    behind = 0
    for begin in [index for index, word in enumerate(keywords_of(tokens)) if word in starts and index]:
        if begin < behind:
            continue
        end = next((stop for clause in clauses if (stop := _skip_clause(clause, tokens, begin)) > begin), begin)
        if end > begin:
            kept.extend(tokens[behind:begin])
            behind = end
    return [*kept, *tokens[behind:]]


def _skip_clause(clause: DroppedClause, tokens: Sequence[Token], index: int) -> int:
    """The index after a clause that begins at a token, or that index."""
    after = index + len(clause.words)
    if tuple(keyword(token) for token in tokens[index:after]) != clause.words:
        return index
    if clause.brackets:
        return skip_brackets(tokens, after) if _is_paren_at(tokens, after) else index
    return after + 1 if clause.name else after


def _drop_storage(tokens: list[Token]) -> list[Token]:
    """T-SQL: drops table hints, and options and file groups of a table definition."""
    table = _defines_table(tokens)
    words = keywords_of(tokens)
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        word = words[index]
        table = table and word != "SELECT"  # the query that fills a table has an ON of its own
        opened = word == "WITH" and _is_paren_at(tokens, index + 1)
        hinted = opened and index + 2 < len(tokens) and words[index + 2] in TABLE_HINTS
        if opened and (hinted or table):
            index = skip_brackets(tokens, index + 1)
        elif table and word == "INDEX" and kept and _is_inline_index(kept[-1]):
            if kept[-1].token_type is TokenType.COMMA:  # an index of the table is an item of its own
                kept.pop()
            index = _skip_inline_index(tokens, words, index + 2)
        elif table and word == "ON" and _is_filegroup(tokens, index):
            index += 2
            index = skip_brackets(tokens, index) if _is_paren_at(tokens, index) else index
        else:
            kept.append(tokens[index])
            index += 1
    return kept


def _skip_inline_index(tokens: Sequence[Token], words: Sequence[str], index: int) -> int:
    """The index after an inline index: its kind, its columns and its filter."""
    while index < len(tokens) and (words[index] in ("HASH", "UNIQUE", "INCLUDE") or _is_paren_at(tokens, index)):
        index = skip_brackets(tokens, index) if _is_paren_at(tokens, index) else index + 1
    if index < len(tokens) and words[index] == "WHERE":
        while index < len(tokens) and tokens[index].token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            index = skip_brackets(tokens, index) if _is_paren_at(tokens, index) else index + 1
    return index


def _is_inline_index(token: Token) -> bool:
    """Whether an INDEX after a token belongs to the column or table before it."""
    return token.text.upper() not in ("(", "ADD", "DROP", "ALTER", "UNIQUE", "TABLE", ".")


def _is_filegroup(tokens: Sequence[Token], index: int) -> bool:
    """Whether an ON in a table definition names a file group, and not a foreign key action."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is not None and keyword(following) not in ("DELETE", "UPDATE")


def _drop_xml_namespaces(tokens: list[Token]) -> list[Token]:
    """T-SQL: drops WITH XMLNAMESPACES (…) but keeps CTEs of the same WITH."""
    for index, token in enumerate(tokens[:-2]):
        if keyword(token) == "WITH" and keyword(tokens[index + 1]) == "XMLNAMESPACES":
            end = skip_brackets(tokens, index + 2)
            if end < len(tokens) and tokens[end].token_type is TokenType.COMMA:
                return [*tokens[: index + 1], *tokens[end + 1 :]]
            return [*tokens[:index], *tokens[end:]] or tokens
    return tokens


def _expand_compound_assignments(tokens: list[Token]) -> list[Token]:
    """`x += y` becomes `x = x + y`."""
    signs = [index for index, token in enumerate(tokens) if token.token_type in _COMPOUND_TOKENS]
    compound = [index for index in signs if _is_compound_assignment(tokens, index)]
    kept: list[Token] = []
    begin = 0
    for index in compound:
        kept.extend(tokens[begin:index])
        kept.extend([tokens[index + 1], *_assigned_name(kept), tokens[index]])
        begin = index + 2
    return [*kept, *tokens[begin:]] if compound else tokens


def _is_compound_assignment(tokens: Sequence[Token], index: int) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is not None and following.token_type is TokenType.EQ and following.start == tokens[index].end + 1


def _assigned_name(tokens: Sequence[Token]) -> list[Token]:
    """The name before an assignment: a variable or a column with its qualifiers."""
    start = len(tokens)
    parts = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.PARAMETER)
    while start > 0 and tokens[start - 1].token_type in parts:
        start -= 1
    return list(tokens[start:])


TokenRewrite = Callable[[list[Token]], list[Token]]


def apply_rewrites(tokens: list[Token], traits: DialectTraits) -> list[Token]:
    """The tokens of a statement as the parser sees them first."""
    first = keyword(tokens[0])
    for family in ("", traits.family):
        for rewrite in REWRITES.get(family, {}).get(first, ()):
            tokens = rewrite(tokens)
    return tokens


def apply_spellings(tokens: list[Token], traits: DialectTraits) -> list[Token]:
    """A statement that did not parse, with other spellings where there are some."""
    words = [keyword(token) for token in tokens]
    kept = tokens
    for family in ("", traits.family):
        for spelling in SPELLINGS.get(family, ()):
            if spelling.words[0] in words and (not spelling.within or words[0] in spelling.within):
                kept = _apply_spelling(kept, spelling)
    return kept


def _apply_spelling(tokens: list[Token], spelling: Spelling) -> list[Token]:
    """The tokens with one spelling replaced by another; its parentheses or values go with it."""
    width, kept, index, found = len(spelling.words), list[Token](), 0, False
    while index < len(tokens):
        here = index == 0 or not spelling.leading
        if here and tuple(keyword(token) for token in tokens[index : index + width]) == spelling.words:
            end = _skip_spelling(tokens, index + width, spelling)
            if end >= 0:
                kept.extend(synthetic_token(word, tokens[index]) for word in spelling.instead)
                index, found = end, True
                continue
        kept.append(tokens[index])
        index += 1
    return kept if found else tokens


def _skip_spelling(tokens: Sequence[Token], index: int, spelling: Spelling) -> int:
    """The index after a spelling with its parentheses or values, or -1 if those are missing."""
    opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
    if spelling.brackets:
        return skip_brackets(tokens, index) if opened else -1
    for _ in range(spelling.values):
        index += 1
        while index < len(tokens) and tokens[index].token_type in (TokenType.DOT, TokenType.EQ):
            index += 2
    return min(index, len(tokens))


REWRITES: dict[str, dict[str, tuple[TokenRewrite, ...]]] = {
    "": {"ALTER": (rewrite_alter_view,), "CREATE": (rewrite_recursive_view,)},
    "mysql": {
        "SELECT": (drop_query_cache,),
        "UPDATE": (bracket_assignments,),
        "REPLACE": (rewrite_replace,),
    },
    "clickhouse": {"ALTER": (rewrite_mutation, rewrite_modify_query), "INSERT": (rewrite_format_rows,)},
    "sqlite": {"REPLACE": (rewrite_replace,)},
    "trino": {"USING": (strip_external_functions,)},
    "teradata": {
        **dict.fromkeys(
            ("SELECT", "SEL", "WITH", "INSERT", "INS", "CREATE", "REPLACE", "MERGE"), (rewrite_teradata_formats,)
        ),
        "UPDATE": (alias_last_source, rewrite_teradata_formats),
        "UPD": (alias_last_source, rewrite_teradata_formats),
        "LOCKING": (strip_locking, rewrite_teradata_formats),
        "LOCK": (strip_locking, rewrite_teradata_formats),
    },
    "oracle": {"UPDATE": (rewrite_inline_target,), "MERGE": (rewrite_merge_delete,)},
    "postgres": {
        **dict.fromkeys(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"), (rewrite_intervals,)),
        "CREATE": (rewrite_intervals, rewrite_table_from_source),
    },
    "redshift": {"MERGE": (rewrite_remove_duplicates,)},
    "spark": {
        "APPLY": (rewrite_apply_changes,),
        "CREATE": (rewrite_flow, shorten_format_class),
        "INSERT": (move_directory_path,),
    },
}
"""Rewrites of every statement, by family of dialects and first keyword."""


class Repair(msgspec.Struct, frozen=True):
    """A rewrite of a construct that sqlglot cannot read; tried if all its words occur."""

    words: frozenset[str]
    rewrite: Callable[[Sequence[Token]], list[Token]]


def apply_repairs(tokens: Sequence[Token], tried: Sequence[Token]) -> list[Token] | None:
    """The tokens after all repairs, or None if they are the same tokens as those already tried."""
    present = {keyword(token) for token in tokens}
    kept = list(tokens)
    for repair in REPAIRS:
        if repair.words <= present:
            kept = repair.rewrite(kept)
    return kept if len(kept) != len(tried) or any(a is not b for a, b in zip(kept, tried, strict=True)) else None


def _build_repair(words: str, rewrite: Callable[[Sequence[Token]], list[Token]]) -> Repair:
    return Repair(frozenset(words.split()), rewrite)


REPAIRS: tuple[Repair, ...] = (
    _build_repair("INTO :", drop_bound_returning),
    Repair(frozenset({"INTO", "PARTITIONED BY"}), rewrite_druid_ingestion),
    _build_repair("EXTERN EXTEND", rewrite_extern),
    _build_repair("", replace_placeholders),
    _build_repair("", join_strings),
    _build_repair("", join_numbers),
    _build_repair("", rewrite_custom_operators),
    _build_repair("TABLE (", rewrite_table_arguments),
    _build_repair("MODEL (", rewrite_table_arguments),
    _build_repair("SELECT ( )", merge_call_parameters),
    _build_repair("MATCH_RECOGNIZE WITHIN", drop_pattern_within),
    _build_repair("IS (", rewrite_is_function),
    _build_repair("JOIN USING AS", strip_join_aliases),
    _build_repair("LATERAL VIEW", alias_lateral_views),
    _build_repair("MAP USING", rewrite_transform),
    _build_repair("REDUCE USING", rewrite_transform),
    _build_repair("(", drop_json_clauses),
    _build_repair("USING (", rewrite_prediction),
    _build_repair("JSON_TABLE ON", drop_json_column_clauses),
    _build_repair("JSON_OBJECT *", rewrite_json_row),
    _build_repair("CURRENT OF", drop_current_of),
    _build_repair("STRUCT (", alias_struct_members),
    _build_repair("MATCH (", rewrite_graph_match),
    _build_repair("PATH", drop_graph_paths),
    _build_repair("APPROXIMATE", drop_tsql_details),
    _build_repair("LANGUAGE", drop_tsql_details),
    _build_repair("FLOAT32", drop_tsql_details),
    _build_repair("FLOAT16", drop_tsql_details),
    _build_repair("::", drop_tsql_details),
    _build_repair("SYSTEM_TIME", drop_system_time),
    _build_repair("VERSIONS BETWEEN", drop_versions),
    _build_repair("NEAREST BY", rewrite_nearest_joins),
    _build_repair("ON (", rewrite_partitioned_rows),
    _build_repair("WINDOW (", rewrite_window_functions),
    _build_repair("SESSION (", rewrite_window_functions),
    _build_repair("ROW", rewrite_rows),
    _build_repair("ON CONFLICT DO", rewrite_rows),
    _build_repair("RECURSIVE SEARCH", keep_first_search_key),
    _build_repair("RECURSIVE CYCLE", keep_first_search_key),
    _build_repair("DISTINCT (", drop_call_distinct),
    _build_repair("SAMPLE", rewrite_sample_names),
    _build_repair("TABLE MASK", drop_masks),
    _build_repair("CREATE PIVOT", rewrite_pivot_body),
    _build_repair("CREATE UNPIVOT", rewrite_pivot_body),
    _build_repair("LOG ERRORS", drop_error_log),
    _build_repair("PIVOT", bracket_ordered_pivots),
    _build_repair("UNPIVOT", bracket_ordered_pivots),
    _build_repair("USING", drop_order_operator),
    _build_repair("DELETE . *", rewrite_delete_stars),
    _build_repair("=", join_comparisons),
    _build_repair("OUTPUT (", rewrite_nested_writes),
    _build_repair("OPENXML (", rewrite_open_xml),
    _build_repair("OPENJSON (", rewrite_open_xml),
    _build_repair("OPENROWSET (", rewrite_open_rowset),
    _build_repair("INSERT INTO (", rewrite_inline_insert_target),
    _build_repair("MULTISET", rewrite_multisets),
    _build_repair("INTERVAL (", drop_interval_precision),
    _build_repair(":", read_bound_texts),
    _build_repair("!", rewrite_factorials),
    _build_repair("", rewrite_typed_texts),
)
"""Repairs of statements that did not parse, in order; a repair without words is always tried."""
