"""Query clauses: rewrites of joins, time travel, GROUP BY, ORDER BY and recursive CTEs."""

from collections.abc import Mapping, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.tokens import (
    STATEMENT_KEYWORDS,
    is_name_at,
    keyword,
    paren_step,
    skip_brackets,
    split_list,
    synthetic_token,
    token_type_at,
)


def alias_lateral_views(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `LATERAL VIEW f(x) t c` with AS before its columns."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        if keyword(tokens[index]) != "VIEW" or not index or keyword(tokens[index - 1]) != "LATERAL":
            kept.append(tokens[index])
            index += 1
            continue
        opened = index + 1
        while opened < len(tokens) and tokens[opened].token_type is not TokenType.L_PAREN:
            opened += 1
        alias = skip_brackets(tokens, opened)
        kept.extend(tokens[index : alias + 1])
        index = alias + 1
        if is_name_at(tokens, alias) and is_name_at(tokens, index) and tokens[index].token_type is TokenType.VAR:
            kept.append(synthetic_token("AS", tokens[alias]))
    return kept


def rewrite_nearest_joins(tokens: Sequence[Token]) -> list[Token]:
    """Spark: `JOIN t APPROX NEAREST 3 BY DISTANCE x` as `JOIN t ON x`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _skip_nearest(tokens, index)
        kept.append(synthetic_token("ON", tokens[index]) if end > index else tokens[index])
        index = max(end, index + 1)
    return kept


def _skip_nearest(tokens: Sequence[Token], index: int) -> int:
    """The index after the keywords of a nearest join that begin at a token, or that index."""
    words = [keyword(token) for token in tokens[index : index + 5]]
    if words[:2] not in (["APPROX", "NEAREST"], ["EXACT", "NEAREST"]):
        return index
    by = next((at for at in (2, 3) if words[at : at + 1] == ["BY"]), 0)
    return index + by + 2 if by and words[by + 1 : by + 2] in (["DISTANCE"], ["SIMILARITY"]) else index


def keep_first_search_key(tokens: Sequence[Token]) -> list[Token]:
    """`SEARCH DEPTH FIRST BY a, b SET …` and `CYCLE a, b SET …` with their first column: sqlglot reads one."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        words = [keyword(token) for token in tokens[max(index - 1, 0) : index + 1]]
        index += 1
        if words[-1] == "CYCLE" or words == ["FIRST", "BY"]:
            kept.extend(tokens[index : index + 1])
            index += 1
            while index < len(tokens) and keyword(tokens[index]) in _SEARCH_KEY_WORDS:
                index += 2 if tokens[index].token_type is TokenType.COMMA else 1
    return kept


_SEARCH_KEY_WORDS = frozenset(", ASC DESC NULLS FIRST LAST".split())
"""What may follow the first key of SEARCH."""


def drop_order_operator(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `ORDER BY a USING <` without the operator."""
    kept: list[Token] = []
    index, ordering = 0, False
    while index < len(tokens):
        word = keyword(tokens[index])
        ordering = (ordering or word == "ORDER BY") and word not in ("LIMIT", "OFFSET", "FETCH", ";")
        if not ordering or word != "USING":
            kept.append(tokens[index])
            index += 1
            continue
        named = keyword(tokens[min(index + 1, len(tokens) - 1)]) == "OPERATOR"
        index = skip_brackets(tokens, index + 2) if named else index + 2
    return kept


def strip_join_aliases(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `JOIN t USING (a) AS j` without the alias of the join."""
    kept: list[Token] = []
    merged: dict[str, Sequence[Token]] = {}
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        columns = _read_using_columns(tokens, index) if keyword(tokens[index - 1]) == "USING" else ()
        behind = index + len(columns) + 2
        if columns and behind + 1 < len(tokens) and keyword(tokens[behind]) == "AS":
            kept.extend(tokens[index:behind])
            merged[tokens[behind + 1].text] = columns
            index = behind + 2
    return _replace_join_qualifiers(kept, merged)


def _read_using_columns(tokens: Sequence[Token], index: int) -> Sequence[Token]:
    """The columns of USING in parentheses, with their commas; empty if it is no such list."""
    if index >= len(tokens) or tokens[index].token_type is not TokenType.L_PAREN:
        return ()
    columns = tokens[index + 1 : skip_brackets(tokens, index) - 1]
    is_list = all(is_name_at(columns, at) if at % 2 == 0 else token.text == "," for at, token in enumerate(columns))
    return columns if is_list else ()


def _replace_join_qualifiers(tokens: Sequence[Token], merged: Mapping[str, Sequence[Token]]) -> list[Token]:
    """The tokens without join aliases: `j.a` is `a`, and `j.*` the columns of USING."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        columns = merged.get(tokens[index].text)
        if columns is None or index + 2 >= len(tokens) or tokens[index + 1].token_type is not TokenType.DOT:
            kept.append(tokens[index])
            index += 1
            continue
        if tokens[index + 2].token_type is TokenType.STAR:
            kept.extend(_move_token(column, tokens[index], tokens[index + 2]) for column in columns)
        else:
            kept.append(tokens[index + 2])
        index += 3
    return kept


def _move_token(token: Token, first: Token, last: Token) -> Token:
    """A token at the place of others, from the first to the last."""
    return Token(token.token_type, token.text, first.line, first.col, first.start, last.end)


_TIME_TRAVEL_ENDS = frozenset(
    "AS JOIN INNER LEFT RIGHT FULL CROSS NATURAL WHERE GROUP ORDER HAVING QUALIFY LIMIT ON USING UNION EXCEPT "
    "INTERSECT MINUS WINDOW TABLESAMPLE PIVOT UNPIVOT MATCH_RECOGNIZE CONNECT START , ) ;".split()
) | {"GROUP BY", "ORDER BY", "|>"}
"""Keywords and signs that may follow the time of a table."""


def drop_system_time(tokens: Sequence[Token]) -> list[Token]:
    """`t FOR SYSTEM_TIME AS OF x AS a` as `t AS a`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        words = " ".join(keyword(token) for token in tokens[index : index + 4])
        if not words.startswith("FOR SYSTEM_TIME AS OF"):
            kept.append(tokens[index])
            index += 1
            continue
        index = _skip_time(tokens, index + words[: len("FOR SYSTEM_TIME AS OF")].count(" ") + 1)
    return kept


def drop_versions(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `t VERSIONS BETWEEN SCN x AND y` as `t`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = keyword(tokens[index]) == "VERSIONS" and keyword(tokens[min(index + 1, len(tokens) - 1)]) == "BETWEEN"
        if not opened:
            kept.append(tokens[index])
            index += 1
            continue
        index = _skip_time(tokens, index + 2)
    return kept


def _skip_time(tokens: Sequence[Token], index: int) -> int:
    """The index after an expression that gives a time."""
    while index < len(tokens) and keyword(tokens[index]) not in _TIME_TRAVEL_ENDS:
        opened = tokens[index].token_type is TokenType.L_PAREN
        index = skip_brackets(tokens, index) if opened else index + 1
    return index


def strip_locking(tokens: list[Token]) -> list[Token]:
    """Teradata: `LOCKING TABLE t FOR ACCESS SELECT …` as the statement alone."""
    for index in range(2, len(tokens)):
        mode = keyword(tokens[index - 1]) in ("ACCESS", "READ", "WRITE", "EXCLUSIVE", "SHARE", "MODE", "NOWAIT")
        if mode and keyword(tokens[index]) in STATEMENT_KEYWORDS:
            return tokens[index:]
    return tokens


def drop_xml_namespaces(tokens: list[Token]) -> list[Token]:
    """T-SQL: drops WITH XMLNAMESPACES (…) but keeps CTEs of the same WITH."""
    for index, token in enumerate(tokens[:-2]):
        if keyword(token) == "WITH" and keyword(tokens[index + 1]) == "XMLNAMESPACES":
            end = skip_brackets(tokens, index + 2)
            if end < len(tokens) and tokens[end].token_type is TokenType.COMMA:
                return [*tokens[: index + 1], *tokens[end + 1 :]]
            return [*tokens[:index], *tokens[end:]] or tokens
    return tokens


def rewrite_comma_joins(tokens: Sequence[Token]) -> list[Token]:
    """SQLite: `FROM t, u ON t.a = u.a` with JOIN in place of the comma: a list of tables may have conditions."""
    kept = list(tokens)
    commas: dict[int, int] = {}  # the last comma of the FROM at each depth
    depth, listing = 0, set[int]()
    for index, token in enumerate(tokens):
        word = keyword(token)
        if word == "FROM":
            listing.add(depth)
        elif word == "," and depth in listing:
            commas[depth] = index
        elif word == "JOIN" or word in _AFTER_FROM:
            commas.pop(depth, None)
            listing.discard(depth) if word in _AFTER_FROM else None
        elif word in ("ON", "USING") and depth in commas:
            kept[commas.pop(depth)] = synthetic_token("JOIN", token)
        step = paren_step(token)
        if step < 0:
            commas.pop(depth, None)
            listing.discard(depth)
        depth += step
    return kept


_AFTER_FROM = frozenset("WHERE GROUP ORDER HAVING LIMIT UNION EXCEPT INTERSECT WINDOW".split())
"""Keywords that end a FROM clause."""


def drop_argument_settings(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `mysql(…, SETTINGS a = 1)` without the settings of a table function."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        before = kept[-1].token_type if kept else None
        given = token_type_at(tokens, index + 2) is TokenType.EQ  # elsewhere, it is the name of a column
        if keyword(tokens[index]) == "SETTINGS" and given and before in (TokenType.COMMA, TokenType.L_PAREN):
            depth = 0
            while index < len(tokens) and (depth or tokens[index].token_type is not TokenType.R_PAREN):
                depth += paren_step(tokens[index])
                index += 1
            if before is TokenType.COMMA:
                kept.pop()
            continue
        kept.append(tokens[index])
        index += 1
    return kept


def unwrap_explained_queries(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `FROM (EXPLAIN actions = 1 SELECT …)` as the rows of text that it gives."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        named = token_type_at(tokens, index + 1) in (TokenType.COMMA, TokenType.R_PAREN)
        if keyword(token) == "EXPLAIN" and not named and kept and kept[-1].token_type is TokenType.L_PAREN:
            closed = skip_brackets(tokens, index - 1) - 1
            begin = next((at for at in range(index, closed) if keyword(tokens[at]) in ("SELECT", "WITH")), closed)
            if begin < closed:
                kept.extend(synthetic_token(word, token) for word in ("SELECT", "NULL", "AS", "explain", "FROM", "("))
                kept.extend(tokens[begin:closed])
                kept.append(synthetic_token(")", token))
            else:
                kept.extend(synthetic_token(word, token) for word in ("SELECT", "NULL", "AS", "explain"))
            index = closed
            continue
        kept.append(token)
        index += 1
    return kept


def shorten_limits(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `LIMIT 2, 1 BY a LIMIT 10` as `LIMIT 1 BY a`: sqlglot knows one LIMIT, and BY without offset."""
    kept: list[Token] = []
    limited: set[int] = set()  # the depths at which a LIMIT BY stands
    index = depth = 0
    while index < len(tokens):
        word = keyword(tokens[index])
        if word == "LIMIT":
            end = _skip_limit(tokens, index + 1)
            by = end < len(tokens) and keyword(tokens[end]) == "BY"
            if by or depth not in limited:
                kept += tokens[index : index + 2] if by else tokens[index:end]
            limited = limited | {depth} if by else limited - {depth}
            index = end
            continue
        step = paren_step(tokens[index])
        if step < 0 or word in ("UNION", "EXCEPT", "INTERSECT"):
            limited.discard(depth)
        depth += step
        kept.append(tokens[index])
        index += 1
    return kept


def _skip_limit(tokens: Sequence[Token], index: int) -> int:
    """The index after the numbers of a LIMIT."""
    while index < len(tokens) and keyword(tokens[index]) not in _AFTER_LIMIT:
        index = skip_brackets(tokens, index) if tokens[index].token_type is TokenType.L_PAREN else index + 1
    return index


_AFTER_LIMIT = frozenset("BY SETTINGS FORMAT UNION EXCEPT INTERSECT INTO LIMIT ) ;".split())
"""What may follow the numbers of a LIMIT."""


def drop_join_partitions(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `t PARTITION BY (a) RIGHT OUTER JOIN u` without the groups that are filled up."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        if keyword(tokens[index]) == "PARTITION BY":
            opened = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
            end = skip_brackets(tokens, index + 1) if opened else index
            named = is_name_at(tokens, end) and keyword(tokens[end]) not in _JOIN_STARTS
            behind = end + named
            if end > index and behind < len(tokens) and keyword(tokens[behind]) in _JOIN_STARTS:
                index = end
                continue
        kept.append(tokens[index])
        index += 1
    return kept


_JOIN_STARTS = frozenset("LEFT RIGHT FULL OUTER JOIN ON USING".split())
"""Keywords behind a table in a join."""


def rewrite_unique_joins(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `FROM UNIQUEJOIN PRESERVE t a (a.k), u b (b.k)` as `FROM t a FULL JOIN u b ON a.k = b.k`."""
    words = [keyword(token) for token in tokens]
    at = next((at for at in range(1, len(words)) if words[at - 1 : at + 1] == ["FROM", "UNIQUEJOIN"]), -1)
    if at < 0:
        return list(tokens)
    kept, index = list(tokens[:at]), at + 1
    keys: list[Sequence[Token]] = []
    while index < len(tokens):
        index += keyword(tokens[index]) == "PRESERVE"
        opened = index
        while opened < len(tokens) and tokens[opened].token_type is not TokenType.L_PAREN:
            opened += 1
        end = skip_brackets(tokens, opened)
        given = split_list(tokens[opened + 1 : end - 1])
        kept += tokens[index:opened]
        if keys:
            kept += _equate_keys(keys, given)
        else:
            keys = list(given)
        index = end
        if index >= len(tokens) or tokens[index].token_type is not TokenType.COMMA:
            break
        kept += [synthetic_token("FULL", tokens[index]), synthetic_token("JOIN", tokens[index])]
        index += 1
    return [*kept, *tokens[index:]]


def _equate_keys(keys: Sequence[Sequence[Token]], given: Sequence[Sequence[Token]]) -> list[Token]:
    """`ON a.k = b.k AND …` of two lists of keys."""
    kept: list[Token] = []
    for one, other in zip(keys, given, strict=False):
        near = other[0]
        kept += [synthetic_token("AND" if kept else "ON", near), *one, synthetic_token("=", near), *other]
    return kept


def drop_portions(tokens: Sequence[Token]) -> list[Token]:
    """`UPDATE t FOR PORTION OF valid FROM x TO y SET …` without the time for which rows are changed."""
    begin = next((at for at in range(len(tokens) - 2) if _begins_portion(tokens, at)), -1)
    ends = (
        at for at in range(max(begin, 0), len(tokens)) if keyword(tokens[at]) in ("SET", "WHERE", "USING", "AS", ";")
    )
    return [*tokens[:begin], *tokens[next(ends, len(tokens)) :]] if begin >= 0 else list(tokens)


def _begins_portion(tokens: Sequence[Token], index: int) -> bool:
    return [keyword(token) for token in tokens[index : index + 3]] == ["FOR", "PORTION", "OF"]
