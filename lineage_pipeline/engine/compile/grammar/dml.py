"""DML: rewrites of INSERT, UPDATE, DELETE and MERGE, and the OUTPUT clause of T-SQL."""

from collections.abc import Sequence

from sqlglot.errors import TokenError
from sqlglot.tokens import Token, Tokenizer, TokenType

from lineage_pipeline.engine.compile.grammar.table_sources import rewrite_extern
from lineage_pipeline.engine.compile.tokens import (
    TABLE_NAME_WORDS,
    find_top_level_keyword,
    is_name_at,
    is_open_paren_at,
    keyword,
    paren_step,
    retype_token,
    skip_brackets,
    skip_name,
    synthetic_token,
    token_type_at,
)


def drop_query_cache(tokens: list[Token]) -> list[Token]:
    """MySQL 5: `SELECT SQL_CACHE a` without the option, which sqlglot takes for a column with the alias `a`."""
    words = [keyword(token) for token in tokens[1:3]]
    is_option = words[:1] == ["SQL_CACHE"] and not _AFTER_COLUMN.issuperset(words[1:])
    return [tokens[0], *tokens[2:]] if is_option else tokens


_AFTER_COLUMN = frozenset(", . AS FROM".split())
"""Keywords and signs after SQL_CACHE that show that it is the name of a column."""


def rewrite_mutation(tokens: list[Token]) -> list[Token]:
    """ClickHouse: `ALTER TABLE t UPDATE …` and `ALTER TABLE t DELETE WHERE …` as plain statements."""
    at = find_top_level_keyword(tokens, "UPDATE", "DELETE")
    if len(tokens) < 4 or keyword(tokens[1]) != "TABLE" or at < 0 or keyword(tokens[at - 1]) in ("ON", "TTL"):
        return tokens
    end = 3
    while end < at and tokens[end].token_type is TokenType.DOT:
        end += 2
    rest = tokens[at + 1 :]
    in_partition = find_top_level_keyword(rest, "IN")
    where = find_top_level_keyword(rest, "WHERE")
    settings = find_top_level_keyword(rest, "SETTINGS")
    rest = rest[:settings] if settings >= 0 else rest
    if 0 <= in_partition < where and keyword(rest[in_partition + 1]) == "PARTITION":
        rest = [*rest[:in_partition], *rest[where:]]
    if keyword(tokens[at]) == "UPDATE":
        return [tokens[at], *tokens[2:end], synthetic_token("SET", tokens[at]), *rest]
    return [tokens[at], synthetic_token("FROM", tokens[at]), *tokens[2:end], *rest]


def alias_last_source(tokens: list[Token]) -> list[Token]:
    """Teradata: adds an alias before SET in `UPDATE x FROM t AS x, s SET …`, or sqlglot takes SET for one."""
    first, set_ = find_top_level_keyword(tokens, "FROM"), find_top_level_keyword(tokens, "SET")
    if not 0 < first < set_ - 1:
        return tokens
    before = tokens[set_ - 2].token_type
    if before in (TokenType.FROM, TokenType.COMMA, TokenType.DOT):
        return [*tokens[:set_], synthetic_token("AS", tokens[set_ - 1]), tokens[set_ - 1], *tokens[set_:]]
    return tokens


def rewrite_inline_target(tokens: list[Token]) -> list[Token]:
    """Oracle, MySQL: `UPDATE (query) AS alias SET …` with the query as a CTE."""
    if len(tokens) < 3 or tokens[1].token_type is not TokenType.L_PAREN:
        return tokens
    end = skip_brackets(tokens, 1)
    query = tokens[1:end]
    end += keyword(tokens[min(end, len(tokens) - 1)]) == "AS"
    named = end < len(tokens) and keyword(tokens[end]) not in ("SET", "WHERE", "RETURNING", "LOG")
    name = [tokens[end]] if named else [synthetic_token("inline_view", tokens[1])]
    rest = tokens[end + named :]
    return [
        synthetic_token("WITH", tokens[0]),
        *name,
        synthetic_token("AS", tokens[0]),
        *query,
        tokens[0],
        *name,
        *rest,
    ]


def rewrite_inline_deletion(tokens: list[Token]) -> list[Token]:
    """Oracle: `DELETE FROM (query) WHERE …` with the query as a CTE."""
    begin = next((at for at in (1, 2) if at < len(tokens) and keyword(tokens[at]) == "FROM"), 0) + 1  # behind a hint
    if begin >= len(tokens) or tokens[begin].token_type is not TokenType.L_PAREN:
        return tokens
    _, *view = rewrite_inline_target([tokens[0], *tokens[begin:]])
    at = next(at for at, token in enumerate(view) if token is tokens[0]) + 1
    return [synthetic_token("WITH", tokens[0]), *view[:at], synthetic_token("FROM", tokens[0]), *view[at:]]


def rewrite_remote_target(tokens: list[Token]) -> list[Token]:
    """T-SQL: a write to OPENQUERY or OPENDATASOURCE as one to the table on that server.

    `UPDATE OPENQUERY(srv, 'SELECT a FROM t') SET a = 1` is one of an inline view, `UPDATE (SELECT a FROM srv.t) …`.
    """
    at = 1 + (len(tokens) > 1 and keyword(tokens[1]) in ("INTO", "FROM"))
    if not is_open_paren_at(tokens, at + 1) or keyword(tokens[at]) not in ("OPENQUERY", "OPENDATASOURCE"):
        return tokens
    end = skip_brackets(tokens, at + 1)
    if keyword(tokens[at]) == "OPENDATASOURCE":
        behind = tokens[end + 1 :] if token_type_at(tokens, end) is TokenType.DOT else []
        return (
            [*tokens[:at], retype_token(tokens[at], behind[0].token_type, behind[0].text), *behind[1:]]
            if behind
            else tokens
        )
    server, text = tokens[at + 2], tokens[end - 2]
    if end - at != _OPEN_QUERY_LENGTH or text.token_type is not TokenType.STRING:
        return tokens
    query = _read_remote_query(text, retype_token(tokens[at], server.token_type, server.text))
    view = [synthetic_token("(", text), *query, synthetic_token(")", text)]
    if keyword(tokens[0]) == "INSERT":
        return rewrite_inline_insert_target([tokens[0], synthetic_token("INTO", tokens[0]), *view, *tokens[end:]])
    rewrite = rewrite_inline_target if keyword(tokens[0]) == "UPDATE" else rewrite_inline_deletion
    return rewrite([tokens[0], *view, *tokens[end:]])


_OPEN_QUERY_LENGTH = 6
"""The tokens of `OPENQUERY(server, 'query')`."""


def _read_remote_query(text: Token, server: Token) -> list[Token]:
    """The tokens of a query in a string, its tables qualified with their server; they stand at the string."""
    try:
        inner = Tokenizer().tokenize(text.text)
    except TokenError:
        return []
    kept: list[Token] = []
    for token in inner:
        if kept and kept[-1].token_type in (TokenType.FROM, TokenType.JOIN) and is_name_at([token], 0):
            kept += [server, synthetic_token(".", text)]
        kept.append(retype_token(text, token.token_type, token.text))
    return kept


def rewrite_merge_delete(tokens: list[Token]) -> list[Token]:
    """Oracle: `UPDATE SET … DELETE WHERE c` of a MERGE as an arm of its own."""
    at = find_top_level_keyword(tokens, "DELETE")
    if at < 0 or at + 1 >= len(tokens) or keyword(tokens[at + 1]) != "WHERE":
        return tokens
    end = find_top_level_keyword(tokens, "WHEN", "LOG", start=at)
    end = end if end > 0 else len(tokens)
    arm = [synthetic_token(word, tokens[at]) for word in ("WHEN", "MATCHED", "AND")]
    return [*tokens[:at], *arm, *tokens[at + 2 : end], synthetic_token("THEN", tokens[at]), tokens[at], *tokens[end:]]


def rewrite_remove_duplicates(tokens: list[Token]) -> list[Token]:
    """Redshift: `MERGE … REMOVE DUPLICATES` as an arm that inserts the source row."""
    if [keyword(token) for token in tokens[-2:]] != ["REMOVE", "DUPLICATES"]:
        return tokens
    words = ("WHEN", "NOT", "MATCHED", "THEN", "INSERT", "ROW")
    return [*tokens[:-2], *(synthetic_token(word, tokens[-2]) for word in words)]


def rewrite_apply_changes(tokens: list[Token]) -> list[Token]:
    """Databricks: `APPLY CHANGES INTO t FROM s … COLUMNS * EXCEPT (…)` as an INSERT by name."""
    into, source = find_top_level_keyword(tokens, "INTO"), find_top_level_keyword(tokens, "FROM")
    keys = find_top_level_keyword(tokens, "KEYS")
    if not 0 < into < source < keys:
        return tokens
    columns = find_top_level_keyword(tokens, "COLUMNS", start=keys)
    stored = find_top_level_keyword(tokens, "STORED", "TRACK", start=columns) if columns > 0 else -1
    listed = tokens[columns + 1 : stored if stored > 0 else len(tokens)] if columns > 0 else []
    chosen = listed if listed and listed[0].token_type is not TokenType.L_PAREN else listed[1:-1]
    first = tokens[0]
    named = [synthetic_token("BY", first), synthetic_token("NAME", first), synthetic_token("SELECT", first)]
    star = [Token(TokenType.STAR, "*", first.line, first.col, first.start, first.end)]
    return [synthetic_token("INSERT", first), *tokens[into:source], *named, *(chosen or star), *tokens[source:keys]]


def rewrite_flow(tokens: list[Token]) -> list[Token]:
    """Databricks: CREATE FLOW as the statement that it runs."""
    if keyword(tokens[1] if len(tokens) > 1 else tokens[0]) != "FLOW":
        return tokens
    begin = find_top_level_keyword(tokens, "INSERT", "AUTO")
    if begin < 0:
        return tokens
    return tokens[begin:] if keyword(tokens[begin]) == "INSERT" else rewrite_apply_changes(tokens[begin:])


def rewrite_directory(tokens: list[Token]) -> list[Token]:
    """Spark: `INSERT OVERWRITE DIRECTORY USING f OPTIONS (path '…')` as `INSERT OVERWRITE DIRECTORY '…'`."""
    at = find_top_level_keyword(tokens, "DIRECTORY") + 1
    path = [tokens[at]] if at and token_type_at(tokens, at) is TokenType.STRING else []
    begin = at + len(path)
    if not at or begin >= len(tokens) or keyword(tokens[begin]) != "USING":
        return tokens
    end = skip_name(tokens, begin + 1)
    if end < len(tokens) and keyword(tokens[end]) == "OPTIONS":
        options = tokens[end : (end := skip_brackets(tokens, end + 1))]
        named = next((index for index, token in enumerate(options) if token.text.lower() == "path"), len(options))
        path = path or [token for token in options[named : named + 3] if token.token_type is TokenType.STRING]
    return [*tokens[:at], *path[-1:], *tokens[end:]]


def rewrite_format_rows(tokens: list[Token]) -> list[Token]:
    """ClickHouse: rows after FORMAT, in any format, as DEFAULT VALUES."""
    at = find_top_level_keyword(tokens, "FORMAT", "SELECT", "VALUES", "WITH", "FROM", start=3)  # behind the table
    if at < 0 or keyword(tokens[at]) != "FORMAT" or keyword(tokens[min(at + 1, len(tokens) - 1)]) == "VALUES":
        return tokens
    return [*tokens[:at], synthetic_token("DEFAULT", tokens[at]), synthetic_token("VALUES", tokens[at])]


_OUTPUT_STATEMENTS = ("INSERT", "UPDATE", "DELETE", "MERGE", "WITH")
_OUTPUT_ENDS = frozenset("FROM WHERE VALUES SELECT DEFAULT OPTION EXEC EXECUTE".split())
_BEHIND_NAME = _OUTPUT_ENDS | frozenset("= , ) < > + - * / ; . IS IN NOT AND OR WHEN AS".split())
"""What stands behind a column that is called OUTPUT, and never behind the keyword."""


def extract_outputs(tokens: list[Token]) -> tuple[list[Token], list[list[Token]]]:
    """T-SQL: a statement without its OUTPUT clauses, and those clauses as statements."""
    if keyword(tokens[0]) not in _OUTPUT_STATEMENTS or "OUTPUT" not in map(keyword, tokens):
        return tokens, []
    kept: list[Token] = []
    clauses: list[list[Token]] = []
    index, depth = 0, 0
    while index < len(tokens):
        depth += paren_step(tokens[index])
        if depth == 0 and _begins_output(tokens, index):
            end = _find_output_end(tokens, index + 1)
            clauses.append(_build_output_statement(tokens[index], tokens[index + 1 : end]))
            index = end
        else:
            kept.append(tokens[index])
            index += 1
    return kept, clauses


def _begins_output(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token is the keyword OUTPUT, and not the name of a column or table."""
    if keyword(tokens[index]) != "OUTPUT" or not 0 < index < len(tokens) - 1:
        return False
    named = tokens[index - 1].token_type is TokenType.DOT or keyword(tokens[index - 1]) in TABLE_NAME_WORDS
    return not named and keyword(tokens[index + 1]) not in _BEHIND_NAME


def _find_output_end(tokens: Sequence[Token], index: int) -> int:
    depth = 0
    while index < len(tokens):
        depth += paren_step(tokens[index])
        if depth == 0 and (keyword(tokens[index]) in _OUTPUT_ENDS or _begins_output(tokens, index)):
            break
        index += 1
    return index


def _build_output_statement(output: Token, clause: Sequence[Token]) -> list[Token]:
    """`a, b INTO t (x, y)` as `INSERT INTO t (x, y) SELECT a, b`."""
    into = next((index for index, token in enumerate(clause) if keyword(token) == "INTO"), len(clause))
    selected = [synthetic_token("SELECT", output), *clause[:into]]
    return [synthetic_token("INSERT", output), *clause[into:], *selected] if into < len(clause) else selected


def drop_current_of(tokens: Sequence[Token]) -> list[Token]:
    """UPDATE and DELETE without `WHERE CURRENT OF c`, which is not a condition on columns."""
    words = [keyword(token) for token in tokens]
    at = next((at for at in range(len(words) - 3) if words[at : at + 3] == ["WHERE", "CURRENT", "OF"]), len(words))
    behind = at + (5 if words[at + 3 : at + 4] in (["GLOBAL"], ["@"], [":"]) else 4)
    return [*tokens[:at], *tokens[behind:]]


_ASSIGNMENT_ENDS = frozenset(", WHERE ORDER LIMIT )".split())


def bracket_assignments(tokens: Sequence[Token]) -> list[Token]:
    """MySQL: `SET c = @v := x` with parentheses around the nested assignment."""
    if not any(token.token_type is TokenType.COLON_EQ for token in tokens):
        return list(tokens)
    kept: list[Token] = []
    ends: list[int] = []
    for index, token in enumerate(tokens):
        if ends and index == ends[-1]:
            kept.append(synthetic_token(")", tokens[ends.pop() - 1]))
        kept.append(token)
        assigned = tokens[index + 1 : index + 4]
        if token.token_type is TokenType.EQ and [part.text for part in assigned[::2]] == ["@", ":="]:
            kept.append(synthetic_token("(", assigned[0]))
            ends.append(_find_value_end(tokens, index + 4))
    return [*kept, *(synthetic_token(")", tokens[-1]) for _ in ends)]


def _find_value_end(tokens: Sequence[Token], index: int) -> int:
    """The index after a value: what ends it outside its parentheses."""
    while index < len(tokens) and keyword(tokens[index]) not in _ASSIGNMENT_ENDS:
        index = skip_brackets(tokens, index) if tokens[index].token_type is TokenType.L_PAREN else index + 1
    return index


def drop_error_log(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: drops `LOG ERRORS …` at the end of a statement."""
    words = [keyword(token) for token in tokens]
    pairs = zip(words, words[1:], strict=False)
    return list(tokens[: next((at for at, pair in enumerate(pairs) if pair == ("LOG", "ERRORS")), len(tokens))])


def rewrite_delete_stars(tokens: Sequence[Token]) -> list[Token]:
    """MySQL: `DELETE t.*, u.* FROM …` as `DELETE t, u FROM …`."""
    end = next((at for at, token in enumerate(tokens) if keyword(token) in ("USING", "WHERE", "JOIN")), len(tokens))
    kinds = [token.token_type for token in tokens]
    stars = {at for at in range(1, end) if kinds[at - 1 : at + 1] == [TokenType.DOT, TokenType.STAR]}
    dropped = stars | {at - 1 for at in stars}
    return [token for at, token in enumerate(tokens) if keyword(tokens[0]) != "DELETE" or at not in dropped]


def rewrite_inline_insert_target(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `INSERT INTO (SELECT a, b FROM t …) …` as `INSERT INTO t (a, b) …`."""
    words = [keyword(token) for token in tokens[:4]]
    if words != ["INSERT", "INTO", "(", "SELECT"]:
        return list(tokens)
    end = skip_brackets(tokens, 2)
    source = next((at for at in range(4, end) if keyword(tokens[at]) == "FROM"), end)
    behind = skip_name(tokens, source + 1)
    columns = tokens[4:source]
    if behind == source + 1 or not all(is_name_at([token], 0) or keyword(token) in (",", ".") for token in columns):
        return list(tokens)
    return [*tokens[:2], *tokens[source + 1 : behind], tokens[2], *columns, tokens[end - 1], *tokens[end:]]


def drop_bound_returning(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: RETURNING … INTO client variables, without those."""
    words = [keyword(token) for token in tokens]
    returning = next((at for at, word in enumerate(words) if word in ("RETURNING", "RETURN")), len(words))
    into = next((at for at in range(returning, len(words)) if words[at] == "INTO"), len(words))
    bound = into + 1 < len(tokens) and tokens[into + 1].token_type is TokenType.COLON
    return list(tokens[:into] if bound else tokens)


def rewrite_druid_ingestion(tokens: Sequence[Token]) -> list[Token]:
    """Druid: `REPLACE INTO t OVERWRITE … query` as an INSERT, without `PARTITIONED BY …`."""
    words = [keyword(token) for token in tokens]
    if words[:2] not in (["INSERT", "INTO"], ["REPLACE", "INTO"]):
        return list(tokens)
    end = skip_name(tokens, 2)
    query = end
    if words[end : end + 1] == ["OVERWRITE"]:
        query = next((at for at in range(end, len(words)) if words[at] in ("SELECT", "WITH")), end)
    kept = next((at for at in range(query, len(words)) if words[at] in _INGESTION_CLAUSES), len(words))
    return [synthetic_token("INSERT", tokens[0]), *tokens[1:end], *rewrite_extern(tokens[query:kept])]


_INGESTION_CLAUSES = frozenset({"PARTITIONED", "PARTITIONED BY", "CLUSTERED", "CLUSTERED BY"})


_COMPOUND_TOKENS = (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD)


def expand_compound_assignments(tokens: list[Token]) -> list[Token]:
    """T-SQL: `x += y` becomes `x = x + y`."""
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


def merge_conflict_clauses(tokens: Sequence[Token]) -> list[Token]:
    """SQLite: `ON CONFLICT (a) DO … ON CONFLICT (b) DO …` with one clause that makes all assignments."""
    starts = [index for index in range(len(tokens)) if _begins_conflict(tokens, index)]
    if len(starts) < 2:
        return list(tokens)
    kept = list(tokens[: starts[0]])
    clauses = [tokens[start:end] for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)]
    updates = [clause for clause in clauses if "UPDATE" in map(keyword, clause)]
    last = updates[0] if updates else clauses[0]
    kept.extend(last)
    for clause in updates[1:]:
        begin = next(index for index, token in enumerate(clause) if keyword(token) == "SET")
        kept.append(synthetic_token(",", clause[0]))
        kept.extend(clause[begin + 1 :])
    return kept


def _begins_conflict(tokens: Sequence[Token], index: int) -> bool:
    return [keyword(token) for token in tokens[index : index + 2]] == ["ON", "CONFLICT"]


def separate_rows(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `VALUES (1)(2)` with commas between the rows."""
    kept: list[Token] = []
    depth, rows = 0, False
    for token in tokens:
        rows = rows or keyword(token) == "VALUES"
        closed = kept[-1].token_type is TokenType.R_PAREN if kept else False
        if rows and depth == 0 and closed and token.token_type is TokenType.L_PAREN:
            kept.append(synthetic_token(",", token))
        depth += paren_step(token)
        kept.append(token)
    return kept


def drop_target_subscripts(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `INSERT INTO t (a[1:2], b.x)` with the columns `a, b`, whose elements or fields are written."""
    opened = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.L_PAREN), -1)
    if opened < 0 or "INTO" not in map(keyword, tokens[:opened]):
        return list(tokens)
    kept = list(tokens[: opened + 1])
    closed = skip_brackets(tokens, opened)
    depth, after = 0, False
    for token in tokens[opened + 1 : closed]:
        kind = token.token_type
        depth += (kind is TokenType.L_BRACKET) - (kind is TokenType.R_BRACKET)
        after = kind not in (TokenType.COMMA, TokenType.R_PAREN) and (
            after or kind in (TokenType.L_BRACKET, TokenType.DOT)
        )
        if not depth and not after:
            kept.append(token)
    return [*kept, *tokens[closed:]]


def bracket_value_rows(tokens: Sequence[Token]) -> list[Token]:
    """MySQL: `INSERT INTO t (VALUES ROW(1, 2))` as `INSERT INTO t VALUES (1, 2)`."""
    words = [keyword(token) for token in tokens]
    opened = next((at for at in range(len(words) - 2) if words[at : at + 2] == ["(", "VALUES"]), -1)
    if opened < 0 or words[0] not in ("INSERT", "REPLACE"):
        return list(tokens)
    closed = skip_brackets(tokens, opened)
    inner = [token for token in tokens[opened + 1 : closed - 1] if keyword(token) not in ("ROW", "STRUCT")]
    return [*tokens[:opened], *inner, *tokens[closed:]]


def wrap_value_rows(tokens: Sequence[Token]) -> list[Token]:
    """`WITH … VALUES (1) UNION SELECT a` with `SELECT * FROM (VALUES (1))` in place of the rows."""
    kept: list[Token] = []
    index, writes = 0, not {"INSERT", "REPLACE"}.isdisjoint(map(keyword, tokens))
    while index < len(tokens):
        end = _skip_rows(tokens, index) if keyword(tokens[index]) == "VALUES" else index
        follows = keyword(tokens[end]) if end < len(tokens) else ""
        behind_cte = bool(kept) and kept[-1].token_type is TokenType.R_PAREN and not writes
        if end > index and (follows in _SET_OPERATORS or behind_cte or keyword(tokens[index - 1]) in _SET_OPERATORS):
            kept.extend(synthetic_token(word, tokens[index]) for word in ("SELECT", "*", "FROM", "("))
            kept.extend(tokens[index:end])
            kept.append(synthetic_token(")", tokens[end - 1]))
            index = end
            continue
        kept.append(tokens[index])
        index += 1
    return kept


_SET_OPERATORS = frozenset("UNION EXCEPT INTERSECT".split())


def _skip_rows(tokens: Sequence[Token], index: int) -> int:
    """The index after the rows behind VALUES."""
    index += 1
    while index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN:
        index = skip_brackets(tokens, index)
        if index + 1 < len(tokens) and tokens[index].token_type is TokenType.COMMA:
            index += 1
    return index


def rewrite_multiple_deletion(tokens: list[Token]) -> list[Token]:
    """MySQL: `DELETE FROM t, u USING t JOIN u …` as `DELETE t, u FROM t JOIN u …`."""
    begin = next((at for at, token in enumerate(tokens[:6]) if keyword(token) == "FROM"), 0)
    using = find_top_level_keyword(tokens, "USING", "WHERE", "JOIN")
    targets = tokens[begin + 1 : using]
    if using < 0 or keyword(tokens[using]) != "USING" or not any(token.text == "," for token in targets):
        return tokens
    return [*tokens[:begin], *targets, tokens[begin], *tokens[using + 1 :]]
