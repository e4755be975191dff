"""Views that read themselves: the query of each becomes a recursive CTE of the view's name."""

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, keyword, made


def recursive_view(tokens: list[Token]) -> list[Token]:
    """`CREATE RECURSIVE VIEW v (a) AS query` with the query as a recursive CTE of the view's name."""
    at = next((index for index, token in enumerate(tokens[:6]) if keyword(token) == "RECURSIVE"), 0)
    if not at or len(tokens) < at + 5 or keyword(tokens[at + 1]) != "VIEW":
        return tokens
    begin = at + (5 if keyword(tokens[at + 2]) == "IF" else 2)
    end = behind_name(tokens, begin)
    listed = end < len(tokens) and tokens[end].token_type is TokenType.L_PAREN
    body = behind_brackets(tokens, end) if listed else end
    if body >= len(tokens) or keyword(tokens[body]) != "AS":
        return tokens
    name, close = tokens[end - 1], tokens[-1]
    opened = Token(TokenType.L_PAREN, "(", name.line, name.col, name.start, name.end)
    closed = Token(TokenType.R_PAREN, ")", close.line, close.col, close.start, close.end)
    star = Token(TokenType.STAR, "*", close.line, close.col, close.start, close.end)
    cte = [
        made("WITH", name),
        made("RECURSIVE", name),
        name,
        *tokens[end : body + 1],
        opened,
        *_unqualified(tokens[body + 1 :], [token.text.lower() for token in tokens[begin:end]]),
        closed,
    ]
    all_of = [made("SELECT", close), star, made("FROM", close), name]
    return [*tokens[:at], *tokens[at + 1 : end], tokens[body], *cte, *all_of]


def _unqualified(tokens: list[Token], parts: list[str]) -> list[Token]:
    """The tokens, with the last part alone wherever a name of several parts stands."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        if len(parts) > 1 and [item.text.lower() for item in kept[-len(parts) :]] == parts:
            kept[-len(parts) :] = [token]
    return kept
