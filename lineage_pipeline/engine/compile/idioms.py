"""Phrases of single engines that the parser does not know: each becomes one that says the same of columns."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, keyword, made


def nearest_joins(tokens: Sequence[Token]) -> list[Token]:
    """Spark: `JOIN t APPROX NEAREST 3 BY DISTANCE x` as `JOIN t ON x`: what says how near two rows are."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _behind_nearest(tokens, index)
        kept.append(made("ON", tokens[index]) if end > index else tokens[index])
        index = max(end, index + 1)
    return kept


def _behind_nearest(tokens: Sequence[Token], index: int) -> int:
    """The token behind the words of such a join that begin at a token, or that token where they do not."""
    words = [keyword(token) for token in tokens[index : index + 5]]
    if words[:2] not in (["APPROX", "NEAREST"], ["EXACT", "NEAREST"]):
        return index
    by = next((at for at in (2, 3) if words[at : at + 1] == ["BY"]), 0)
    return index + by + 2 if by and words[by + 1 : by + 2] in (["DISTANCE"], ["SIMILARITY"]) else index


_ARRANGED = frozenset({"PARTITION BY", "ORDER BY", "DISTRIBUTE BY", "SORT BY", "CLUSTER BY"})


def partitioned_rows(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `f(ON t PARTITION BY a ORDER BY b)` as the rows of t, which the function hands on."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = [keyword(token) for token in tokens[index + 1 : index + 3]] == ["(", "ON"]
        if not opened or tokens[index].token_type is not TokenType.VAR:
            kept.append(tokens[index])
            index += 1
            continue
        behind = behind_brackets(tokens, index + 1)
        given = partitioned_rows(tokens[index + 3 : behind - 1])
        if any(keyword(token) in ("ON", "USING") for _, token in _outside(given)):
            kept += [*tokens[index : index + 2], *_handed_rows(given, tokens[index]), tokens[behind - 1]]
            index = behind
            continue
        end = next((at for at, token in _outside(given) if keyword(token) in _ARRANGED), len(given))
        first = tokens[index]
        star = Token(TokenType.STAR, "*", first.line, first.col, -1, -1)
        kept += [tokens[index + 1], made("SELECT", first), star, made("FROM", first), *given[:end], tokens[behind - 1]]
        index = behind
    return kept


def _handed_rows(given: Sequence[Token], first: Token) -> Iterator[Token]:
    """Teradata: `f(ON t AS a PARTITION BY b ON u USING c('x'))` with the rows of t and u as arguments."""
    words = dict(_outside(given))
    begins = [0, *(at + 1 for at, token in words.items() if keyword(token) == "ON"), len(given) + 1]
    for number, (begin, stop) in enumerate(pairwise(begins)):
        ends = (at for at in range(begin, stop - 1) if at in words and keyword(words[at]) in _HANDED)
        yield from (made(word, first) for word in (*((",",) if number else ()), "(", "SELECT"))
        yield Token(TokenType.STAR, "*", first.line, first.col, -1, -1)
        yield from (made("FROM", first), *given[begin : next(ends, stop - 1)], made(")", first))


_HANDED = _ARRANGED | {"USING", "AS", "DIMENSION", "HASH", "LOCAL"}


def _outside(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens that stand in no brackets, with their positions."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0:
            yield index, token


def spoken_names(tokens: Sequence[Token]) -> list[Token]:
    """`IDENTIFIER('name')` as that name: sqlglot knows it in the place of a table and not of a function or an alias."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        inside = [token.token_type for token in tokens[index + 1 : index + 4]]
        if keyword(tokens[index]) == "IDENTIFIER" and inside == [
            TokenType.L_PAREN,
            TokenType.STRING,
            TokenType.R_PAREN,
        ]:
            named = tokens[index + 2]
            simple = named.text.isidentifier()
            kind = TokenType.VAR if simple else TokenType.IDENTIFIER
            kept.append(Token(kind, named.text, named.line, named.col, -1, -1))
            index += 4
        else:
            kept.append(tokens[index])
            index += 1
    return kept


def single_keys(tokens: Sequence[Token]) -> list[Token]:
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
            while index < len(tokens) and tokens[index].token_type is TokenType.COMMA:
                index += 2
    return kept


def called_windows(tokens: Sequence[Token]) -> list[Token]:
    """`window(time, '5 minutes')` and `session(time, …)` are functions, no clauses."""
    return [
        Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        if keyword(token) in ("WINDOW", "SESSION") and _opens(tokens, index + 1)
        else token
        for index, token in enumerate(tokens)
    ]


def _opens(tokens: Sequence[Token], index: int) -> bool:
    """Whether a bracket opens at a token."""
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def plain_calls(tokens: Sequence[Token]) -> list[Token]:
    """`f(DISTINCT x, y)` without its word: sqlglot takes both arguments for one."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1].token_type if index else None
        called = index > 1 and tokens[index - 2].token_type is not TokenType.IN
        if not (keyword(token) == "DISTINCT" and before is TokenType.L_PAREN and called):
            kept.append(token)
    return kept


def named_sample(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: SAMPLE is a name where no number says how much of a table is read."""
    return [
        Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        if token.token_type is TokenType.TABLE_SAMPLE and not _has_share(tokens, index)
        else token
        for index, token in enumerate(tokens)
    ]


def _has_share(tokens: Sequence[Token], index: int) -> bool:
    follows = tokens[index + 1].token_type if index + 1 < len(tokens) else None
    return follows in (TokenType.NUMBER, TokenType.PARAMETER, TokenType.L_BRACE)


def unmasked(tokens: Sequence[Token]) -> list[Token]:
    """Databricks: the function that masks a column, with the columns that it is told, is no part of its definition."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        behind = behind_name(tokens, index + 1)
        if keyword(tokens[index]) != "MASK" or behind == index + 1 or not kept:
            kept.append(tokens[index])
            index += 1
            continue
        columns = [keyword(token) for token in tokens[behind : behind + 3]] == ["USING", "COLUMNS", "("]
        index = behind_brackets(tokens, behind + 2) if columns else behind
    return kept


def pivoted_tables(tokens: Sequence[Token]) -> list[Token]:
    """DuckDB: `CREATE … AS PIVOT …` as the rows of that in brackets."""
    at = next((at for at, token in enumerate(tokens[1:], 1) if keyword(token) in ("PIVOT", "UNPIVOT")), 0)
    if keyword(tokens[0]) != "CREATE" or keyword(tokens[at - 1]) != "AS":
        return list(tokens)
    word = tokens[at]
    return [*tokens[:at], made("FROM", word), made("(", word), *tokens[at:], made(")", tokens[-1])]


def without_error_log(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: where the rows go that a statement cannot write, the last of its clauses."""
    words = [keyword(token) for token in tokens]
    pairs = zip(words, words[1:], strict=False)
    return list(tokens[: next((at for at, pair in enumerate(pairs) if pair == ("LOG", "ERRORS")), len(tokens))])


def arranged_pivots(tokens: Sequence[Token]) -> list[Token]:
    """DuckDB: `PIVOT … ORDER BY a LIMIT 1` as the rows of the pivot in brackets, in that order."""
    at = next((at for at, token in _outside(tokens) if keyword(token) in ("ORDER BY", "LIMIT")), 0)
    if keyword(tokens[0]) not in ("PIVOT", "UNPIVOT") or not at:
        return list(tokens)
    first, last = tokens[0], tokens[at - 1]
    return [made("FROM", first), made("(", first), *tokens[:at], made(")", last), *tokens[at:]]


def plain_order(tokens: Sequence[Token]) -> list[Token]:
    """Postgres: `ORDER BY a USING <` without the operator, which says only in which direction."""
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
        index = behind_brackets(tokens, index + 2) if named else index + 2
    return kept


def emptied_tables(tokens: Sequence[Token]) -> list[Token]:
    """MySQL: `DELETE t.*, u.* FROM …` deletes rows of t and u."""
    end = next((at for at, token in enumerate(tokens) if keyword(token) in ("USING", "WHERE", "JOIN")), len(tokens))
    kinds = [token.token_type for token in tokens]
    stars = {at for at in range(1, end) if kinds[at - 1 : at + 1] == [TokenType.DOT, TokenType.STAR]}
    dropped = stars | {at - 1 for at in stars}
    return [token for at, token in enumerate(tokens) if keyword(tokens[0]) != "DELETE" or at not in dropped]


_COMPARISONS = {"<": TokenType.LTE, ">": TokenType.GTE, "!": TokenType.NEQ}


def joined_comparisons(tokens: Sequence[Token]) -> list[Token]:
    """`a < = b`, which Oracle and SQL Server take for one sign."""
    kept: list[Token] = []
    for token in tokens:
        sign = kept[-1] if kept else None
        kind = _COMPARISONS.get(sign.text) if sign is not None and token.token_type is TokenType.EQ else None
        if sign is not None and kind is not None:
            kept[-1] = Token(kind, f"{sign.text}=", sign.line, sign.col, sign.start, token.end)
        else:
            kept.append(token)
    return kept


def joined_sets(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `a MULTISET UNION ALL b`, a value made of two, as one by an operator of somebody's own."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if keyword(token) != "MULTISET" or keyword(tokens[min(index, len(tokens) - 1)]) not in _SETS:
            kept.append(token)
            continue
        index += 1 + (index + 1 < len(tokens) and keyword(tokens[index + 1]) in ("ALL", "DISTINCT"))
        place = (token.line, token.col, token.start, token.end)
        kept += [Token(TokenType.OPERATOR, "OPERATOR", *place), made("(", token), made("+", token), made(")", token)]
    return kept


_SETS = ("UNION", "EXCEPT", "INTERSECT")


def plain_intervals(tokens: Sequence[Token]) -> list[Token]:
    """`INTERVAL DAY(2) TO SECOND(6)` without how many digits it keeps."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        words = [keyword(token) for token in kept[-2:]]
        unit = words[0] == "INTERVAL" or words in (["TO", "SECOND"], ["TO", "MONTH"])
        if unit and words[-1] in _UNITS and index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN:
            index = behind_brackets(tokens, index)
    return kept


_UNITS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND".split())
