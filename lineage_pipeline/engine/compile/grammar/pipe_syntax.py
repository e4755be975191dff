"""Pipe syntax: `FROM t |> WHERE … |> SELECT …` as nested queries.
Tokens keep their offsets; inserted ones have none, so that no span points at text that is not written.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.tokens import OPERAND_END_TOKENS, keyword, retype_token, skip_brackets

TokenList = list[Token]


class PipeStage(msgspec.Struct, frozen=True):
    """The query up to a pipe step: a whole query, or sources with conditions and an order."""

    source: TokenList
    query: TokenList | None = None
    where: TokenList = []
    tail: TokenList = []
    alias: Token | None = None


def rewrite_pipes(tokens: TokenList) -> TokenList:
    """The tokens without pipes; unchanged if a step is unknown."""
    if not any(token.token_type is TokenType.PIPE_GT for token in tokens):
        return tokens
    head, *steps = _split_at(_rewrite_nested_pipes(tokens), TokenType.PIPE_GT)
    if not head:
        return tokens
    prefix, stage = _read_head(head)
    for step in steps:
        advance = PIPE_STEPS.get(keyword(step[0])) if step else None
        if advance is None:
            return tokens
        stage = advance(stage, step)
    return [*prefix, *_build_query(stage, head[0])]


def _rewrite_nested_pipes(tokens: TokenList) -> TokenList:
    """The tokens with the pipes in parentheses rewritten."""
    kept: TokenList = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        kept.append(token)
        index += 1
        if token.token_type is TokenType.L_PAREN:
            close = max(skip_brackets(tokens, index - 1) - 1, index)  # one that nobody closes may stand last
            kept.extend(rewrite_pipes(tokens[index:close]))
            index = close
    return kept


def _split_at(tokens: TokenList, separator: TokenType) -> Iterator[TokenList]:
    """The tokens between separators outside parentheses."""
    part: TokenList = []
    depth = 0
    for token in tokens:
        kind = token.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if kind is separator and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _read_head(head: TokenList) -> tuple[TokenList, PipeStage]:
    """The tokens before the query that starts the pipe, and that query."""
    outside = [(index, keyword(token)) for index, token in _outside_parens(head)]
    words = {word: index for index, word in reversed(outside)}
    first = min(words.get(word, len(head)) for word in ("SELECT", "FROM"))
    if first == len(head):
        starts = (index for index, word in outside if word in ("TABLE", "VALUES") and _begins_query(head, index))
        start = next(starts, 0)
        if keyword(head[start]) == "TABLE":
            return head[:start], PipeStage(head[start + 1 :], alias=head[-1])
        return head[:start], PipeStage([], query=head[start:])
    prefix, query = head[:first], head[first:]
    if "SELECT" in words:
        return prefix, PipeStage([], query=query)
    simple = len(query) == 2 or (len(query) > 2 and all(_is_name_token(token) for token in query[1:]))
    return prefix, PipeStage(query[1:], alias=query[-1] if simple else None)


def _begins_query(tokens: TokenList, index: int) -> bool:
    """Spark: the query `TABLE t` or `VALUES …`, alone or as in `CREATE VIEW v AS TABLE t`."""
    return index == 0 or keyword(tokens[index - 1]) == "AS"


def _is_name_token(token: Token) -> bool:
    return token.token_type in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.ALIAS)


def _outside_parens(tokens: TokenList) -> Iterator[tuple[int, Token]]:
    """The tokens outside parentheses, with their indexes."""
    depth = 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and kind is not TokenType.R_PAREN:
            yield index, token


def _build_token(near: Token, kind: TokenType, text: str) -> Token:
    """A synthetic token without an offset, on the line of another token."""
    return Token(kind, text, near.line, near.col, -1, -1)


def _bracket(near: Token, tokens: Sequence[Token]) -> TokenList:
    return [_build_token(near, TokenType.L_PAREN, "("), *tokens, _build_token(near, TokenType.R_PAREN, ")")]


def _build_select(stage: PipeStage, near: Token, outputs: Sequence[Token]) -> TokenList:
    """The query that selects something from a stage."""
    source = stage.source if stage.query is None else _bracket(near, stage.query)
    if stage.query is not None and stage.alias is not None:
        source = [*source, _build_token(near, TokenType.ALIAS, "AS"), stage.alias]
    where = [_build_token(near, TokenType.WHERE, "WHERE"), *stage.where] if stage.where else []
    selected = [_build_token(near, TokenType.SELECT, "SELECT"), *outputs, _build_token(near, TokenType.FROM, "FROM")]
    return [*selected, *source, *where, *stage.tail]


def _build_query(stage: PipeStage, near: Token) -> TokenList:
    """A stage as a query."""
    if stage.query is not None and not stage.where and not stage.tail:
        return stage.query
    return _build_select(stage, near, [_build_token(near, TokenType.STAR, "*")])


_CLAUSES_AFTER_FROM = ("WINDOW", "GROUP BY", "HAVING", "QUALIFY")
"""Clauses that follow the list of a step, and the sources of a query."""


def _select_step(stage: PipeStage, step: TokenList) -> PipeStage:
    behind = next((index for index, token in _outside_parens(step) if keyword(token) in _CLAUSES_AFTER_FROM), len(step))
    base = (
        PipeStage([], query=_build_query(stage, step[0]), alias=stage.alias) if stage.tail and step[behind:] else stage
    )
    return PipeStage([], query=[*_build_select(base, step[0], step[1:behind]), *step[behind:]])


def _build_select_step(*outputs: tuple[TokenType, str]) -> Callable[[PipeStage, TokenList], PipeStage]:
    """A step that selects: the given tokens precede what it lists."""

    def advance(stage: PipeStage, step: TokenList) -> PipeStage:
        put_in = [_build_token(step[0], kind, text) for kind, text in outputs]
        return PipeStage([], query=_build_select(stage, step[0], [*put_in, *step[1:]]))

    return advance


def _build_star_step(
    kind: TokenType, word: str, change: Callable[[TokenList], TokenList]
) -> Callable[[PipeStage, TokenList], PipeStage]:
    """A step that keeps all columns and modifies some in a list after the star."""

    def advance(stage: PipeStage, step: TokenList) -> PipeStage:
        listed: TokenList = []
        for item in _split_at(step[1:], TokenType.COMMA):
            listed += [_build_token(step[0], TokenType.COMMA, ","), *change(item)]
        star = [
            _build_token(step[0], TokenType.STAR, "*"),
            _build_token(step[0], kind, word),
            *_bracket(step[0], listed[1:]),
        ]
        return PipeStage([], query=_build_select(stage, step[0], star), alias=stage.alias)

    return advance


def _swap_assignment(item: TokenList) -> TokenList:
    """`column = expression` as `expression AS column`."""
    return [*item[2:], _build_token(item[0], TokenType.ALIAS, "AS"), item[0]] if item else []


def _extend_step(stage: PipeStage, step: TokenList) -> PipeStage:
    star = [_build_token(step[0], TokenType.STAR, "*"), _build_token(step[0], TokenType.COMMA, ",")]
    return PipeStage([], query=_build_select(stage, step[0], [*star, *step[1:]]), alias=stage.alias)


def _alias_step(stage: PipeStage, step: TokenList) -> PipeStage:
    return PipeStage([], query=_build_query(stage, step[0]), alias=step[-1])


def _where_step(stage: PipeStage, step: TokenList) -> PipeStage:
    if stage.tail:
        return PipeStage([], query=_build_query(stage, step[0]), where=_bracket(step[0], step[1:]), alias=stage.alias)
    joint = [_build_token(step[0], TokenType.AND, "AND")] if stage.where else []
    return msgspec.structs.replace(stage, where=[*stage.where, *joint, *_bracket(step[0], step[1:])])


def _order_limit_step(stage: PipeStage, step: TokenList) -> PipeStage:
    if stage.tail and keyword(step[0]) != "LIMIT" and keyword(step[0]) != "OFFSET":
        return PipeStage([], query=_build_query(stage, step[0]), tail=step, alias=stage.alias)
    return msgspec.structs.replace(stage, tail=[*stage.tail, *step])


def _aggregate_step(stage: PipeStage, step: TokenList) -> PipeStage:
    """AGGREGATE: keys come first, and may have aliases."""
    words = [keyword(token) for token in step]
    by = next((index for index, word in enumerate(words) if word == "GROUP BY"), len(step))
    if "GROUP" in words[:by]:  # GROUP AND ORDER BY
        by = words.index("GROUP") + 2
    aggregates = step[1 : words.index("GROUP") if "GROUP" in words else by]
    keys = [_strip_direction(key) for key in _split_at(step[by + 1 :], TokenType.COMMA)] if by < len(step) else []
    comma = _build_token(step[0], TokenType.COMMA, ",")
    listed = [token for part in [*keys, aggregates] if part for token in (comma, *part)][1:]
    grouped = [token for key in keys for token in (comma, *_grouping_key(key))][1:]
    group = [_build_token(step[0], TokenType.GROUP_BY, "GROUP BY"), *grouped] if keys else []
    base = PipeStage([], query=_build_query(stage, step[0]), alias=stage.alias) if stage.tail else stage
    return PipeStage([], query=[*_build_select(base, step[0], listed), *group])


def _strip_direction(key: TokenList) -> TokenList:
    """A key without its sort direction."""
    directed = next((at for at, token in enumerate(key) if keyword(token) in ("ASC", "DESC", "NULLS")), len(key))
    return key[:directed]


def _grouping_key(key: TokenList) -> TokenList:
    """What a key is grouped by: its alias if it has one, with AS or without."""
    named = len(key) > 1 and key[-1].token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    return key[-1:] if named and key[-2].token_type in (TokenType.ALIAS, *OPERAND_END_TOKENS) else key


def _join_step(stage: PipeStage, step: TokenList) -> PipeStage:
    if stage.query is None and not stage.tail:
        return msgspec.structs.replace(stage, source=[*stage.source, *step], alias=None)
    source = _bracket(step[0], _build_query(stage, step[0]))
    named = [_build_token(step[0], TokenType.ALIAS, "AS"), stage.alias] if stage.alias is not None else []
    return PipeStage([*source, *named, *step])


_QUERY_STARTS = ("(", "SELECT", "FROM", "TABLE", "VALUES", "WITH")
"""Keywords and signs that begin a query."""


def _set_operation_step(stage: PipeStage, step: TokenList) -> PipeStage:
    """A set operation with one or more queries in parentheses."""
    opened = next((index for index, token in enumerate(step) if keyword(token) in _QUERY_STARTS), len(step))
    words, queries = step[:opened], list(_split_at(step[opened:], TokenType.COMMA))
    joined = [token for query in queries for token in (*words, *query)]
    return PipeStage([], query=[*_bracket(step[0], _build_query(stage, step[0])), *joined])


def _pivot_step(stage: PipeStage, step: TokenList) -> PipeStage:
    whole = stage.query is None and not stage.where and not stage.tail
    return PipeStage([*(stage.source if whole else _bracket(step[0], _build_query(stage, step[0]))), *step])


def _sample_step(stage: PipeStage, step: TokenList) -> PipeStage:
    """TABLESAMPLE; a sample of a query does not affect lineage and cannot be parsed."""
    simple = stage.query is None and not stage.where and not stage.tail and stage.alias is not None
    return msgspec.structs.replace(stage, source=[*stage.source, *step]) if simple else stage


def _call_step(stage: PipeStage, step: TokenList) -> PipeStage:
    """CALL of a table function: the rows so far are its first argument."""
    opened = next((index for index, token in enumerate(step) if token.token_type is TokenType.L_PAREN), 0)
    if not opened:
        return stage
    more = [_build_token(step[0], TokenType.COMMA, ",")] if skip_brackets(step, opened) > opened + 2 else []
    rows = _bracket(step[0], _build_query(stage, step[0]))
    return PipeStage([*step[1 : opened + 1], *rows, *more, *step[opened + 1 :]])


def _keep_item(item: TokenList) -> TokenList:
    return item


PIPE_STEPS: dict[str, Callable[[PipeStage, TokenList], PipeStage]] = {
    **dict.fromkeys(("JOIN INNER LEFT RIGHT FULL CROSS NATURAL SEMI ANTI LATERAL").split(), _join_step),
    **dict.fromkeys(("UNION", "EXCEPT", "INTERSECT", "MINUS"), _set_operation_step),
    **dict.fromkeys(("ORDER BY", "LIMIT", "OFFSET", "SORT BY", "CLUSTER BY", "DISTRIBUTE BY"), _order_limit_step),
    **dict.fromkeys(("PIVOT", "UNPIVOT"), _pivot_step),
    "AGGREGATE": _aggregate_step,
    "AS": _alias_step,
    "CALL": _call_step,
    "DISTINCT": _build_select_step((TokenType.DISTINCT, "DISTINCT"), (TokenType.STAR, "*")),
    "DROP": _build_star_step(TokenType.EXCEPT, "EXCEPT", _keep_item),
    "EXTEND": _extend_step,
    "RENAME": _build_star_step(TokenType.RENAME, "RENAME", _keep_item),
    "SELECT": _select_step,
    "SET": _build_star_step(TokenType.REPLACE, "REPLACE", _swap_assignment),
    "TABLESAMPLE": _sample_step,
    "WHERE": _where_step,
}
"""The function of each pipe step, by its first keyword."""


def rewrite_single_pipes(tokens: TokenList) -> TokenList:
    """Spark: `FROM t | WHERE a > 1`, with `|` for `|>`."""
    found = [
        retype_token(token, TokenType.PIPE_GT, "|>")
        if token.token_type is TokenType.PIPE and index + 1 < len(tokens) and keyword(tokens[index + 1]) in PIPE_STEPS
        else token
        for index, token in enumerate(tokens)
    ]
    return rewrite_pipes(found)
