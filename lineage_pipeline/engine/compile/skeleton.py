"""The skeleton of a definition: the name, the columns with their types and keys, and the query.

How and where a table is kept has no bearing on lineage, and every engine says it in words of its own. A definition
that the parser cannot read is read once more without them.
"""

from collections.abc import Iterator, Sequence

from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.definitions import (
    BEFORE_QUERY,
    BEHIND_QUERY,
    BEHIND_TYPE,
    KEPT_CLAUSES,
    KINDS,
    LISTED,
    TABLE_KEYS,
    TYPE_ENDS,
)
from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, keyword, made

_OPEN, _CLOSE, _COMMA = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA


def skeleton(tokens: Sequence[Token]) -> list[Token] | None:
    """The tokens of a table's or view's definition that matter, or None where it is none."""
    if keyword(tokens[0]) not in ("CREATE", "REPLACE"):
        return None
    kind = next((at for at, token in enumerate(tokens[:24]) if keyword(token) in ("TABLE", "VIEW")), 0)
    begin = _behind(tokens, kind + 1, "IF", "NOT", "EXISTS")
    end = behind_name(tokens, begin)
    if not kind or end == begin:
        return None
    head = [made("CREATE", tokens[0]), *(token for token in tokens[1:kind] if keyword(token) in KINDS)]
    listed = end
    while listed < len(tokens) and tokens[listed].token_type is not _OPEN and keyword(tokens[listed]) in LISTED:
        listed += 1
    body, tail = _query_at(tokens, end), [*head, *tokens[kind:end]]
    opened = listed < len(tokens) and tokens[listed].token_type is _OPEN and listed < body
    if body == len(tokens) and (keyword(tokens[kind]) == "VIEW" or (not opened and _promises(tokens[end:]))):
        return None  # what should be a query is none
    if opened:
        closed = behind_brackets(tokens, listed)
        tail.extend(_listed(tokens, listed, closed))
        end = closed
    return [*tail, *_kept_clauses(tokens, end, body), *_query(tokens, body)]


def _promises(tokens: Sequence[Token]) -> bool:
    """Whether an AS stands where a query should follow."""
    return bool(tokens) and keyword(tokens[0]) == "AS"


def _behind(tokens: Sequence[Token], index: int, *words: str) -> int:
    """The token behind some words, where they stand at a token."""
    found = [keyword(token) for token in tokens[index : index + len(words)]]
    return index + len(words) if found == list(words) else index


def _query_at(tokens: Sequence[Token], index: int) -> int:
    """Where the AS before a query stands, or the end."""
    depth = 0
    while index < len(tokens):
        kind = tokens[index].token_type
        depth += (kind is _OPEN) - (kind is _CLOSE)
        if depth == 0 and keyword(tokens[index]) == "AS" and index + 1 < len(tokens):
            following = tokens[index + 1]
            if keyword(following) in BEFORE_QUERY or following.token_type is _OPEN:
                return index
        index += 1
    return index


def _query(tokens: Sequence[Token], index: int) -> Sequence[Token]:
    """The query with its AS, without what stands behind it."""
    depth = 0
    for at in range(index + 1, len(tokens)):
        kind = tokens[at].token_type
        depth += (kind is _OPEN) - (kind is _CLOSE)
        words = tuple(keyword(token) for token in tokens[at : at + 3])
        if depth == 0 and any(words[: len(ending)] == ending for ending in BEHIND_QUERY):
            return tokens[index:at]
    return tokens[index:]


def _kept_clauses(tokens: Sequence[Token], index: int, end: int) -> Iterator[Token]:
    """The clauses that name columns or another table."""
    while index < end:
        words = tuple(keyword(token) for token in tokens[index : index + 2])
        clause = next((item for item in KEPT_CLAUSES if words[: len(item)] == item), None)
        after = index + len(clause) if clause else index
        if clause and after < end:
            stop = behind_brackets(tokens, after) if tokens[after].token_type is _OPEN else behind_name(tokens, after)
            yield from tokens[index:stop]
            index = max(stop, index + 1)
        else:
            index = behind_brackets(tokens, index) if tokens[index].token_type is _OPEN else index + 1


def _listed(tokens: Sequence[Token], begin: int, end: int) -> list[Token]:
    """The column list in its brackets."""
    kept: list[Token] = []
    opened = tokens[begin]
    comma = Token(_COMMA, ",", opened.line, opened.col, opened.start, opened.end)
    for item in _items(tokens[begin + 1 : end - 1]):
        words = list(_item(item))
        if words:
            kept.extend([comma, *words] if kept else words)
    return [opened, *kept, tokens[end - 1]] if kept else []


def _items(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    depth, begin = 0, 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind in (_OPEN, TokenType.LT)) - (kind in (_CLOSE, TokenType.GT))
        if depth == 0 and kind is _COMMA:
            if index > begin:
                yield tokens[begin:index]
            begin = index + 1
    if begin < len(tokens):
        yield tokens[begin:]


def _item(tokens: Sequence[Token]) -> Iterator[Token]:
    """A column with its type and what is said of nulls and keys; or a key of the table."""
    first = keyword(tokens[0])
    if first in TABLE_KEYS and not _has_type(tokens):
        yield from _table_key(tokens)
        return
    yield tokens[0]
    words = [keyword(token) for token in tokens]
    if words[1:2] == ["AS"] and words[2:3] != ["("]:  # `total AS price * quantity COMMENT '…'`
        yield from tokens[1 : words.index("COMMENT") if "COMMENT" in words else None]
        return
    end = next((at for at in range(1, len(tokens)) if _ends_type(tokens, at)), len(tokens))
    yield from tokens[1:end]
    for phrase in BEHIND_TYPE:
        for at in range(end, len(tokens)):
            after = at + len(phrase)
            if tuple(words[at:after]) == phrase:
                opened = after < len(tokens) and words[after] == "("
                yield from tokens[at : behind_brackets(tokens, after) if opened else after]
                break
    computed = next((at for at in range(end, len(tokens) - 1) if words[at] == "AS" and words[at + 1] == "("), -1)
    if computed >= 0:
        yield from tokens[computed : behind_brackets(tokens, computed + 1)]
    elif "METADATA" in words[end:] and "VIRTUAL" in words[end:]:  # Flink: what the source says, and nobody writes
        yield from (made(word, tokens[-1]) for word in ("AS", "(", "NULL", ")"))


def _has_type(tokens: Sequence[Token]) -> bool:
    """Whether a type stands behind the first word: the word is a name then."""
    return len(tokens) > 1 and tokens[1].token_type in Parser.TYPE_TOKENS


def _ends_type(tokens: Sequence[Token], index: int) -> bool:
    word = keyword(tokens[index])
    following = keyword(tokens[index + 1]) if index + 1 < len(tokens) else ""
    if word in ("WITH", "WITHOUT"):
        return following not in ("TIME", "LOCAL", "TIMEZONE")
    return word in TYPE_ENDS


def _table_key(tokens: Sequence[Token]) -> Iterator[Token]:
    """A primary or foreign key without its name and options."""
    words = [keyword(token) for token in tokens]
    if "DISABLE" in words:  # a key that nobody checks says nothing of nulls
        return
    for kind in ("PRIMARY KEY", "FOREIGN KEY"):
        at = words.index(kind) if kind in words else -1
        opened = at >= 0 and at + 1 < len(tokens) and words[at + 1] == "("
        if not opened:
            continue
        end = behind_brackets(tokens, at + 1)
        if kind == "FOREIGN KEY" and end < len(tokens) and words[end] == "REFERENCES":
            end = behind_name(tokens, end + 1)
            end = behind_brackets(tokens, end) if end < len(tokens) and words[end] == "(" else end
        yield from tokens[at:end]
        return
    if words[0] == "LIKE":
        yield from tokens[: behind_name(tokens, 1)]
