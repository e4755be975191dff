"""Where T-SQL statements end: at a semicolon, or where the next one begins.

Which words begin a statement, and which only seem to, is said by the tables of `dialects.procedural`.
"""

from bisect import bisect_right
from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.procedural import BEGINS, BELONGS, DIRECTIVES, EXPECTS, HEADER_OPTIONS
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.words import behind_brackets

_COLON = TokenType.COLON
_BEFORE_NAMES = frozenset({"@", ".", "#", "##"})
_MARKS = BEGINS | _BEFORE_NAMES | {"(", ")", ";", ":", "CASE", "END", "VALUES"}
"""The words that decide where a statement ends, and what they are not."""


class Reader:
    """The tokens of a batch with their keywords; what stands behind `@` or a dot is a name and no keyword."""

    def __init__(self, tokens: Sequence[Token], words: list[str], traits: Traits) -> None:
        """Start at the first token."""
        self.tokens = tokens
        self.words = [*words, ""]  # what stands behind the last mark may be looked at
        self.marks = []
        for index in [index for index, word in enumerate(words) if word in _MARKS]:
            word = self.words[index]
            if word in _BEFORE_NAMES:
                self.words[index + 1] = ""
            elif word == "END" and self.words[index + 1] == "CONVERSATION":  # which ends no block
                self.words[index] = "END CONVERSATION"
                self.marks.append(index)
            elif word:
                self.marks.append(index)
        self.words.pop()
        self.traits = traits
        self.index = 0

    def word(self, ahead: int = 0) -> str:
        """The keyword at or ahead of the current token."""
        index = self.index + ahead
        return self.words[index] if index < len(self.words) else ""

    def is_label(self) -> bool:
        """Whether `name:` stands here."""
        if self.index + 1 >= len(self.tokens) or not self.tokens[self.index].text.isidentifier():
            return False
        if self.word() in BEGINS or self.tokens[self.index].token_type in (TokenType.IDENTIFIER, TokenType.STRING):
            return False
        return self.tokens[self.index + 1].token_type is _COLON and not self.is_directive(self.index + 1)

    def is_directive(self, index: int) -> bool:
        """Whether a command of sqlcmd begins at a token: a colon at the start of a line, and a word of its own."""
        if self.tokens[index].token_type is not _COLON or index + 1 >= len(self.tokens):
            return False
        first = index == 0 or self.tokens[index - 1].line < self.tokens[index].line
        return first and self.words[index + 1] in DIRECTIVES

    def line_end(self) -> int:
        """The token behind the last one on the line of the current token."""
        end = self.index
        while end < len(self.tokens) and self.tokens[end].line == self.tokens[self.index].line:
            end += 1
        return end

    def condition_end(self) -> int:
        """The token at which the statement behind a condition begins."""
        depth = cases = 0
        for position in range(bisect_right(self.marks, self.index), len(self.marks)):
            index = self.marks[position]
            word = self.words[index]
            depth += (word == "(") - (word == ")")
            closing = word == "END" and cases > 0
            cases += (word == "CASE") - closing
            called = word == "UPDATE" and self.words[index + 1 : index + 2] == ["("]
            if depth == 0 and (word == ";" or (cases == 0 and word in BEGINS and not (called or closing))):
                return index
        return len(self.tokens)

    def statement_end(self) -> int:
        """The token behind a plain statement."""
        first = self.word()
        expected = EXPECTS.get(first, frozenset())
        depth, cases = int(first == "("), 0  # a query in brackets
        for position in range(bisect_right(self.marks, self.index), len(self.marks)):
            index = self.marks[position]
            word = self.words[index]
            depth += (word == "(") - (word == ")")
            closing = word == "END" and cases > 0
            cases += (word == "CASE") - closing
            if depth or cases or closing:
                continue
            if word == ";" or (word == ":" and self.is_directive(index)):
                return index
            if word == ":" and index > self.index + 1:
                return index - 1  # a label
            if word == "VALUES" and first == "INSERT":
                expected = frozenset()
            elif word in expected:
                expected = EXPECTS.get(word, frozenset())
                first = word if first == "WITH" else first
            elif word in BEGINS:
                if not self.belongs(first, index):
                    return index
                if self.words[index - 1] in ("AS", "RETURN", "FOR"):
                    expected = EXPECTS.get(word, frozenset())
        return len(self.tokens)

    def belongs(self, first: str, index: int) -> bool:
        """Whether a word that could begin a statement is part of the one that `first` began."""
        word, before = self.words[index], self.words[index - 1]
        after = self.words[index + 1] if index + 1 < len(self.words) else ""
        if word == "WITH" and not self.begins_cte(index):
            return True
        if word == "UPDATE" and after == "(":
            return True
        return any(
            word in row.words
            and (not row.first or first in row.first)
            and (not row.before or before in row.before)
            and after not in row.unless
            for row in BELONGS
        )

    def begins_cte(self, index: int) -> bool:
        """Whether a WITH opens common table expressions, and not a hint or an option."""
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        if following is None or following.token_type is TokenType.L_PAREN or self.words[index + 1] in HEADER_OPTIONS:
            return False
        if self.words[index + 1] == "XMLNAMESPACES":
            return True
        after = index + 2
        if after < len(self.tokens) and self.tokens[after].token_type is TokenType.L_PAREN:
            after = behind_brackets(self.tokens, after)
        return after < len(self.tokens) and self.words[after] == "AS"

    def header_end(self, index: int) -> int:
        """The token behind the AS that opens a module's body; types and defaults may hold an AS in brackets."""
        depth = 0
        while index < len(self.tokens):
            kind = self.tokens[index].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            somebody = self.words[index - 1] in ("EXEC", "EXECUTE")  # who runs it: OWNER, or a user's name in quotes
            declared = index > 1 and self.tokens[index - 2].token_type is TokenType.PARAMETER  # `@name AS type`
            if depth == 0 and self.words[index] == "AS" and not (declared or somebody):
                return index + 1
            if depth == 0 and self.words[index] in ("BEGIN", "RETURN"):
                return index
            index += 1
        return index
