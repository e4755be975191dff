"""Normalising the tokens of a statement: clauses without bearing on lineage go, shorthands are written out.

Tokens keep their places, so that everything the parser makes of them still points into the file as it was written.
"""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.clauses import DROPPED, HINTS, Clause
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.words import behind_brackets, keyword, keywords

_COMPOUND_MARKS = "+-*/%"
_COMPOUND = (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD)


def normalise(tokens: Sequence[Token], traits: Traits, known: Sequence[str] = ()) -> list[Token]:
    """The tokens that the parser gets to see; `known` are their keywords, where somebody knows them."""
    clauses = DROPPED.get(traits.family)
    if clauses is None:
        return list(tokens)
    written = known or keywords(tokens)
    words = set(written)
    kept = list(tokens)
    defines = _defines_table(tokens)
    first = "TABLE" if defines else written[0]
    present = [item for item in clauses if item.words[0] in words and (not item.within or first in item.within)]
    if present:
        kept = _without_clauses(kept, present)
    if traits.batches and ((defines and not _STORAGE.isdisjoint(words)) or _hints(written, words)):
        kept = _without_storage(kept)
    if "XMLNAMESPACES" in words:
        kept = _without_namespaces(kept)
    return _assignments(kept) if "=" in words and any(mark in words for mark in _COMPOUND_MARKS) else kept


_STORAGE = frozenset({"WITH", "INDEX", "ON"})
"""What the storage of a table is described with."""


def _hints(written: Sequence[str], words: set[str]) -> bool:
    """Whether a WITH with brackets stands anywhere."""
    return "WITH" in words and ("WITH", "(") in zip(written, written[1:], strict=False)


def _defines_table(tokens: Sequence[Token]) -> bool:
    words = [keyword(token) for token in tokens[:5]]
    return words[0] in ("CREATE", "ALTER", "DECLARE") and "TABLE" in words


def _opens(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def _without_clauses(tokens: Sequence[Token], clauses: Sequence[Clause]) -> list[Token]:
    starts = {clause.words[0] for clause in clauses}
    kept: list[Token] = []
    behind = 0
    for begin in [index for index, word in enumerate(keywords(tokens)) if word in starts and index]:
        if begin < behind:
            continue
        end = next((stop for clause in clauses if (stop := _end_of(clause, tokens, begin)) > begin), begin)
        if end > begin:
            kept.extend(tokens[behind:begin])
            behind = end
    return [*kept, *tokens[behind:]]


def _end_of(clause: Clause, tokens: Sequence[Token], index: int) -> int:
    """The token behind a clause that begins at a token, or that token where it does not."""
    after = index + len(clause.words)
    if tuple(keyword(token) for token in tokens[index:after]) != clause.words:
        return index
    if clause.brackets:
        return behind_brackets(tokens, after) if _opens(tokens, after) else index
    return after + 1 if clause.name else after


def _without_storage(tokens: list[Token]) -> list[Token]:
    """Hints behind tables go, and so do options and file groups in the definition of a table."""
    table = _defines_table(tokens)
    words = keywords(tokens)
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        word = words[index]
        table = table and word != "SELECT"  # the query that fills a table has an ON of its own
        opened = word == "WITH" and _opens(tokens, index + 1)
        hinted = opened and index + 2 < len(tokens) and words[index + 2] in HINTS
        if opened and (hinted or table):
            index = behind_brackets(tokens, index + 1)
        elif table and word == "INDEX" and kept and _ends_item(kept[-1]):
            if kept[-1].token_type is TokenType.COMMA:  # an index of the table is an item of its own
                kept.pop()
            index = _behind_index(tokens, words, index + 2)
        elif table and word == "ON" and _names_storage(tokens, index):
            index += 2
            index = behind_brackets(tokens, index) if _opens(tokens, index) else index
        else:
            kept.append(tokens[index])
            index += 1
    return kept


def _behind_index(tokens: Sequence[Token], words: Sequence[str], index: int) -> int:
    """The token behind an index whose name ends before a token: how it is made, its columns and its filter."""
    while index < len(tokens) and (words[index] in ("HASH", "UNIQUE", "INCLUDE") or _opens(tokens, index)):
        index = behind_brackets(tokens, index) if _opens(tokens, index) else index + 1
    if index < len(tokens) and words[index] == "WHERE":
        while index < len(tokens) and tokens[index].token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            index = behind_brackets(tokens, index) if _opens(tokens, index) else index + 1
    return index


def _ends_item(token: Token) -> bool:
    """Whether an INDEX behind a token belongs to the column or table before it."""
    return token.text.upper() not in ("(", "ADD", "DROP", "ALTER", "UNIQUE", "TABLE", ".")


def _names_storage(tokens: Sequence[Token], index: int) -> bool:
    """Whether an ON in the definition of a table names where it is kept, and not what happens to a key."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is not None and keyword(following) not in ("DELETE", "UPDATE")


def _without_namespaces(tokens: list[Token]) -> list[Token]:
    """WITH XMLNAMESPACES (…) goes; what it shares its WITH with stays."""
    for index, token in enumerate(tokens[:-2]):
        if keyword(token) == "WITH" and keyword(tokens[index + 1]) == "XMLNAMESPACES":
            end = behind_brackets(tokens, index + 2)
            if end < len(tokens) and tokens[end].token_type is TokenType.COMMA:
                return [*tokens[: index + 1], *tokens[end + 1 :]]
            return [*tokens[:index], *tokens[end:]]
    return tokens


def _assignments(tokens: list[Token]) -> list[Token]:
    """`x += y` becomes `x = x + y`."""
    signs = [index for index, token in enumerate(tokens) if token.token_type in _COMPOUND]
    compound = [index for index in signs if _is_compound(tokens, index)]
    kept: list[Token] = []
    begin = 0
    for index in compound:
        kept.extend(tokens[begin:index])
        kept.extend([tokens[index + 1], *_assigned(kept), tokens[index]])
        begin = index + 2
    return [*kept, *tokens[begin:]] if compound else tokens


def _is_compound(tokens: Sequence[Token], index: int) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is not None and following.token_type is TokenType.EQ and following.start == tokens[index].end + 1


def _assigned(tokens: Sequence[Token]) -> list[Token]:
    """The name before an assignment: a variable or a column with its qualifiers."""
    start = len(tokens)
    parts = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.PARAMETER)
    while start > 0 and tokens[start - 1].token_type in parts:
        start -= 1
    return list(tokens[start:])
