"""DDL: definitions reduced to what matters for lineage (name, columns, keys, query), and rewrites of CREATE and ALTER.
How and where a table is stored does not affect lineage, and every engine has its own clauses for it. A definition
that sqlglot cannot parse is parsed again without them.
"""

from collections.abc import Iterator, Sequence

from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.statement_words import (
    BEFORE_COLUMN_LIST,
    BEFORE_QUERY,
    BEHIND_QUERY,
    CREATE_MODIFIERS,
    KEPT_CLAUSES,
    KEPT_COLUMN_WORDS,
    TABLE_CONSTRAINT_WORDS,
    TYPE_ENDS,
)
from lineage_pipeline.engine.compile.tokens import (
    defines_table,
    find_top_level_keyword,
    is_name_at,
    keyword,
    keywords_of,
    skip_brackets,
    skip_name,
    synthetic_token,
)


def rewrite_modify_query(tokens: list[Token]) -> list[Token]:
    """ClickHouse: `ALTER TABLE v MODIFY QUERY …` as CREATE OR REPLACE VIEW."""
    at = next((at for at in range(3, len(tokens)) if keyword(tokens[at]) == "QUERY"), 0)
    if keyword(tokens[at - 1]) != "MODIFY":
        return tokens
    name = tokens[2 : find_top_level_keyword(tokens, "ON", "MODIFY")]
    view = [synthetic_token(word, tokens[0]) for word in ("CREATE", "OR", "REPLACE", "VIEW")]
    return [*view, *name, synthetic_token("AS", tokens[at]), *tokens[at + 1 :]]


def shorten_format_class(tokens: list[Token]) -> list[Token]:
    """Spark: `USING org.apache.spark.sql.jdbc` by its last name."""
    at = find_top_level_keyword(tokens, "USING") + 1
    end = skip_name(tokens, at) if at else 0
    return [*tokens[:at], *tokens[end - 1 :]] if end > at + 1 else tokens


def rewrite_alter_view(tokens: list[Token]) -> list[Token]:
    """ALTER VIEW … AS query as CREATE OR REPLACE VIEW."""
    view = find_top_level_keyword(tokens[:4], "VIEW")
    if view < 0 or find_top_level_keyword(tokens, "AS") < 0:
        return tokens
    return [*(synthetic_token(word, tokens[0]) for word in ("CREATE", "OR", "REPLACE")), *tokens[1:]]


_OPEN_PAREN, _CLOSE_PAREN, _COMMA_TOKEN = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA


def reduce_definition(tokens: Sequence[Token]) -> list[Token] | None:
    """The tokens of a CREATE TABLE or VIEW that matter for lineage, or None for another statement."""
    if keyword(tokens[0]) not in ("CREATE", "REPLACE"):
        return None
    kind = next((at for at, token in enumerate(tokens[:24]) if keyword(token) in ("TABLE", "VIEW")), 0)
    begin = _skip_words(tokens, kind + 1, "IF", "NOT", "EXISTS")
    end = skip_name(tokens, begin)
    if not kind or end == begin or any(keyword(token) in ("FOR", "ON") for token in tokens[1:kind]):
        return None  # PUBLICATION p FOR TABLE t defines no table
    head = [
        synthetic_token("CREATE", tokens[0]),
        *(token for token in tokens[1:kind] if keyword(token) in CREATE_MODIFIERS),
    ]
    listed = end
    while (
        listed < len(tokens)
        and tokens[listed].token_type is not _OPEN_PAREN
        and keyword(tokens[listed]) in BEFORE_COLUMN_LIST
    ):
        listed += 1
    body, tail = _find_query(tokens, end), [*head, *tokens[kind:end]]
    opened = listed < len(tokens) and tokens[listed].token_type is _OPEN_PAREN and listed < body
    if body == len(tokens) and (keyword(tokens[kind]) == "VIEW" or (not opened and _starts_with_as(tokens[end:]))):
        return None  # what should be a query is none
    if opened:
        closed = skip_brackets(tokens, listed)
        tail.extend(_reduce_column_list(tokens, listed, closed))
        end = closed
    clauses = (*KEPT_CLAUSES, ("TO",)) if keyword(tokens[kind]) == "VIEW" else KEPT_CLAUSES  # ClickHouse: where rows go
    return [*tail, *_keep_clauses(tokens, end, body, clauses), *_cut_query(tokens, body)]


def _starts_with_as(tokens: Sequence[Token]) -> bool:
    """Whether an AS stands where a query should follow."""
    return bool(tokens) and keyword(tokens[0]) == "AS"


def _skip_words(tokens: Sequence[Token], index: int, *words: str) -> int:
    """The index after some keywords, if they come next."""
    found = [keyword(token) for token in tokens[index : index + len(words)]]
    return index + len(words) if found == list(words) else index


def _find_query(tokens: Sequence[Token], index: int) -> int:
    """The index of the AS before a query, or the end."""
    depth = 0
    while index < len(tokens):
        kind = tokens[index].token_type
        depth += (kind is _OPEN_PAREN) - (kind is _CLOSE_PAREN)
        if depth == 0 and keyword(tokens[index]) == "AS" and index + 1 < len(tokens):
            following = tokens[index + 1]
            if keyword(following) in BEFORE_QUERY or following.token_type is _OPEN_PAREN:
                return index
        index += 1
    return index


def _cut_query(tokens: Sequence[Token], index: int) -> Sequence[Token]:
    """The query with its AS, without trailing clauses."""
    depth = 0
    for at in range(index + 1, len(tokens)):
        kind = tokens[at].token_type
        depth += (kind is _OPEN_PAREN) - (kind is _CLOSE_PAREN)
        words = tuple(keyword(token) for token in tokens[at : at + 3])
        if depth == 0 and any(words[: len(ending)] == ending for ending in BEHIND_QUERY):
            return tokens[index:at]
    return tokens[index:]


def _keep_clauses(tokens: Sequence[Token], index: int, end: int, clauses: Sequence[tuple[str, ...]]) -> Iterator[Token]:
    """The clauses that name columns or another table."""
    while index < end:
        words = tuple(keyword(token) for token in tokens[index : index + 2])
        clause = next((item for item in clauses if words[: len(item)] == item), None)
        after = index + len(clause) if clause else index
        if clause and after < end:
            stop = skip_brackets(tokens, after) if tokens[after].token_type is _OPEN_PAREN else skip_name(tokens, after)
            yield from tokens[index:stop]
            index = max(stop, index + 1)
        else:
            index = skip_brackets(tokens, index) if tokens[index].token_type is _OPEN_PAREN else index + 1


def _reduce_column_list(tokens: Sequence[Token], begin: int, end: int) -> list[Token]:
    """The column list in its parentheses."""
    kept: list[Token] = []
    opened = tokens[begin]
    comma = Token(_COMMA_TOKEN, ",", opened.line, opened.col, opened.start, opened.end)
    for item in _split_columns(tokens[begin + 1 : end - 1]):
        words = list(_reduce_column(item))
        if words:
            kept.extend([comma, *words] if kept else words)
    return [opened, *kept, tokens[end - 1]] if kept else []


def _split_columns(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    depth, begin = 0, 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind in (_OPEN_PAREN, TokenType.LT)) - (kind in (_CLOSE_PAREN, TokenType.GT))
        if depth == 0 and kind is _COMMA_TOKEN:
            if index > begin:
                yield tokens[begin:index]
            begin = index + 1
    if begin < len(tokens):
        yield tokens[begin:]


def _reduce_column(tokens: Sequence[Token]) -> Iterator[Token]:
    """A column with its type, nullability and keys; or a key of the table."""
    first = keyword(tokens[0])
    families = first == "FAMILY" and _is_paren_at(tokens, 2)  # CockroachDB: columns that are stored together
    if families or (first in TABLE_CONSTRAINT_WORDS and not _is_typed_column(tokens)):
        yield from _reduce_table_key(tokens)
        return
    yield tokens[0]
    words = [keyword(token) for token in tokens]
    if words[1:2] == ["AS"] and words[2:3] != ["("]:  # `total AS price * quantity COMMENT '…'`
        yield from tokens[1 : words.index("COMMENT") if "COMMENT" in words else None]
        return
    end = _find_type_end(tokens)
    yield from tokens[1:end]
    for phrase in KEPT_COLUMN_WORDS:
        for at in range(end, len(tokens)):
            after = at + len(phrase)
            if tuple(words[at:after]) == phrase:
                yield from tokens[at:after]  # without options such as `(START WITH 1, NOCACHE)`: sqlglot reads few
                break
    if "REFERENCES" in words[end:]:
        yield from _reduce_reference(tokens, words.index("REFERENCES", end))
    computed = next((at for at in range(end, len(tokens) - 1) if words[at] == "AS" and words[at + 1] == "("), -1)
    if computed >= 0:
        yield from tokens[computed : skip_brackets(tokens, computed + 1)]
    elif "METADATA" in words[end:] and "VIRTUAL" in words[end:]:  # Flink: what the source says, and nobody writes
        yield from (synthetic_token(word, tokens[-1]) for word in ("AS", "(", "NULL", ")"))


def _reduce_reference(tokens: Sequence[Token], begin: int) -> Sequence[Token]:
    """The key of another table that a column refers to, without its options."""
    end = skip_name(tokens, begin + 1)
    return tokens[begin : skip_brackets(tokens, end) if _is_paren_at(tokens, end) else end]


def _is_typed_column(tokens: Sequence[Token]) -> bool:
    """Whether a type follows the first word: the word is a column name then."""
    return len(tokens) > 1 and tokens[1].token_type in Parser.TYPE_TOKENS


def _find_type_end(tokens: Sequence[Token]) -> int:
    """The index after the type of a column; what stands in its parentheses ends no type: `varchar(MAX)`."""
    depth = 0
    for index in range(1, len(tokens)):
        if depth == 0 and _is_type_end(tokens, index):
            return index
        depth += (tokens[index].token_type is _OPEN_PAREN) - (tokens[index].token_type is _CLOSE_PAREN)
    return len(tokens)


def _is_type_end(tokens: Sequence[Token], index: int) -> bool:
    word = keyword(tokens[index])
    following = keyword(tokens[index + 1]) if index + 1 < len(tokens) else ""
    if word in ("WITH", "WITHOUT"):
        return following not in ("TIME", "LOCAL", "TIMEZONE")
    return word in TYPE_ENDS


def _reduce_table_key(tokens: Sequence[Token]) -> Iterator[Token]:
    """A primary or foreign key without its name and options."""
    words = [keyword(token) for token in tokens]
    for kind in ("PRIMARY KEY", "FOREIGN KEY"):
        at = words.index(kind) if kind in words else -1
        opened = at >= 0 and at + 1 < len(tokens) and words[at + 1] == "("
        if not opened or (kind == "PRIMARY KEY" and "DISABLE" in words):  # not checked: it says nothing of nulls
            continue
        end = skip_brackets(tokens, at + 1)
        if kind == "FOREIGN KEY" and end < len(tokens) and words[end] == "REFERENCES":
            end = skip_name(tokens, end + 1)
            end = skip_brackets(tokens, end) if end < len(tokens) and words[end] == "(" else end
        for index in range(at, end):  # neither an order, nor what makes a period of a column: `(id, PERIOD valid)`
            period = words[index] == "PERIOD" and is_name_at(tokens, index + 1)
            if words[index] not in ("ASC", "DESC") and not period:
                yield tokens[index]
        return
    if words[0] == "LIKE":
        yield from tokens[: skip_name(tokens, 1)]


def rewrite_recursive_view(tokens: list[Token]) -> list[Token]:
    """`CREATE RECURSIVE VIEW v (a) AS query` with the query as a recursive CTE of the view's name."""
    at = next((index for index, token in enumerate(tokens[:6]) if keyword(token) == "RECURSIVE"), 0)
    if not at or len(tokens) < at + 5 or keyword(tokens[at + 1]) != "VIEW":
        return tokens
    begin = at + (5 if keyword(tokens[at + 2]) == "IF" else 2)
    end = skip_name(tokens, begin)
    listed = end < len(tokens) and tokens[end].token_type is TokenType.L_PAREN
    body = skip_brackets(tokens, end) if listed else end
    if body >= len(tokens) or keyword(tokens[body]) != "AS":
        return tokens
    name, close = tokens[end - 1], tokens[-1]
    opened = Token(TokenType.L_PAREN, "(", name.line, name.col, name.start, name.end)
    closed = Token(TokenType.R_PAREN, ")", close.line, close.col, close.start, close.end)
    star = Token(TokenType.STAR, "*", close.line, close.col, close.start, close.end)
    cte = [
        synthetic_token("WITH", name),
        synthetic_token("RECURSIVE", name),
        name,
        *tokens[end : body + 1],
        opened,
        *_strip_own_qualifiers(tokens[body + 1 :], [token.text.lower() for token in tokens[begin:end]]),
        closed,
    ]
    all_of = [synthetic_token("SELECT", close), star, synthetic_token("FROM", close), name]
    return [*tokens[:at], *tokens[at + 1 : end], tokens[body], *cte, *all_of]


def _strip_own_qualifiers(tokens: list[Token], parts: list[str]) -> list[Token]:
    """The tokens with only the last part of each occurrence of a dotted name."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        if len(parts) > 1 and [item.text.lower() for item in kept[-len(parts) :]] == parts:
            kept[-len(parts) :] = [token]
    return kept


def drop_masks(tokens: Sequence[Token]) -> list[Token]:
    """Databricks: a column definition without its MASK function."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        behind = skip_name(tokens, index + 1)
        if keyword(tokens[index]) != "MASK" or behind == index + 1 or not kept:
            kept.append(tokens[index])
            index += 1
            continue
        columns = [keyword(token) for token in tokens[behind : behind + 3]] == ["USING", "COLUMNS", "("]
        index = skip_brackets(tokens, behind + 2) if columns else behind
    return kept


def rewrite_table_from_source(tokens: Sequence[Token]) -> list[Token]:
    """Materialize, RisingWave: `CREATE TABLE t FROM SOURCE s …` and `CREATE TABLE t (*) FROM s TABLE …` as CTAS."""
    words = [keyword(token) for token in tokens[:24]]
    if "FROM" not in words or "TABLE" not in words[:3] or "AS" in words[: words.index("FROM")]:
        return list(tokens)
    at = words.index("FROM")
    begin = at + 2 if words[at + 1 : at + 2] == ["SOURCE"] else at + 1
    end = skip_name(tokens, begin)
    told = begin == at + 2 or words[end : end + 1] == ["TABLE"]
    if end == begin or not told or not _is_without_columns(words[:at]):
        return list(tokens)
    head = [token for token in tokens[:at] if token.text not in ("(", "*", ")")]
    query = [
        synthetic_token("AS", tokens[at]),
        synthetic_token("SELECT", tokens[at]),
        synthetic_token("*", tokens[at]),
        tokens[at],
    ]
    return [*head, *query, *tokens[begin:end]]


def _is_without_columns(words: Sequence[str]) -> bool:
    """Whether a table does not say which columns it has."""
    return "(" not in words or words[-3:] == ["(", "*", ")"]


_AFFINITIES = (
    ("INTEGER", ("INT",)),
    ("TEXT", ("CHAR", "CLOB", "TEXT")),
    ("BLOB", ("BLOB",)),
    ("REAL", ("REAL", "FLOA", "DOUB")),
)
"""SQLite: which parts of a type's name decide what it is; any other is numeric (docs: Datatypes, 3.1)."""


def join_type_words(tokens: Sequence[Token]) -> list[Token]:
    """SQLite: `a BLOB SUB_TYPE TEXT` as `a TEXT`, which is what decides; any words are a type."""
    opened = next((index for index, token in enumerate(tokens) if token.token_type is _OPEN_PAREN), -1)
    if not defines_table(tokens) or opened < 0 or "AS" in keywords_of(tokens[:opened]):
        return list(tokens)
    kept = list(tokens)
    for column in _split_columns(tokens[opened + 1 : skip_brackets(tokens, opened) - 1]):
        at = kept.index(column[0])
        kept[at : at + len(column)] = _join_column_type(column)
    return kept


def _join_column_type(column: Sequence[Token]) -> Sequence[Token]:
    end = next((at for at in range(1, len(column)) if _is_type_end(column, at)), len(column))
    words = [keyword(token) for token in column[1:end]]
    if keyword(column[0]) in TABLE_CONSTRAINT_WORDS or len(words) < 2 or words[1] == "(":
        return column
    name = " ".join(words)
    kind = next((kind for kind, parts in _AFFINITIES if any(part in name for part in parts)), "NUMERIC")
    return [column[0], synthetic_token(kind, column[1]), *column[end:]]


TABLE_HINTS = frozenset(
    "NOLOCK READUNCOMMITTED UPDLOCK REPEATABLEREAD SERIALIZABLE READCOMMITTED TABLOCK TABLOCKX PAGLOCK ROWLOCK NOWAIT "
    "READPAST XLOCK SNAPSHOT NOEXPAND FORCESEEK FORCESCAN HOLDLOCK INDEX KEEPIDENTITY IGNORE_TRIGGERS".split()
)
"""T-SQL: words that may stand first in the parentheses of a table hint."""


def drop_storage(tokens: list[Token]) -> list[Token]:
    """T-SQL: drops table hints, and options, inline indexes and file groups of a table definition."""
    table = defines_table(tokens)
    words = keywords_of(tokens)
    if not table and ("WITH", "(") not in zip(words, words[1:], strict=False):
        return tokens
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


def _is_paren_at(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def drop_table_options(tokens: list[Token]) -> list[Token]:
    """Teradata: `CREATE TABLE t, FALLBACK, MAP = m (…)` without the options before its columns or its query."""
    kind = next((at for at, token in enumerate(tokens[:8]) if keyword(token) == "TABLE"), 0)
    begin = skip_name(tokens, kind + 1)
    if not kind or begin >= len(tokens) or tokens[begin].token_type is not _COMMA_TOKEN:
        return tokens
    end = next((at for at in range(begin, len(tokens)) if keyword(tokens[at]) in ("(", "AS")), begin)
    return [*tokens[:begin], *tokens[end:]]
