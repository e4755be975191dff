"""Pipes: `FROM t |> WHERE … |> SELECT …` is written as the queries that its steps are, one in the other.

Tokens keep their places; those that are put in have none, so that no span points at what nobody wrote.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, keyword

Tokens = list[Token]


class Stage(msgspec.Struct, frozen=True):
    """What has come through the pipe so far: a whole query, or sources with conditions and an order."""

    source: Tokens
    query: Tokens | None = None
    where: Tokens = []
    tail: Tokens = []
    alias: Token | None = None


def unpiped(tokens: Tokens) -> Tokens:
    """The tokens without pipes; as they are where a step is not known."""
    if not any(token.token_type is TokenType.PIPE_GT for token in tokens):
        return tokens
    head, *steps = _split(_inside(tokens), TokenType.PIPE_GT)
    if not head:
        return tokens
    prefix, stage = _begin(head)
    for step in steps:
        advance = STEPS.get(keyword(step[0])) if step else None
        if advance is None:
            return tokens
        stage = advance(stage, step)
    return [*prefix, *_query(stage, head[0])]


def _inside(tokens: Tokens) -> Tokens:
    """The tokens with the pipes in brackets written out."""
    kept: Tokens = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        kept.append(token)
        index += 1
        if token.token_type is TokenType.L_PAREN:
            close = max(behind_brackets(tokens, index - 1) - 1, index)  # one that nobody closes may stand last
            kept.extend(unpiped(tokens[index:close]))
            index = close
    return kept


def _split(tokens: Tokens, separator: TokenType) -> Iterator[Tokens]:
    """The tokens between separators that stand in no brackets."""
    part: Tokens = []
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


def _begin(head: Tokens) -> tuple[Tokens, Stage]:
    """What stands before the query that goes into the pipe, and that query."""
    outside = [(index, keyword(token)) for index, token in _outside(head)]
    words = {word: index for index, word in reversed(outside)}
    first = min(words.get(word, len(head)) for word in ("SELECT", "FROM"))
    if first == len(head):
        table = keyword(head[0]) == "TABLE"
        return [], Stage(head[1:], alias=head[-1]) if table else Stage([], query=head)
    prefix, query = head[:first], head[first:]
    if "SELECT" in words:
        return prefix, Stage([], query=query)
    simple = len(query) == 2 or (len(query) > 2 and all(_names(token) for token in query[1:]))
    return prefix, Stage(query[1:], alias=query[-1] if simple else None)


def _names(token: Token) -> bool:
    return token.token_type in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.ALIAS)


def _outside(tokens: Tokens) -> Iterator[tuple[int, Token]]:
    """The tokens that stand in no brackets, with their positions."""
    depth = 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and kind is not TokenType.R_PAREN:
            yield index, token


def _new(near: Token, kind: TokenType, text: str) -> Token:
    """A token that nobody wrote, on the line of one that somebody did."""
    return Token(kind, text, near.line, near.col, -1, -1)


def _bracketed(near: Token, tokens: Sequence[Token]) -> Tokens:
    return [_new(near, TokenType.L_PAREN, "("), *tokens, _new(near, TokenType.R_PAREN, ")")]


def _closed(stage: Stage, near: Token, outputs: Sequence[Token]) -> Tokens:
    """The query that selects something of a stage."""
    source = stage.source if stage.query is None else _bracketed(near, stage.query)
    if stage.query is not None and stage.alias is not None:
        source = [*source, _new(near, TokenType.ALIAS, "AS"), stage.alias]
    where = [_new(near, TokenType.WHERE, "WHERE"), *stage.where] if stage.where else []
    selected = [_new(near, TokenType.SELECT, "SELECT"), *outputs, _new(near, TokenType.FROM, "FROM")]
    return [*selected, *source, *where, *stage.tail]


def _query(stage: Stage, near: Token) -> Tokens:
    """A stage as a query."""
    if stage.query is not None and not stage.where and not stage.tail:
        return stage.query
    return _closed(stage, near, [_new(near, TokenType.STAR, "*")])


_BEHIND_FROM = ("WINDOW", "GROUP BY", "HAVING", "QUALIFY")
"""What a step may say behind its list, and a query says behind its sources."""


def _select(stage: Stage, step: Tokens) -> Stage:
    behind = next((index for index, token in _outside(step) if keyword(token) in _BEHIND_FROM), len(step))
    base = Stage([], query=_query(stage, step[0]), alias=stage.alias) if stage.tail and step[behind:] else stage
    return Stage([], query=[*_closed(base, step[0], step[1:behind]), *step[behind:]])


def _selecting(*outputs: tuple[TokenType, str]) -> Callable[[Stage, Tokens], Stage]:
    """A step that selects: what is put in stands before what it lists."""

    def advance(stage: Stage, step: Tokens) -> Stage:
        put_in = [_new(step[0], kind, text) for kind, text in outputs]
        return Stage([], query=_closed(stage, step[0], [*put_in, *step[1:]]))

    return advance


def _changing(kind: TokenType, word: str, change: Callable[[Tokens], Tokens]) -> Callable[[Stage, Tokens], Stage]:
    """A step that keeps all columns but those in a list behind the star."""

    def advance(stage: Stage, step: Tokens) -> Stage:
        listed: Tokens = []
        for item in _split(step[1:], TokenType.COMMA):
            listed += [_new(step[0], TokenType.COMMA, ","), *change(item)]
        star = [_new(step[0], TokenType.STAR, "*"), _new(step[0], kind, word), *_bracketed(step[0], listed[1:])]
        return Stage([], query=_closed(stage, step[0], star), alias=stage.alias)

    return advance


def _assigned(item: Tokens) -> Tokens:
    """`column = expression` as `expression AS column`."""
    return [*item[2:], _new(item[0], TokenType.ALIAS, "AS"), item[0]]


def _extend(stage: Stage, step: Tokens) -> Stage:
    star = [_new(step[0], TokenType.STAR, "*"), _new(step[0], TokenType.COMMA, ",")]
    return Stage([], query=_closed(stage, step[0], [*star, *step[1:]]), alias=stage.alias)


def _named(stage: Stage, step: Tokens) -> Stage:
    return Stage([], query=_query(stage, step[0]), alias=step[-1])


def _where(stage: Stage, step: Tokens) -> Stage:
    if stage.tail:
        return Stage([], query=_query(stage, step[0]), where=_bracketed(step[0], step[1:]), alias=stage.alias)
    joint = [_new(step[0], TokenType.AND, "AND")] if stage.where else []
    return msgspec.structs.replace(stage, where=[*stage.where, *joint, *_bracketed(step[0], step[1:])])


def _tail(stage: Stage, step: Tokens) -> Stage:
    if stage.tail and keyword(step[0]) != "LIMIT" and keyword(step[0]) != "OFFSET":
        return Stage([], query=_query(stage, step[0]), tail=step, alias=stage.alias)
    return msgspec.structs.replace(stage, tail=[*stage.tail, *step])


def _aggregate(stage: Stage, step: Tokens) -> Stage:
    """Keys come first, and may have names of their own."""
    words = [keyword(token) for token in step]
    by = next((index for index, word in enumerate(words) if word == "GROUP BY"), len(step))
    if "GROUP" in words[:by]:  # GROUP AND ORDER BY
        by = words.index("GROUP") + 2
    aggregates = step[1 : words.index("GROUP") if "GROUP" in words else by]
    keys = [_undirected(key) for key in _split(step[by + 1 :], TokenType.COMMA)] if by < len(step) else []
    comma = _new(step[0], TokenType.COMMA, ",")
    listed = [token for part in [*keys, aggregates] if part for token in (comma, *part)][1:]
    grouped = [token for key in keys for token in (comma, *_called(key))][1:]
    group = [_new(step[0], TokenType.GROUP_BY, "GROUP BY"), *grouped] if keys else []
    base = Stage([], query=_query(stage, step[0]), alias=stage.alias) if stage.tail else stage
    return Stage([], query=[*_closed(base, step[0], listed), *group])


def _undirected(key: Tokens) -> Tokens:
    """A key without the direction in which it sorts."""
    directed = next((at for at, token in enumerate(key) if keyword(token) in ("ASC", "DESC", "NULLS")), len(key))
    return key[:directed]


def _called(key: Tokens) -> Tokens:
    """What a key is grouped by: its name where it has one."""
    return key[-1:] if len(key) > 2 and key[-2].token_type is TokenType.ALIAS else key


def _joined(stage: Stage, step: Tokens) -> Stage:
    if stage.query is None and not stage.tail:
        return msgspec.structs.replace(stage, source=[*stage.source, *step], alias=None)
    source = _bracketed(step[0], _query(stage, step[0]))
    named = [_new(step[0], TokenType.ALIAS, "AS"), stage.alias] if stage.alias is not None else []
    return Stage([*source, *named, *step])


_BEGINS = ("(", "SELECT", "FROM", "TABLE", "VALUES", "WITH")
"""What a query begins with."""


def _united(stage: Stage, step: Tokens) -> Stage:
    """A set operation with one query or more; several stand in brackets each."""
    opened = next((index for index, token in enumerate(step) if keyword(token) in _BEGINS), len(step))
    words, queries = step[:opened], list(_split(step[opened:], TokenType.COMMA))
    joined = [token for query in queries for token in (*words, *query)]
    return Stage([], query=[*_bracketed(step[0], _query(stage, step[0])), *joined])


def _turned(stage: Stage, step: Tokens) -> Stage:
    whole = stage.query is None and not stage.where and not stage.tail
    return Stage([*(stage.source if whole else _bracketed(step[0], _query(stage, step[0]))), *step])


def _sampled(stage: Stage, step: Tokens) -> Stage:
    """A sample; that of a query has no bearing on lineage and no place in the grammar."""
    simple = stage.query is None and not stage.where and not stage.tail and stage.alias is not None
    return msgspec.structs.replace(stage, source=[*stage.source, *step]) if simple else stage


def _through(stage: Stage, step: Tokens) -> Stage:
    """A function of tables: the rows so far are the first of its arguments."""
    opened = next((index for index, token in enumerate(step) if token.token_type is TokenType.L_PAREN), 0)
    if not opened:
        return stage
    more = [_new(step[0], TokenType.COMMA, ",")] if behind_brackets(step, opened) > opened + 2 else []
    rows = _bracketed(step[0], _query(stage, step[0]))
    return Stage([*step[1 : opened + 1], *rows, *more, *step[opened + 1 :]])


def _same(item: Tokens) -> Tokens:
    return item


STEPS: dict[str, Callable[[Stage, Tokens], Stage]] = {
    **dict.fromkeys(("JOIN INNER LEFT RIGHT FULL CROSS NATURAL SEMI ANTI LATERAL").split(), _joined),
    **dict.fromkeys(("UNION", "EXCEPT", "INTERSECT", "MINUS"), _united),
    **dict.fromkeys(("ORDER BY", "LIMIT", "OFFSET", "SORT BY", "CLUSTER BY", "DISTRIBUTE BY"), _tail),
    **dict.fromkeys(("PIVOT", "UNPIVOT"), _turned),
    "AGGREGATE": _aggregate,
    "AS": _named,
    "CALL": _through,
    "DISTINCT": _selecting((TokenType.DISTINCT, "DISTINCT"), (TokenType.STAR, "*")),
    "DROP": _changing(TokenType.EXCEPT, "EXCEPT", _same),
    "EXTEND": _extend,
    "RENAME": _changing(TokenType.RENAME, "RENAME", _same),
    "SELECT": _select,
    "SET": _changing(TokenType.REPLACE, "REPLACE", _assigned),
    "TABLESAMPLE": _sampled,
    "WHERE": _where,
}
"""What each step of a pipe makes of what came through it so far, by its first word."""
