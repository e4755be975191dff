"""Names: rewrites of keywords that are names where they stand, and of aliases inside clauses and arguments."""

from collections.abc import Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.tokens import (
    OPERAND_END_TOKENS,
    is_called_at,
    keyword,
    paren_step,
    retype_token,
    skip_brackets,
    split_list,
    synthetic_token,
)

JOIN_WORDS = frozenset("CROSS FULL INNER LEFT NATURAL OUTER RIGHT".split())
"""Words before JOIN; SQLite reads them as names elsewhere."""

_NAME_WORDS = JOIN_WORDS | frozenset(
    "JOIN INSERT DISTINCT UNION EXCEPT INTERSECT FROM USING ALL IN PREWHERE DIV".split()
)
"""Keywords that some engine takes for names where nothing else can stand."""

_NAME_INTRODUCERS = frozenset("FROM JOIN INTO TABLE EXISTS UPDATE".split())
"""Keywords in front of the name of a table."""

_NAME_FOLLOWERS = frozenset({"VALUES", "SELECT", "WHERE", "ORDER BY", "GROUP BY", "ON", "USING", "SET", "AS", "ENGINE"})
"""Keywords behind the name of a table."""

_ITEM_OPENERS = frozenset({"SELECT", "ORDER BY", "GROUP BY", ",", "("})
"""What stands in front of an item of a list."""

_ITEM_CLOSERS = frozenset({",", ")", "::", ";"})
"""What stands behind an item of a list."""


def read_keywords_as_names(tokens: Sequence[Token]) -> list[Token]:
    """`SELECT from, val FROM join` with names in place of the keywords that nothing else can be."""
    kept: list[Token] = []
    words = [keyword(token) for token in tokens]
    for index, token in enumerate(tokens):
        known = words[index] in _NAME_WORDS
        kept.append(retype_token(token, TokenType.VAR, token.text) if known and _is_name(words, index) else token)
    return kept


def _is_name(words: Sequence[str], index: int) -> bool:
    """Whether the keyword at an index stands where only a name can."""
    before = words[index - 1] if index else ""
    after = words[index + 1] if index + 1 < len(words) else ";"
    if before in _NAME_INTRODUCERS:
        return after in _NAME_FOLLOWERS or after in _ITEM_CLOSERS or after in ("(", ";")
    called = after == "(" and words[index] in JOIN_WORDS
    return before in _ITEM_OPENERS and (after in _ITEM_CLOSERS or after == "FROM" or called)


def normalize_join_words(tokens: Sequence[Token]) -> list[Token]:
    """SQLite: `LEFT NATURAL OUTER JOIN`, in any order, as `NATURAL LEFT JOIN`; LEFT RIGHT is FULL."""
    kept: list[Token] = []
    run: list[Token] = []
    for token in tokens:
        word = keyword(token)
        if word in JOIN_WORDS:
            run.append(token)
            continue
        kept.extend(_order_join_words(run) if word == "JOIN" and len(run) > 1 else run)
        run = []
        kept.append(token)
    return [*kept, *run]


def _order_join_words(run: Sequence[Token]) -> list[Token]:
    words = {keyword(token) for token in run}
    side = "FULL" if "FULL" in words or {"LEFT", "RIGHT"} <= words else next(iter(words & {"LEFT", "RIGHT"}), "")
    ordered = [word for word in ("NATURAL" if "NATURAL" in words else "", side) if word]
    return [synthetic_token(word, run[0]) for word in ordered] or list(run)


_ALIASED_CLAUSES = frozenset({"WHERE", "HAVING", "PREWHERE", "GROUP BY", "ORDER BY", "BY"})
"""Clauses whose items may have an alias in ClickHouse."""

_CLAUSE_ENDS = frozenset(
    "SELECT FROM WHERE HAVING PREWHERE GROUP ORDER LIMIT SETTINGS UNION FORMAT WITH QUALIFY WINDOW".split()
)
"""Keywords that end such an item."""

_ARGUMENT_WORDS = frozenset("FROM FOR LEADING TRAILING BOTH".split())
"""Keywords between the arguments of TRIM, SUBSTRING and EXTRACT."""


class _OpenItem(msgspec.Struct):
    """Where an item that may have an alias begins among the kept tokens, or -1, and whether it is one of a list."""

    begin: int = -1
    call: str = ""
    first: bool = True
    listed: bool = False


def bracket_inline_aliases(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `ORDER BY f(a AS b) AS c` as `ORDER BY (f((a AS b)) AS c)`: any expression may have a name."""
    kept: list[Token] = []
    around: list[_OpenItem] = []
    item = _OpenItem()
    for index, token in enumerate(tokens):
        word, step = keyword(token), paren_step(token)
        kept.append(token)
        if step > 0:
            around.append(item)
            call = _called_name(tokens, index)
            item = _OpenItem(len(kept) if call else -1, call, listed=bool(call))
        elif step < 0:
            item = around.pop() if around else _OpenItem()
        elif (word == "," and item.listed) or (word in _ARGUMENT_WORDS and item.call):
            item = _OpenItem(len(kept), item.call, first=False, listed=True)
        elif word in _ALIASED_CLAUSES:
            item = _OpenItem(len(kept), listed=True)
        elif word in _CLAUSE_ENDS:
            item = _OpenItem()
        elif item.begin >= 0 and index and keyword(tokens[index - 1]) == "AS" and _names_item(tokens, index, item):
            kept.insert(item.begin, synthetic_token("(", kept[item.begin]))
            kept.append(synthetic_token(")", token))
            item = msgspec.structs.replace(item, begin=item.begin if item.call == "CAST" else -1)
    return kept


def _called_name(tokens: Sequence[Token], index: int) -> str:
    """The name of the function whose arguments a bracket opens, in capitals; nothing for other brackets."""
    before = tokens[index - 1] if index else None
    if before is None or tokens[index].token_type is not TokenType.L_PAREN:
        return ""
    called = before.token_type in _CALLABLE_TOKENS or keyword(before) in ("IN", *_CALLED_KEYWORDS)
    return keyword(before) or "(" if called else ""


_CALLABLE_TOKENS = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN)
_CALLED_KEYWORDS = frozenset("CAST SUBSTRING TRIM EXTRACT POSITION LEFT RIGHT IF REPLACE FORMAT".split())
"""Names of functions that are keywords to the tokenizer."""


def _names_item(tokens: Sequence[Token], index: int, item: _OpenItem) -> bool:
    """Whether the word behind AS is an alias, and not the type of a CAST."""
    after = keyword(tokens[index + 1]) if index + 1 < len(tokens) else ""
    return item.call != "CAST" or not item.first or after in ("AS", ",")


def insert_alias_keywords(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `SELECT f(1 a, 2 b)` as `SELECT f(1 AS a, 2 AS b)`."""
    kept: list[Token] = []
    words = [keyword(token) for token in tokens]
    depth, selects = 0, False
    for index, token in enumerate(tokens):
        depth += paren_step(token)
        selects = selects or words[index] == "SELECT"  # the columns of a definition have types, not names
        follows = words[index + 1] if index + 1 < len(tokens) else ""
        named = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER) and follows in (",", ")", "FROM", "AS", "FOR")
        unit = "INTERVAL" in words[max(index - 2, 0) : index]
        if selects and depth and named and not unit and index and _ends_operand(tokens[index - 1]):
            kept.append(synthetic_token("AS", token))
        kept.append(token)
    return kept


def _ends_operand(token: Token) -> bool:
    return token.token_type in OPERAND_END_TOKENS


def rename_computed_casts(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `cast(a, kind)` as a function, where the type is no text."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        if keyword(token) == "CAST" and is_called_at(tokens, index):
            arguments = split_list(tokens[index + 2 : skip_brackets(tokens, index + 1) - 1])
            if len(arguments) == 2 and keyword(arguments[1][0]):
                token = retype_token(token, TokenType.VAR, "castTo")
        kept.append(token)
    return kept


def drop_empty_qualifiers(tokens: Sequence[Token]) -> list[Token]:
    """`FROM ..t` as `FROM t`: a template left the names of the database and the schema empty.

    A dot belongs to the name in front of it, also where that is a keyword, if nothing stands between them.
    """
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.DOT and index + 1 < len(tokens):
            before = kept[-1] if kept else None
            apart = before is None or before.end + 1 < token.start
            word = before is not None and before.text.isidentifier()
            names = before is not None and before.token_type in (*OPERAND_END_TOKENS, TokenType.DOT, TokenType.STAR)
            if not names and (apart or not word):
                continue
        kept.append(token)
    return kept
