"""Cutting procedural T-SQL: modules, blocks, branches and statements, none of which needs a semicolon.

The cutter walks tokens. A statement ends at a semicolon or where the next one begins; which words begin one, and
which only seem to, is said by the tables of `dialects.procedural`.
"""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.procedural import BEGINS, BELONGS, EXPECTS, MODULE_OPTIONS
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.calls import Run, call_parts
from lineage_pipeline.engine.compile.headers import outputs, parameters
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.words import behind_brackets, dotted_name, is_name, keywords
from lineage_pipeline.vocabulary import ir

_MARKS = BEGINS | {"(", ")", ";", ":", "CASE", "END"}
"""The words that decide where a statement ends."""

_MODULES = {"PROC": "PROCEDURE", "PROCEDURE": "PROCEDURE", "FUNCTION": "FUNCTION", "TRIGGER": "TRIGGER"}


class Cutter:
    """One batch on its way to pieces; `ordinal` is the number that its first piece will have in the file."""

    def __init__(self, tokens: Sequence[Token], traits: Traits, ordinal: int) -> None:
        """Start at the first token of a batch."""
        self.tokens = tokens
        self.words = keywords(tokens)
        self.marks = [index for index, word in enumerate(self.words) if word in _MARKS]
        self.traits = traits
        self.ordinal = ordinal
        self.index = 0
        self.pieces: list[Piece] = []

    def batch(self) -> list[Piece]:
        """The pieces of the whole batch."""
        while self.index < len(self.tokens):
            before = self.index
            self.statement(-1)
            if self.index == before:  # a stray END or ELSE is a piece of its own, so that nothing is lost
                self.emit(self.index, self.index + 1, -1)
        return self.pieces

    def statement(self, parent: int) -> None:
        """One statement, block or module, with everything inside."""
        word = self.word()
        if self.tokens[self.index].token_type is TokenType.SEMICOLON:
            self.index += 1
        elif word in ("CREATE", "ALTER") and self.module_kind():
            self.module(parent)
        elif word == "BEGIN" and self.word(1) not in ("TRAN", "TRANSACTION", "DISTRIBUTED", "DIALOG", "CONVERSATION"):
            self.block(parent)
        elif word in ("IF", "WHILE"):
            self.branch(parent)
        elif word in ("END", "ELSE") and parent >= 0:
            return
        elif self.is_label():
            self.emit(self.index, self.index + 2, parent, kind="LABEL")
        elif word in ("EXEC", "EXECUTE") and self.word(1) != "AS":
            self.execute(self.index, self.index, parent)
        else:
            self.plain(word, parent)

    def plain(self, word: str, parent: int) -> None:
        """A statement without others inside; INSERT … EXEC takes the result of a call."""
        begin, end = self.index, self.statement_end()
        called = next((at for at in range(begin, end) if self.words[at] in ("EXEC", "EXECUTE")), end)
        if word == "INSERT" and called < end:
            self.execute(begin, called, parent)
        else:
            self.emit(begin, end, parent)

    def execute(self, begin: int, call: int, parent: int) -> None:
        """A procedure called by name, its result inserted where an INSERT stands before; or text that is run."""
        self.index = begin
        end = self.statement_end()
        found = call_parts(self.tokens[begin:end], call - begin, self.traits)
        kind = "EXECUTE" if begin == call else "INSERT"
        if not isinstance(found, Run):
            self.emit(begin, end, parent, kind, found)
            return
        place = self.emit(begin, end, parent, "EXECUTE")
        self.pieces[place] = msgspec.structs.replace(self.pieces[place], run=found)

    def word(self, ahead: int = 0) -> str:
        """The keyword at or ahead of the current token."""
        index = self.index + ahead
        return self.words[index] if index < len(self.words) else ""

    def emit(
        self, begin: int, end: int, parent: int, kind: str | None = None, parts: tuple[tuple[str, object], ...] = ()
    ) -> int:
        """Keep the tokens of one piece, go on behind it, and return its place in the list."""
        self.pieces.append(Piece(self.tokens[begin:end], parent, kind, parts))
        self.index = end
        return len(self.pieces) - 1

    def close(self, place: int) -> None:
        """Let a piece with others inside reach to where the cutter stands now."""
        piece = self.pieces[place]
        stop = int(self.tokens[self.index - 1].end) + 1
        self.pieces[place] = msgspec.structs.replace(piece, stop=stop)

    def module_kind(self) -> str:
        """PROCEDURE, FUNCTION or TRIGGER where a module begins here."""
        ahead = 3 if self.word(1) == "OR" else 1
        return _MODULES.get(self.word(ahead), "")

    def module(self, parent: int) -> None:
        """A module: its header up to AS, then statements up to the end of the batch."""
        kind = self.module_kind()
        begin = self.index
        name_at = begin + (4 if self.word(1) == "OR" else 2)
        if not is_name(self.tokens, name_at):
            self.emit(begin, self.statement_end(), parent)
            return
        name, after = dotted_name(self.tokens, name_at, begin, self.traits)
        end = self.header_end(after)
        header = self.tokens[after:end]
        given = parameters(header, self.tokens[begin].start, self.traits)
        definition = ir.Definition(name, kind.lower(), replace=True, parameters=given, outputs=outputs(header))
        place = self.emit(begin, end, parent, f"CREATE {kind}", (("definition", definition),))
        inside = self.ordinal + place
        while self.index < len(self.tokens):
            before = self.index
            self.statement(inside)
            if self.index == before:
                self.emit(self.index, self.index + 1, inside)
        self.close(place)

    def header_end(self, index: int) -> int:
        """The token behind the AS that opens a module's body; types and defaults may hold an AS in brackets."""
        depth = 0
        while index < len(self.tokens):
            kind = self.tokens[index].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            following = self.words[index + 1] if index + 1 < len(self.words) else ""
            declared = self.tokens[index - 1].token_type in (
                TokenType.VAR,
                TokenType.PARAMETER,
            ) and self._is_parameter_name(index - 1)
            if (
                depth == 0
                and self.words[index] == "AS"
                and not declared
                and following not in ("OWNER", "CALLER", "SELF")
            ):
                return index + 1
            if depth == 0 and self.words[index] == "BEGIN":
                return index
            index += 1
        return index

    def _is_parameter_name(self, index: int) -> bool:
        """Whether `@name AS type` stands here."""
        return self.tokens[index - 1].token_type is TokenType.PARAMETER

    def block(self, parent: int) -> None:
        """BEGIN … END, TRY and CATCH, with the statements inside."""
        begin = self.index
        end = begin + (2 if self.word(1) in ("TRY", "CATCH", "ATOMIC") else 1)
        if self.word(1) == "ATOMIC":
            end = behind_brackets(self.tokens, end + 1)
        kind = self.word(1) if self.word(1) in ("TRY", "CATCH") else "BEGIN"
        place = self.emit(begin, end, parent, kind)
        inside = self.ordinal + place
        while self.index < len(self.tokens) and self.word() != "END":
            before = self.index
            self.statement(inside)
            if self.index == before:
                self.emit(self.index, self.index + 1, inside)
        if self.index < len(self.tokens):
            self.index += 2 if self.word(1) in ("TRY", "CATCH") else 1
        self.close(place)

    def branch(self, parent: int) -> None:
        """IF or WHILE: its condition, the statement it guards, and that of ELSE."""
        word = self.word()
        place = self.emit(self.index, self.condition_end(), parent, word)
        inside = self.ordinal + place
        self.guarded(inside)
        if word == "IF":
            while (
                self.index < len(self.tokens)
                and self.tokens[self.index].token_type is TokenType.SEMICOLON
                and self.word(1) == "ELSE"
            ):
                self.index += 1
            if self.index < len(self.tokens) and self.word() == "ELSE":
                other = self.emit(self.index, self.index + 1, inside, "ELSE")
                self.guarded(self.ordinal + other)
                self.close(other)
        self.close(place)

    def guarded(self, parent: int) -> None:
        """The one statement behind a condition."""
        if self.index < len(self.tokens) and self.word() not in ("END", "ELSE"):
            self.statement(parent)

    def condition_end(self) -> int:
        """The token at which the statement behind a condition begins."""
        depth, cases, index = 0, 0, self.index + 1
        while index < len(self.tokens):
            kind, word = self.tokens[index].token_type, self.words[index]
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            cases += (word == "CASE") - (word == "END" and cases > 0)
            called = index + 1 < len(self.tokens) and self.tokens[index + 1].token_type is TokenType.L_PAREN
            if depth == 0 and cases == 0 and word in BEGINS and not (word == "UPDATE" and called):
                return index
            if depth == 0 and kind is TokenType.SEMICOLON:
                return index
            index += 1
        return index

    def is_label(self) -> bool:
        """Whether `name:` stands here."""
        if self.index + 1 >= len(self.tokens) or self.tokens[self.index].token_type is not TokenType.VAR:
            return False
        return self.tokens[self.index + 1].token_type is TokenType.COLON

    def statement_end(self) -> int:
        """The token behind a plain statement."""
        first = self.word()
        expected = EXPECTS.get(first, frozenset())
        depth = cases = 0
        for index in self.marks[bisect_right(self.marks, self.index) :]:
            word = self.words[index]
            depth += (word == "(") - (word == ")")
            closing = word == "END" and cases > 0
            cases += (word == "CASE") - closing
            if depth == 0 and word == ";":
                return index
            if depth == 0 and word == ":" and index > self.index + 1:
                return index - 1  # a label
            if depth == 0 and not cases and not closing and word in BEGINS:
                if word in expected:
                    expected = EXPECTS.get(word, frozenset())
                    first = word if first == "WITH" else first
                elif not self.belongs(first, index):
                    return index
                elif self.words[index - 1] in ("AS", "RETURN"):
                    expected = EXPECTS.get(word, frozenset())
        return len(self.tokens)

    def belongs(self, first: str, index: int) -> bool:
        """Whether a word that could begin a statement is part of the one that `first` began."""
        word, before = self.words[index], self.words[index - 1]
        called = index + 1 < len(self.tokens) and self.tokens[index + 1].token_type is TokenType.L_PAREN
        if word == "WITH" and not self.begins_cte(index):
            return True
        if word == "UPDATE" and called:
            return True
        return any(
            word in words and (not firsts or first in firsts) and (not befores or before in befores)
            for firsts, befores, words in BELONGS
        )

    def begins_cte(self, index: int) -> bool:
        """Whether a WITH opens common table expressions, and not a hint or an option."""
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        if following is None or following.token_type is TokenType.L_PAREN:
            return False
        if self.words[index + 1] == "XMLNAMESPACES":
            return True
        if self.words[index + 1] in MODULE_OPTIONS:
            return False
        after = index + 2
        if after < len(self.tokens) and self.tokens[after].token_type is TokenType.L_PAREN:
            after = behind_brackets(self.tokens, after)
        return after < len(self.tokens) and self.words[after] == "AS"
