"""Rows that stand inside a statement in a form the parser has no place for: changed rows, documents, files, views."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.feeds import shaped
from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, is_name, keyword, made

_CHANGES = ("DELETE", "UPDATE", "INSERT")


def changed_rows(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `FROM (DELETE … OUTPUT deleted.id) AS x` with the change as a CTE of that name."""
    for index in range(1, len(tokens) - 1):
        opened = tokens[index].token_type is TokenType.L_PAREN and keyword(tokens[index - 1]) in ("FROM", "JOIN", ",")
        if not opened or keyword(tokens[index + 1]) not in _CHANGES:
            continue
        end = behind_brackets(tokens, index)
        at = end + (end < len(tokens) and keyword(tokens[end]) == "AS")
        if not is_name(tokens, at):
            break
        name, word = tokens[at], tokens[index]
        cte = [made("WITH", word), name, made("AS", word), *tokens[index:end]]
        rest = [*tokens[:index], name, *tokens[at + 1 :]]
        return changed_rows([*cte, made(",", word), *rest[1:]] if keyword(rest[0]) == "WITH" else [*cte, *rest])
    return list(tokens)


def document_rows(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `OPENXML(@doc, path, flags) WITH (…)` and `OPENJSON(x, f(y)) WITH (…)` as OPENJSON of the document."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        if not opened or keyword(token) not in ("OPENXML", "OPENJSON"):
            kept.append(token)
            continue
        end = behind_brackets(tokens, index)
        kept += [made("OPENJSON", token), tokens[index], *_first(tokens[index + 1 : end - 1]), tokens[end - 1]]
        index = end
    return kept


def file_rows(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `OPENROWSET(BULK 'file', …) WITH (…)` as the file, or a query of the columns it is said to have."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        if not opened or keyword(token) != "OPENROWSET":
            kept.append(token)
            continue
        end = behind_brackets(tokens, index)
        rows = [token, tokens[index], *_first(tokens[index + 1 : end - 1]), tokens[end - 1]]
        declared = [keyword(item) for item in tokens[end : end + 2]] == ["WITH", "("]
        index = behind_brackets(tokens, end + 1) if declared else end
        kept += shaped(rows, tokens[end + 1 : index]) if declared else rows
    return kept


def _first(tokens: Sequence[Token]) -> list[Token]:
    """The first of some arguments."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.COMMA:
            return list(tokens[:index])
    return list(tokens)


def viewed_insert(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `INSERT INTO (SELECT a, b FROM t …) …` as `INSERT INTO t (a, b) …`."""
    words = [keyword(token) for token in tokens[:4]]
    if words != ["INSERT", "INTO", "(", "SELECT"]:
        return list(tokens)
    end = behind_brackets(tokens, 2)
    source = next((at for at in range(4, end) if keyword(tokens[at]) == "FROM"), end)
    behind = behind_name(tokens, source + 1)
    columns = tokens[4:source]
    if behind == source + 1 or not all(is_name([token], 0) or keyword(token) in (",", ".") for token in columns):
        return list(tokens)
    return [*tokens[:2], *tokens[source + 1 : behind], tokens[2], *columns, tokens[end - 1], *tokens[end:]]


def unbound(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: RETURNING … INTO variables of the client, without those."""
    words = [keyword(token) for token in tokens]
    returning = next((at for at, word in enumerate(words) if word in ("RETURNING", "RETURN")), len(words))
    into = next((at for at in range(returning, len(words)) if words[at] == "INTO"), len(words))
    bound = into + 1 < len(tokens) and tokens[into + 1].token_type is TokenType.COLON
    return list(tokens[:into] if bound else tokens)
