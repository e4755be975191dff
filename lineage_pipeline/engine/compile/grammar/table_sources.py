"""Table sources: rewrites of rows in FROM that sqlglot cannot read: table arguments, OPENROWSET, pivots, graphs."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.tokens import (
    is_called_at,
    is_name_at,
    keyword,
    retype_token,
    skip_brackets,
    skip_name,
    split_list,
    synthetic_token,
    token_type_at,
)

_NAME_TOKENS = (TokenType.VAR, TokenType.IDENTIFIER)


def rewrite_table_arguments(tokens: Sequence[Token]) -> list[Token]:
    """`f(TABLE t, …)`, `f(TABLE(t))` and `f(MODEL m)` with a query of all rows as argument."""
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
        end = skip_name(tokens, begin)
        named = token_type_at(tokens, begin) in _NAME_TOKENS
        if not named or (bracketed and token_type_at(tokens, end) is not TokenType.R_PAREN):
            kept.append(token)
            index += 1
            continue
        after = tokens[end - 1]
        if len(kept) > 1 and keyword(kept[-2]) == "SESSION":  # a word of its own to the parser, here a function
            kept[-2] = retype_token(kept[-2], TokenType.VAR, kept[-2].text)
        kept.extend(
            [
                retype_token(token, TokenType.L_PAREN, "("),
                retype_token(token, TokenType.SELECT, "SELECT"),
                retype_token(token, TokenType.STAR, "*"),
                retype_token(token, TokenType.FROM, "FROM"),
                *tokens[begin:end],
                retype_token(after, TokenType.R_PAREN, ")"),
            ]
        )
        index = _skip_table_argument_keys(tokens, end + 1 if bracketed else end)
    return kept


def _skip_table_argument_keys(tokens: Sequence[Token], index: int) -> int:
    """The index after PARTITION BY and ORDER BY of a table argument."""
    while index < len(tokens) and tokens[index].token_type in (TokenType.PARTITION_BY, TokenType.ORDER_BY):
        while token_type_at(tokens, index) not in (None, TokenType.R_PAREN, TokenType.COMMA):
            opened = tokens[index].token_type is TokenType.L_PAREN
            index = skip_brackets(tokens, index) if opened else index + 1
    return index


def unwrap_containers(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `CONTAINERS(t)`, a table of all databases in a container, as the table."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = skip_name(tokens, index + 2)
        opened = token_type_at(tokens, index + 1) is TokenType.L_PAREN and end > index + 2
        if keyword(tokens[index]) == "CONTAINERS" and opened and token_type_at(tokens, end) is TokenType.R_PAREN:
            first = tokens[index + 2]
            kept.append(retype_token(tokens[index], first.token_type, first.text))
            kept.extend(tokens[index + 3 : end])
            index = end + 1
            continue
        kept.append(tokens[index])
        index += 1
    return kept


def drop_pattern_within(tokens: Sequence[Token]) -> list[Token]:
    """MATCH_RECOGNIZE: drops `WITHIN INTERVAL …` after PATTERN (…)."""
    kept: list[Token] = []
    dropping = False
    for index, token in enumerate(tokens):
        begins = keyword(token) == "WITHIN" and keyword(tokens[min(index + 1, len(tokens) - 1)]) == "INTERVAL"
        dropping = (dropping or begins) and keyword(token) != "DEFINE"
        if not dropping:
            kept.append(token)
    return kept


_ARRANGING_CLAUSES = frozenset({"PARTITION BY", "ORDER BY", "DISTRIBUTE BY", "SORT BY", "CLUSTER BY"})


def rewrite_partitioned_rows(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `f(ON t PARTITION BY a ORDER BY b)` as the rows of t, which the function returns."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        opened = [keyword(token) for token in tokens[index + 1 : index + 3]] == ["(", "ON"]
        if not opened or tokens[index].token_type is not TokenType.VAR:
            kept.append(tokens[index])
            index += 1
            continue
        behind = skip_brackets(tokens, index + 1)
        given = rewrite_partitioned_rows(tokens[index + 3 : behind - 1])
        if any(keyword(token) in ("ON", "USING") for _, token in _outside_parens(given)):
            kept += [*tokens[index : index + 2], *_build_row_arguments(given, tokens[index]), tokens[behind - 1]]
            index = behind
            continue
        end = next((at for at, token in _outside_parens(given) if keyword(token) in _ARRANGING_CLAUSES), len(given))
        first = tokens[index]
        star = Token(TokenType.STAR, "*", first.line, first.col, -1, -1)
        kept += [
            tokens[index + 1],
            synthetic_token("SELECT", first),
            star,
            synthetic_token("FROM", first),
            *given[:end],
            tokens[behind - 1],
        ]
        index = behind
    return kept


def _build_row_arguments(given: Sequence[Token], first: Token) -> Iterator[Token]:
    """Teradata: `f(ON t AS a PARTITION BY b ON u USING c('x'))` with the rows of t and u as arguments."""
    words = dict(_outside_parens(given))
    begins = [0, *(at + 1 for at, token in words.items() if keyword(token) == "ON"), len(given) + 1]
    for number, (begin, stop) in enumerate(pairwise(begins)):
        ends = (at for at in range(begin, stop - 1) if at in words and keyword(words[at]) in _ROW_ARGUMENT_ENDS)
        yield from (synthetic_token(word, first) for word in (*((",",) if number else ()), "(", "SELECT"))
        yield Token(TokenType.STAR, "*", first.line, first.col, -1, -1)
        yield from (synthetic_token("FROM", first), *given[begin : next(ends, stop - 1)], synthetic_token(")", first))


_ROW_ARGUMENT_ENDS = _ARRANGING_CLAUSES | {"USING", "AS", "DIMENSION", "HASH", "LOCAL"}


def _outside_parens(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens outside parentheses, with their indexes."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0:
            yield index, token


def rewrite_sample_names(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: SAMPLE is a name if no number follows it."""
    return [
        Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        if token.token_type is TokenType.TABLE_SAMPLE and not _has_sample_size(tokens, index)
        else token
        for index, token in enumerate(tokens)
    ]


def _has_sample_size(tokens: Sequence[Token], index: int) -> bool:
    follows = tokens[index + 1].token_type if index + 1 < len(tokens) else None
    return follows in (TokenType.NUMBER, TokenType.PARAMETER, TokenType.L_BRACE)


def rewrite_pivot_body(tokens: Sequence[Token]) -> list[Token]:
    """DuckDB: `CREATE … AS PIVOT …` with the pivot in parentheses."""
    at = next((at for at in range(1, len(tokens)) if keyword(tokens[at - 1]) == "AS"), 0)
    if keyword(tokens[0]) != "CREATE" or keyword(tokens[at]) not in ("PIVOT", "UNPIVOT"):
        return list(tokens)
    word = tokens[at]
    return [
        *tokens[:at],
        synthetic_token("FROM", word),
        synthetic_token("(", word),
        *tokens[at:],
        synthetic_token(")", tokens[-1]),
    ]


def bracket_ordered_pivots(tokens: Sequence[Token]) -> list[Token]:
    """DuckDB: `PIVOT … ORDER BY a LIMIT 1` with the pivot in parentheses."""
    at = next((at for at, token in _outside_parens(tokens) if keyword(token) in ("ORDER BY", "LIMIT")), 0)
    if keyword(tokens[0]) not in ("PIVOT", "UNPIVOT") or not at:
        return list(tokens)
    first, last = tokens[0], tokens[at - 1]
    return [
        synthetic_token("FROM", first),
        synthetic_token("(", first),
        *tokens[:at],
        synthetic_token(")", last),
        *tokens[at:],
    ]


_WRITING_KEYWORDS = ("DELETE", "UPDATE", "INSERT")


def rewrite_nested_writes(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `FROM (DELETE … OUTPUT deleted.id) AS x` with the DELETE as a CTE of that name."""
    for index in range(1, len(tokens) - 1):
        opened = tokens[index].token_type is TokenType.L_PAREN and keyword(tokens[index - 1]) in ("FROM", "JOIN", ",")
        if not opened or keyword(tokens[index + 1]) not in _WRITING_KEYWORDS:
            continue
        end = skip_brackets(tokens, index)
        at = end + (end < len(tokens) and keyword(tokens[end]) == "AS")
        if not is_name_at(tokens, at):
            break
        name, word = tokens[at], tokens[index]
        cte = [synthetic_token("WITH", word), name, synthetic_token("AS", word), *tokens[index:end]]
        rest = [*tokens[:index], name, *tokens[at + 1 :]]
        return rewrite_nested_writes(
            [*cte, synthetic_token(",", word), *rest[1:]] if keyword(rest[0]) == "WITH" else [*cte, *rest]
        )
    return list(tokens)


def rewrite_open_xml(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `OPENXML(@doc, path, flags) WITH (…)` and `OPENJSON(x, f(y)) WITH (…)` as OPENJSON of the document."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if keyword(token) not in ("OPENXML", "OPENJSON") or not is_called_at(tokens, index - 1):
            kept.append(token)
            continue
        end = skip_brackets(tokens, index)
        kept += [
            synthetic_token("OPENJSON", token),
            tokens[index],
            *_first_argument(tokens[index + 1 : end - 1]),
            tokens[end - 1],
        ]
        index = end
    return kept


def rewrite_open_rowset(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `OPENROWSET(BULK 'file', …) WITH (…)` as the file, or a query of its declared columns."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if keyword(token) != "OPENROWSET" or not is_called_at(tokens, index - 1):
            kept.append(token)
            continue
        end = skip_brackets(tokens, index)
        rows = [token, tokens[index], *_first_argument(tokens[index + 1 : end - 1]), tokens[end - 1]]
        declared = [keyword(item) for item in tokens[end : end + 2]] == ["WITH", "("]
        index = skip_brackets(tokens, end + 1) if declared else end
        kept += build_column_query(rows, tokens[end + 1 : index]) if declared else rows
    return kept


def _first_argument(tokens: Sequence[Token]) -> list[Token]:
    """The first of some arguments."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.COMMA:
            return list(tokens[:index])
    return list(tokens)


def rewrite_extern(tokens: Sequence[Token]) -> list[Token]:
    """Druid: `TABLE(EXTERN(…)) EXTEND (a VARCHAR)` as a query of those columns."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        opened = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        behind = skip_brackets(tokens, index + 1) if keyword(token) == "TABLE" and opened else len(tokens)
        if [keyword(item) for item in tokens[behind : behind + 2]] != ["EXTEND", "("]:
            kept.append(token)
            index += 1
            continue
        end = skip_brackets(tokens, behind + 1)
        kept.extend(build_column_query(tokens[index:behind], tokens[behind + 1 : end]))
        named = end < len(tokens) and (is_name_at(tokens, end) or keyword(tokens[end]) == "AS")
        kept.extend([] if named else [synthetic_token("AS", token), synthetic_token("extern", token)])
        index = end
    return kept


def build_column_query(rows: Sequence[Token], columns: Sequence[Token]) -> list[Token]:
    """A query of the declared columns of some rows."""
    first, last = rows[0], columns[-1]
    return [
        synthetic_token("(", first),
        synthetic_token("SELECT", first),
        *strip_column_types(columns)[1:-1],
        synthetic_token("FROM", first),
        *rows,
        synthetic_token(")", last),
    ]


def strip_column_types(tokens: Sequence[Token]) -> list[Token]:
    """A list of column declarations in parentheses without their types."""
    first = (TokenType.L_PAREN, TokenType.COMMA)
    marks = (*first, TokenType.R_PAREN)
    kept, depth = [tokens[0]], 1
    for before, token in pairwise(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (before.token_type is TokenType.R_PAREN)
        named = depth == 1 and (before.token_type in first or token.token_type in marks)
        kept.extend([token] if named else [])
    return kept


_OPEN_PAREN, _CLOSE_PAREN = TokenType.L_PAREN, TokenType.R_PAREN
_GRAPH_KEYWORDS = frozenset({"AND", "SHORTEST_PATH", "LAST_NODE"})
_NODE_KEYS, _EDGE_KEYS = ("$node_id",), ("$from_id", "$to_id")


def rewrite_graph_match(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `MATCH(a-(e)->b)` as the condition `MATCHED(a.$node_id, e.$from_id, …)`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if keyword(token) != "MATCH" or not is_called_at(tokens, index - 1):
            kept.append(token)
            continue
        end = skip_brackets(tokens, index)
        kept.append(_token_at(token, TokenType.VAR, "MATCHED"))
        kept.append(tokens[index])
        kept.extend(list(_graph_keys(tokens[index + 1 : end - 1]))[1:])
        kept.append(tokens[end - 1])
        index = end
    return kept


def _graph_keys(tokens: Sequence[Token]) -> Iterator[Token]:
    """The keys of the nodes and edges of a pattern, a comma before each; an edge is in parentheses."""
    for index, token in enumerate(tokens):
        if token.token_type not in _NAME_TOKENS or keyword(token) in _GRAPH_KEYWORDS:
            continue
        around = [tokens[at].token_type for at in (index - 1, index + 1) if 0 <= at < len(tokens)]
        for key in _EDGE_KEYS if around == [_OPEN_PAREN, _CLOSE_PAREN] else _NODE_KEYS:
            yield _token_at(token, TokenType.COMMA, ",")
            yield token
            yield _token_at(token, TokenType.DOT, ".")
            yield _token_at(token, TokenType.IDENTIFIER, key)


def _token_at(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)


def drop_search_language(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `CONTAINS(body, 'cat', LANGUAGE 1033)` without the language, which may be a variable."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        words = [keyword(token) for token in tokens[index : index + 2]]
        end = index + 3 + (token_type_at(tokens, index + 2) in (TokenType.PARAMETER, TokenType.COLON))
        if words == [",", "LANGUAGE"] and token_type_at(tokens, end) is TokenType.R_PAREN:
            index = end
        else:
            kept.append(tokens[index])
            index += 1
    return kept


def drop_system_marks(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `FROM ::fn_helpcollations()` without the mark."""
    return [
        token
        for index, token in enumerate(tokens)
        if token.token_type is not TokenType.DCOLON or keyword(tokens[index - 1]) not in ("FROM", "JOIN", ",")
    ]


def rewrite_models(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `SELECT … FROM t MODEL … MEASURES (a m) (m[1] = n[2])` as a select from the columns of the model."""
    at = next((at for at in range(1, len(tokens)) if _begins_model(tokens, at)), 0)
    begin = _find_own_from(tokens, at)
    if not at or not begin:
        return list(tokens)
    keys, measures, end = _read_model(tokens, at + 1)
    if not measures:
        return list(tokens)
    rules, end = _read_model_rules(tokens, end)
    near = tokens[at]
    columns = [token for item in keys for token in (*item, synthetic_token(",", near))]
    for item in measures:
        columns += [*_build_measure(item, measures, rules), synthetic_token(",", near)]
    inner = [synthetic_token("SELECT", near), *columns[:-1], *tokens[begin:at]]
    source = [synthetic_token("FROM", near), synthetic_token("(", near), *inner, synthetic_token(")", near)]
    return rewrite_models([*tokens[:begin], *source, *tokens[end:]])


_MODEL_STARTS = frozenset("PARTITION DIMENSION RETURN REFERENCE MAIN IGNORE KEEP UNIQUE".split()) | {"PARTITION BY"}
"""What may follow MODEL."""


def _begins_model(tokens: Sequence[Token], index: int) -> bool:
    following = keyword(tokens[index + 1]) if index + 1 < len(tokens) else ""
    dotted = tokens[index - 1].token_type is TokenType.DOT
    return keyword(tokens[index]) == "MODEL" and following in _MODEL_STARTS and not dotted


def _find_own_from(tokens: Sequence[Token], index: int) -> int:
    """The index of the FROM before a token, of the same query; 0 if there is none."""
    depth = 0
    while index > 0 and depth >= 0:
        index -= 1
        depth += (tokens[index].token_type is TokenType.R_PAREN) - (tokens[index].token_type is TokenType.L_PAREN)
        if depth == 0 and keyword(tokens[index]) == "FROM":
            return index
    return 0


def _read_model(tokens: Sequence[Token], index: int) -> tuple[list[list[Token]], list[list[Token]], int]:
    """The keys and the measures of a model, and the index after them."""
    keys: list[list[Token]] = []
    while index < len(tokens):
        word = keyword(tokens[index])
        opened = token_type_at(tokens, index + 1) is TokenType.L_PAREN
        end = skip_brackets(tokens, index + 1) if opened else index + 1
        if word == "MEASURES" and opened:
            return keys, split_list(tokens[index + 2 : end - 1]), end
        if word in ("BY", "PARTITION BY") and opened:
            keys += split_list(tokens[index + 2 : end - 1])
        elif word == "REFERENCE":  # another model, whose cells the rules read
            end = next((at for at in range(index, len(tokens)) if keyword(tokens[at]) == "MEASURES"), len(tokens)) + 1
            end = skip_brackets(tokens, end)
        index = end
    return keys, [], index


def _read_model_rules(tokens: Sequence[Token], index: int) -> tuple[list[list[Token]], int]:
    """The rules of a model, and the index after them."""
    while index < len(tokens) and tokens[index].token_type is not TokenType.L_PAREN:
        if keyword(tokens[index]) in ("ITERATE", "UNTIL"):
            index = skip_brackets(tokens, index + 1) - 1
        index += 1
    end = skip_brackets(tokens, index)
    return split_list(tokens[index + 1 : end - 1]), end


def _build_measure(item: Sequence[Token], measures: Sequence[Sequence[Token]], rules: list[list[Token]]) -> list[Token]:
    """A measure with its name, and with the measures that its rules read as further arguments."""
    values = {measure[-1].text.upper(): _strip_alias(measure) for measure in measures}
    name = item[-1].text.upper()
    found, pending = [name], [name]
    while pending:
        target = pending.pop()
        for rule in rules:
            written = next((at for at, token in enumerate(rule) if token.text == "["), len(rule))
            if written and rule[written - 1].text.upper() == target:
                equal = next((at for at, token in enumerate(rule) if token.text == "="), len(rule))
                more = [token.text.upper() for token in rule[equal:] if token.text.upper() in values]
                pending += [one for one in dict.fromkeys(more) if one not in found]
                found += [one for one in dict.fromkeys(more) if one not in found]
    if len(found) == 1:
        return list(item)
    near = item[-1]
    arguments = [token for one in found for token in (*values[one], synthetic_token(",", near))][:-1]
    called = [synthetic_token("GREATEST", near), synthetic_token("(", near), *arguments, synthetic_token(")", near)]
    return [*called, synthetic_token("AS", near), near]


def _strip_alias(item: Sequence[Token]) -> Sequence[Token]:
    """A measure without the name that it is given."""
    named = len(item) > 1 and is_name_at(item, len(item) - 1) and item[-2].token_type is not TokenType.DOT
    ends = len(item) - 1 - (len(item) > 2 and keyword(item[-2]) == "AS")
    return item[:ends] if named else item
