"""Words before a statement that say nothing of its columns: locks, functions it brings along, a name to prepare it."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, keyword, made

STATEMENTS = frozenset(
    "SELECT SEL WITH INSERT INS UPDATE UPD DELETE DEL MERGE CREATE REPLACE UNLOAD VALUES TABLE".split()
)
"""What a statement behind such words begins with."""


def unlocked(tokens: list[Token]) -> list[Token]:
    """Teradata: `LOCKING TABLE t FOR ACCESS SELECT …` as the statement alone."""
    for index in range(2, len(tokens)):
        mode = keyword(tokens[index - 1]) in ("ACCESS", "READ", "WRITE", "EXCLUSIVE", "SHARE", "MODE", "NOWAIT")
        if mode and keyword(tokens[index]) in STATEMENTS:
            return tokens[index:]
    return tokens


def without_functions(tokens: list[Token]) -> list[Token]:
    """Athena: the query behind `USING EXTERNAL FUNCTION f(…) RETURNS … LAMBDA 'name'`."""
    if [keyword(token) for token in tokens[1:3]] != ["EXTERNAL", "FUNCTION"]:
        return tokens
    index = 3
    while index < len(tokens) and keyword(tokens[index]) not in ("SELECT", "WITH"):
        opened = tokens[index].token_type is TokenType.L_PAREN
        index = behind_brackets(tokens, index) if opened else index + 1
    return tokens[index:] or tokens


def prepared_at(tokens: Sequence[Token], begin: int) -> int:
    """Where the statement begins that a PREPARE gives a name, or where the PREPARE does if that is a text."""
    at = begin + 2
    if at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
        at = behind_brackets(tokens, at)
    named = at + 1 < len(tokens) and keyword(tokens[at]) in ("AS", "FROM")
    return at + 1 if named and keyword(tokens[at + 1]) in STATEMENTS else begin


def defined(tokens: Sequence[Token]) -> list[Token]:
    """Snowflake: DEFINE of an object in a project, which makes it or makes it anew, is CREATE."""
    return [
        made("CREATE", token)
        if keyword(token) == "DEFINE" and (not index or tokens[index - 1].token_type is TokenType.SEMICOLON)
        else token
        for index, token in enumerate(tokens)
    ]
