"""Cutting procedural T-SQL: modules, blocks, branches and statements, none of which needs a semicolon."""

from collections.abc import Callable, Iterator

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.procedural import CALLED_BY_NAME
from lineage_pipeline.engine.compile.calls import Run, call_parts
from lineage_pipeline.engine.compile.cursors import EVERYTHING, Cursors
from lineage_pipeline.engine.compile.headers import header_of
from lineage_pipeline.engine.compile.pieces import Piece, Use
from lineage_pipeline.engine.compile.words import behind_brackets, dotted_name, is_name, made
from lineage_pipeline.vocabulary import ir

_OPEN, _SEMICOLON = TokenType.L_PAREN, TokenType.SEMICOLON
_MODULES = {"PROC": "PROCEDURE", "PROCEDURE": "PROCEDURE", "FUNCTION": "FUNCTION", "TRIGGER": "TRIGGER"}
_SILENT = ("DISABLE", "ENABLE", "REVERT", "SEND", "EXTERNAL", "GET", "MOVE", "END CONVERSATION")


class Cutter(Cursors):
    """One batch on its way to pieces; `ordinal` is the number that its first piece will have in the file."""

    def batch(self) -> list[Piece]:
        """The pieces of the whole batch."""
        if self.is_call():
            self.execute(0, -1, -1)
        while self.index < len(self.tokens):
            before = self.index
            self.statement(-1)
            if self.index == before:  # a stray END or ELSE is a piece of its own, so that nothing is lost
                self.emit(self.index, self.index + 1, -1)
        return self.pieces

    def is_call(self) -> bool:
        """Whether the batch begins with the name of a procedure alone."""
        if not self.tokens or self.tokens[0].token_type not in (TokenType.VAR, TokenType.IDENTIFIER) or self.is_label():
            return False
        return self.word() not in _STATEMENTS and self.word() not in CALLED_BY_NAME

    def statement(self, parent: int) -> None:
        """One statement, block or module, with everything inside."""
        word = self.word()
        known = _STATEMENTS.get(word)
        if self.tokens[self.index].token_type is _SEMICOLON:
            self.index += 1
        elif word in ("END", "ELSE") and parent >= 0:
            return
        elif self.is_directive(self.index):
            self.emit(self.index, self.line_end(), parent, ":" + self.word(1))
        elif self.is_label():
            self.emit(self.index, self.index + 2, parent, "LABEL")
        elif word in _SILENT:
            self.emit(self.index, self.statement_end(), parent, word)
        elif known is not None:
            known(self, parent)
        else:
            self.plain(parent)

    def create(self, parent: int) -> None:
        """CREATE or ALTER: a module, a type of tables, or anything else."""
        begin = self.index
        if self.module_kind():
            self.module(parent)
        elif self.word(1) == "TYPE" and "TABLE" in self.words[begin : begin + 8]:
            end = self.statement_end()
            at = self.words.index("TABLE", begin)
            head = [self.tokens[begin], made("TABLE", self.tokens[begin + 1]), *self.tokens[begin + 2 : at - 1]]
            self.keep(begin, end, parent, [*head, *self.tokens[at + 1 : end]], Use("type", "CREATE TYPE"))
        else:
            self.plain(parent)

    def insert(self, parent: int) -> None:
        """INSERT; INSERT … EXEC takes the result of a call."""
        begin, end = self.index, self.statement_end()
        called = next((at for at in range(begin, end) if self.words[at] in ("EXEC", "EXECUTE")), end)
        if called < end:
            self.execute(begin, called, parent)
        else:
            self.emit(begin, end, parent)

    def receive(self, parent: int) -> None:
        """RECEIVE, perhaps inside WAITFOR: a query of a queue, whose rows may go INTO a table."""
        begin, end = self.index, self.statement_end()
        first = begin + (2 if self.word() == "WAITFOR" else 0)
        if self.words[first : first + 1] != ["RECEIVE"]:
            self.plain(parent)
            return
        stop = behind_brackets(self.tokens, begin + 1) - 1 if first > begin else end
        into = next((at for at in range(first, stop) if self.words[at] == "INTO"), stop)
        word, tokens = self.tokens[first], self.tokens
        target = [made("INSERT", word), *tokens[into : into + 3]] if into < stop else []
        query = [made("SELECT", word), *tokens[first + 1 : into], *tokens[into + 3 : stop]]
        self.emit(begin, end, parent)
        place = {"begin": int(tokens[begin].start), "stop": int(tokens[end - 1].end) + 1}
        self.pieces[-1] = msgspec.structs.replace(self.pieces[-1], tokens=[*target, *query], words=(), **place)

    def call(self, parent: int) -> None:
        """EXEC; EXECUTE AS only says who runs what follows."""
        if self.word(1) == "AS":
            self.emit(self.index, self.statement_end(), parent, "EXECUTE AS")
        else:
            self.execute(self.index, self.index, parent)

    def execute(self, begin: int, call: int, parent: int) -> None:
        """A procedure called by name, its result inserted where an INSERT stands before; or text that is run."""
        self.index = begin
        end = self.statement_end()
        found = call_parts(self.tokens[begin:end], call - begin if call >= 0 else -1, self.traits)
        kind = "EXECUTE" if begin >= call else "INSERT"
        if not isinstance(found, Run):
            self.emit(begin, end, parent, kind, found)
            return
        self.emit(begin, end, parent, "EXECUTE")
        self.pieces[-1] = msgspec.structs.replace(self.pieces[-1], run=found)

    def returned(self, parent: int) -> None:
        """RETURN: the query of an inline function, the value of a scalar one, the end of everything else."""
        begin, end = self.index, self.statement_end()
        header = self.header
        first = begin + 1
        if header is None or header.kind != "FUNCTION" or (first == end and not header.table):
            self.emit(begin, end, parent, "RETURN")
        elif header.table:
            everything = ir.Select((ir.Source("", name=ir.Name((header.table,), header.table)),), EVERYTHING)
            self.emit(begin, end, parent, "RETURN", (("relations", (everything,)), ("result", 0)))
        elif header.inline:
            while self.tokens[first].token_type is _OPEN and behind_brackets(self.tokens, first) == end:
                first, end = first + 1, end - 1
            stop = end + (first - begin - 1)
            self.keep(begin, stop, parent, list(self.tokens[first:end]), Use("result", "RETURN"))
        else:
            word = self.tokens[begin]  # what is returned is converted to the type that the header declares
            value = [made("SELECT", word), made("CAST", word), made("(", word), *self.tokens[first:end]]
            value += [made("AS", word), *header.returns, made(")", word)]
            self.keep(begin, end, parent, value, Use("result", "RETURN", columns=(header.name.parts[-1],)))

    def module_kind(self) -> str:
        """PROCEDURE, FUNCTION or TRIGGER where a module begins here."""
        return _MODULES.get(self.word(3 if self.word(1) == "OR" else 1), "")

    def module(self, parent: int) -> None:
        """A module: its header up to AS, then statements up to the end of the batch."""
        kind, begin = self.module_kind(), self.index
        name_at = begin + (4 if self.word(1) == "OR" else 2)
        if not is_name(self.tokens, name_at):
            self.plain(parent)
            return
        name, after = dotted_name(self.tokens, name_at, begin, self.traits)
        end = self.header_end(after)
        self.header = header = header_of(kind, name, self.tokens[after:end], self.tokens[begin].start, self.traits)
        place = self.emit(begin, end, parent, f"CREATE {kind}", header.parts())
        inside = self.ordinal + place
        self.pieces.extend(header.tables(inside))
        while self.index < len(self.tokens):
            before = self.index
            self.statement(inside)
            if self.index == before:
                self.emit(self.index, self.index + 1, inside)
        self.close(place)

    def begin(self, parent: int) -> None:
        """BEGIN … END, TRY and CATCH, with the statements inside; or a transaction."""
        if self.word(1) in ("TRAN", "TRANSACTION", "DISTRIBUTED", "DIALOG", "CONVERSATION"):
            self.plain(parent)
            return
        begin = self.index
        end = begin + (2 if self.word(1) in ("TRY", "CATCH", "ATOMIC") else 1)
        if self.word(1) == "ATOMIC":
            end = behind_brackets(self.tokens, end + 1)
        place = self.emit(begin, end, parent, self.word(1) if self.word(1) in ("TRY", "CATCH") else "BEGIN")
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
        place = self.condition(word, parent)
        self.guarded(self.ordinal + place)
        if word == "IF":
            while self.index + 1 < len(self.tokens) and self.word() == ";" and self.word(1) == "ELSE":
                self.index += 1
            if self.index < len(self.tokens) and self.word() == "ELSE":
                other = self.emit(self.index, self.index + 1, self.ordinal + place, "ELSE")
                self.guarded(self.ordinal + other)
                self.close(other)
        self.close(place)

    def condition(self, word: str, parent: int) -> int:
        """A condition; one with a query in it says what is read."""
        begin, end = self.index, self.condition_end()
        if "SELECT" not in self.words[begin:end]:
            return self.emit(begin, end, parent, word)
        first, last = self.tokens[begin], self.tokens[end - 1]
        brackets = (
            Token(_OPEN, "(", first.line, first.col, first.start, first.end),
            Token(TokenType.R_PAREN, ")", last.line, last.col, last.start, last.end),
        )
        asked = [made("UPDATED", token) if self.is_asked(at) else token for at, token in self.part(begin + 1, end)]
        value = [made("SELECT", first), brackets[0], *asked, brackets[1]]
        return self.keep(begin, end, parent, value, Use("condition", word))

    def part(self, begin: int, end: int) -> Iterator[tuple[int, Token]]:
        """Some tokens with their numbers."""
        return zip(range(begin, end), self.tokens[begin:end], strict=True)

    def is_asked(self, index: int) -> bool:
        """Whether a condition of a trigger asks if a column was updated: `UPDATE(c)`."""
        return self.words[index] == "UPDATE" and self.words[index + 1 : index + 2] == ["("]

    def guarded(self, parent: int) -> None:
        """The one statement behind a condition."""
        if self.index < len(self.tokens) and self.word() not in ("END", "ELSE"):
            self.statement(parent)


_STATEMENTS: dict[str, Callable[[Cutter, int], None]] = {
    "ALTER": Cutter.create,
    "BEGIN": Cutter.begin,
    "CREATE": Cutter.create,
    "DECLARE": Cutter.declare,
    "EXEC": Cutter.call,
    "EXECUTE": Cutter.call,
    "FETCH": Cutter.fetch,
    "IF": Cutter.branch,
    "INSERT": Cutter.insert,
    "RECEIVE": Cutter.receive,
    "RETURN": Cutter.returned,
    "SET": Cutter.set,
    "WAITFOR": Cutter.receive,
    "WHILE": Cutter.branch,
}
"""Who cuts a statement, by its first word."""
