"""Overrides of sqlglot's parser methods: the first choice for SQL that sqlglot does not read (`rules.py` lists them).

An override works where sqlglot passes a method on as a value or looks it up by name, as it does for statements, clauses
and list items (`_parse_merge`, `_parse_group`, `_parse_expression` …); a method that its compiled code calls directly
never gets here. Tokens stay as they are, so that every position is exact; rewrites of tokens are for what is left.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import parser
from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.tokens import find_top_level_keyword

Parse = Callable[..., Any]
"""A method of sqlglot's parser."""

Override = Callable[[Any], Any]
"""Makes of the original method, flag or entry of a table (None: there is none) what takes its place."""

_PIVOT_OPERATORS = (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DIV)


def parse_computed_aggregates(original: Parse) -> Parse:
    """PIVOT (sum(a) / 2 FOR …): sqlglot reads a function call alone."""

    def parse(self: parser.Parser) -> Any:
        first = self._index
        node = original(self)
        if not self._curr or self._curr.token_type not in _PIVOT_OPERATORS:
            return node
        self._retreat(first)
        return self._parse_alias(self._parse_term())

    return parse


def skip_words(*words: str) -> Override:
    """Skip words that stand in any number before the rest of a statement."""

    def override(original: Parse) -> Parse:
        def parse(self: parser.Parser) -> Any:
            while self._match_texts(words):
                pass
            return original(self)

        return parse

    return override


def skip_phrase(*words: str) -> Override:
    """Skip a phrase that may stand before the rest of a statement."""

    def override(original: Parse) -> Parse:
        def parse(self: parser.Parser) -> Any:
            self._match_text_seq(*words)
            return original(self)

        return parse

    return override


def skip_top(original: Parse) -> Parse:
    """T-SQL: `UPDATE TOP (10) PERCENT t …`; how many rows are changed is no lineage. (docs: TOP, "DML statements")."""

    def parse(self: parser.Parser) -> Any:
        if self._match_text_seq("TOP"):
            self._parse_primary()
            self._match_text_seq("PERCENT")
        return original(self)

    return parse


def parse_second_from(original: Parse) -> Parse:
    """T-SQL: `DELETE FROM alias FROM table AS alias` as `DELETE alias FROM …`. (docs: DELETE, "FROM table_source")."""

    def parse(self: parser.Parser) -> Any:
        following = self._tokens[self._index :]
        if self._curr.token_type is TokenType.FROM and find_top_level_keyword(following, "FROM", start=1) > 0:
            self._advance()
        return original(self)

    return parse


def parse_group_order(original: Parse) -> Parse:
    """MySQL 5: `GROUP BY a DESC, b WITH ROLLUP`; the order is no part of the groups. (docs: GROUP BY Modifiers)."""

    def parse(self: parser.Parser, skip_group_by_token: bool = False) -> Any:
        node = original(self, skip_group_by_token)
        while node is not None and self._match_set((TokenType.ASC, TokenType.DESC)):
            self._match(TokenType.COMMA)
            for key, values in original(self, True).args.items():  # the rest of the list, or WITH ROLLUP alone
                node.set(key, [*(node.args.get(key) or ()), *(values or ())])
        return node

    return parse


def parse_as_insert(_: Parse | None) -> Parse:
    """MySQL and SQLite: `REPLACE INTO t …` writes as INSERT does."""
    return lambda self: self._parse_insert()


def skip_to_query(_: Parse | None) -> Parse:
    """Athena: `USING EXTERNAL FUNCTION f(…) RETURNS … LAMBDA 'name' SELECT …`."""

    def parse(self: parser.Parser) -> Any:
        while self._curr and self._curr.token_type not in (TokenType.SELECT, TokenType.WITH):
            self._advance()
        return self._parse_statement()

    return parse
