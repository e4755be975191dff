"""Patterns of graphs and other forms of T-SQL that the parser does not know: repairs of statements."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, keyword

_OPEN, _CLOSE = TokenType.L_PAREN, TokenType.R_PAREN
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_WORDS = frozenset({"AND", "SHORTEST_PATH", "LAST_NODE"})
_NODE, _EDGE = ("$node_id",), ("$from_id", "$to_id")


def matched(tokens: Sequence[Token]) -> list[Token]:
    """`MATCH(a-(e)->b)` as a condition on what connects them: `MATCHED(a.$node_id, e.$from_id, …)`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        opened = index < len(tokens) and tokens[index].token_type is _OPEN
        if keyword(token) != "MATCH" or not opened:
            kept.append(token)
            continue
        end = behind_brackets(tokens, index)
        kept.append(_at(token, TokenType.VAR, "MATCHED"))
        kept.append(tokens[index])
        kept.extend(list(_connected(tokens[index + 1 : end - 1]))[1:])
        kept.append(tokens[end - 1])
        index = end
    return kept


def _connected(tokens: Sequence[Token]) -> Iterator[Token]:
    """The keys of the nodes and edges of a pattern, a comma before each; an edge stands in brackets of its own."""
    for index, token in enumerate(tokens):
        if token.token_type not in _NAMES or keyword(token) in _WORDS:
            continue
        around = [tokens[at].token_type for at in (index - 1, index + 1) if 0 <= at < len(tokens)]
        for key in _EDGE if around == [_OPEN, _CLOSE] else _NODE:
            yield _at(token, TokenType.COMMA, ",")
            yield token
            yield _at(token, TokenType.DOT, ".")
            yield _at(token, TokenType.IDENTIFIER, key)


def _at(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)


def without_paths(tokens: Sequence[Token]) -> list[Token]:
    """A table `FOR PATH` is any other, and so is an aggregate along a path."""
    return _without(tokens, _ALONG)


_ALONG = (
    ("FOR", "PATH"),
    ("WITHIN GROUP", "(", "GRAPH", "PATH", ")"),
    ("WITHIN", "GROUP", "(", "GRAPH", "PATH", ")"),
)


def without_details(tokens: Sequence[Token]) -> list[Token]:
    """`WITH APPROXIMATE`, the language of a search, the kind of numbers in a vector, and `::` before a function go."""
    kept = _without(tokens, (("WITH", "APPROXIMATE"), (",", "FLOAT32"), (",", "FLOAT16")))
    found: list[Token] = []
    skipped = 0
    for index, token in enumerate(kept):
        worded = keyword(token) == "," and [keyword(item) for item in kept[index + 1 : index + 2]] == ["LANGUAGE"]
        skipped = 3 if worded else skipped
        prefixed = token.token_type is TokenType.DCOLON and index and keyword(kept[index - 1]) in ("FROM", "JOIN", ",")
        if not skipped and not prefixed:
            found.append(token)
        skipped = max(skipped - 1, 0)
    return found


def _without(tokens: Sequence[Token], phrases: Sequence[tuple[str, ...]]) -> list[Token]:
    """The tokens without some phrases."""
    words = [keyword(token) for token in tokens]
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        found = next((item for item in phrases if tuple(words[index : index + len(item)]) == item), ())
        if not found:
            kept.append(tokens[index])
        index += len(found) or 1
    return kept
