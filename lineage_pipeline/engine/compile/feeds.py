"""Tables that are fed from outside: by a source of a streaming database, or by a load that is written as a query."""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, is_name, keyword, made


def fed_table(tokens: Sequence[Token]) -> list[Token]:
    """`CREATE TABLE t FROM SOURCE s …` and `CREATE TABLE t (*) FROM s TABLE …` as a table of all that a source has."""
    words = [keyword(token) for token in tokens[:24]]
    if "FROM" not in words or "TABLE" not in words[:3] or "AS" in words[: words.index("FROM")]:
        return list(tokens)
    at = words.index("FROM")
    begin = at + 2 if words[at + 1 : at + 2] == ["SOURCE"] else at + 1
    end = behind_name(tokens, begin)
    told = begin == at + 2 or words[end : end + 1] == ["TABLE"]
    if end == begin or not told or not _is_open(words[:at]):
        return list(tokens)
    head = [token for token in tokens[:at] if token.text not in ("(", "*", ")")]
    query = [made("AS", tokens[at]), made("SELECT", tokens[at]), made("*", tokens[at]), tokens[at]]
    return [*head, *query, *tokens[begin:end]]


def _is_open(words: Sequence[str]) -> bool:
    """Whether a table does not say which columns it has."""
    return "(" not in words or words[-3:] == ["(", "*", ")"]


def ingested(tokens: Sequence[Token]) -> list[Token]:
    """Druid: `REPLACE INTO t OVERWRITE … query` as an INSERT, and how its rows are kept, `PARTITIONED BY …`, goes."""
    words = [keyword(token) for token in tokens]
    if words[:2] not in (["INSERT", "INTO"], ["REPLACE", "INTO"]):
        return list(tokens)
    end = behind_name(tokens, 2)
    query = end
    if words[end : end + 1] == ["OVERWRITE"]:
        query = next((at for at in range(end, len(words)) if words[at] in ("SELECT", "WITH")), end)
    kept = next((at for at in range(query, len(words)) if words[at] in _KEEPING), len(words))
    return [made("INSERT", tokens[0]), *tokens[1:end], *declared(tokens[query:kept])]


_KEEPING = frozenset({"PARTITIONED", "PARTITIONED BY", "CLUSTERED", "CLUSTERED BY"})


def declared(tokens: Sequence[Token]) -> list[Token]:
    """Rows from outside with the columns they have, `TABLE(EXTERN(…)) EXTEND (a VARCHAR)`, as a query of those."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        opened = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        behind = behind_brackets(tokens, index + 1) if keyword(token) == "TABLE" and opened else len(tokens)
        if [keyword(item) for item in tokens[behind : behind + 2]] != ["EXTEND", "("]:
            kept.append(token)
            index += 1
            continue
        end = behind_brackets(tokens, behind + 1)
        kept.extend(shaped(tokens[index:behind], tokens[behind + 1 : end]))
        named = end < len(tokens) and (is_name(tokens, end) or keyword(tokens[end]) == "AS")
        kept.extend([] if named else [made("AS", token), made("extern", token)])
        index = end
    return kept


def shaped(rows: Sequence[Token], columns: Sequence[Token]) -> list[Token]:
    """Rows whose columns are declared in brackets as a query of them."""
    first, last = rows[0], columns[-1]
    return [made("(", first), made("SELECT", first), *names(columns)[1:-1], made("FROM", first), *rows, made(")", last)]


def names(tokens: Sequence[Token]) -> list[Token]:
    """A list of declarations in brackets without their types."""
    first = (TokenType.L_PAREN, TokenType.COMMA)
    marks = (*first, TokenType.R_PAREN)
    kept, depth = [tokens[0]], 1
    for before, token in pairwise(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (before.token_type is TokenType.R_PAREN)
        named = depth == 1 and (before.token_type in first or token.token_type in marks)
        kept.extend([token] if named else [])
    return kept


def structured(tokens: Sequence[Token]) -> list[Token]:
    """Flink: `ROW<a INT>` and `ROW(a, b)` as the parser knows them, and what becomes of a conflict goes."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        if keyword(token) == "ON" and [keyword(item) for item in tokens[index + 1 : index + 3]] == ["CONFLICT", "DO"]:
            return kept if index + 4 == len(tokens) else list(tokens)
        row = keyword(token) == "ROW" and following in (TokenType.LT, TokenType.L_PAREN)
        kept.append(made("STRUCT", token) if row else token)
    return kept
