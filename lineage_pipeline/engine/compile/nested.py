"""Cutting the procedural languages of semicolons: blocks, branches, loops, handlers and sections of declarations."""

from collections.abc import Callable

from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.families import BLOCKS, LOOPS, MEMBERS
from lineage_pipeline.engine.compile.arms import arms
from lineage_pipeline.engine.compile.assignments import QUERIES
from lineage_pipeline.engine.compile.calls import Run
from lineage_pipeline.engine.compile.declarations import from_record, undefined
from lineage_pipeline.engine.compile.leading import Leading
from lineage_pipeline.engine.compile.pieces import Use
from lineage_pipeline.engine.compile.spoken import uncontinued
from lineage_pipeline.engine.compile.walker import OPEN, SEMICOLON
from lineage_pipeline.engine.compile.words import keyword

_ENDS = frozenset({"END"})
_BLOCK_ENDS = frozenset({"END", "EXCEPTION"})
_ARMS = frozenset({"ELSIF", "ELSEIF", "ELSE", "END"})
_CASES = frozenset({"WHEN", "ELSE", "END"})
_HANDLERS = frozenset({"WHEN", "END"})
_REPEATS = frozenset({"UNTIL", "END"})

_STARTS = BLOCKS | frozenset("CREATE REPLACE ALTER CALL EXECUTE EXEC DO LET RETURN ASSERT SET PREPARE".split())
"""Words that begin a statement outside any module that the parser is not given as it stands."""


class Blocks(Leading):
    """A walk that knows everything that has statements inside."""

    def script(self, parent: int) -> None:
        """All statements of the text at hand."""
        while not self.done():
            before = self.index
            if self.tokens[before].token_type is SEMICOLON or self.is_terminator(before):
                self.index += 1
            elif parent >= 0 or keyword(self.tokens[before]) in _STARTS or self.label_end() or self.is_walked():
                self.statement(parent)
            else:
                end = self.end()
                tokens = self.tokens[before:end]
                self.pieces.extend(arms(uncontinued(tokens, self.text) if self.family.result_word else tokens))
                self.index = end
            if self.index == before:
                self.emit(before, before + 1, parent)

    def statement(self, parent: int) -> None:
        """One statement with everything inside."""
        word = self.word()
        label = self.label_end()
        if self.tokens[self.index].token_type is SEMICOLON or self.is_terminator(self.index):
            self.index += 1
        elif label:
            self.emit(self.index, label, parent, "LABEL")
        elif word in _BLOCKS and not self.is_plain(parent):
            _BLOCKS[word](self, parent)
        elif word == "DO":
            self.anonymous(parent)
        elif self.module_at():
            self.routine(parent)
        elif self.type_at():
            self.created_type(parent)
        else:
            self.action(parent)

    def is_plain(self, parent: int) -> bool:
        """Whether a word that could open a block is a statement by itself: BEGIN of a transaction, a cursor of SQL."""
        word, following = self.word(), self.word(1)
        if word == "BEGIN":
            return following in self.family.transactions or self.index + 1 >= len(self.tokens)
        if word == "DECLARE" and self.family.equals:
            return parent < 0
        return self.kind(self.index + 1) in (TokenType.COLON_EQ, TokenType.EQ, TokenType.DOT)

    def label_end(self) -> int:
        """The token behind a label, `<<name>>` or `name:`; 0 where there is none."""
        at = self.index
        if self.kind(at) is TokenType.LT and self.kind(at + 1) is TokenType.LT:
            return at + 5
        named = self.kind(at) in (TokenType.VAR, TokenType.IDENTIFIER) and self.word() not in BLOCKS
        if named and self.kind(at + 1) is TokenType.COLON and not self.family.marked:  # there, it marks a variable
            return at + 2
        return 0

    def body(self, ordinal: int, stops: frozenset[str]) -> None:
        """The statements inside, up to one of the words that end them."""
        while not self.done() and self.word() not in stops:
            before = self.index
            self.statement(ordinal)
            if self.index == before:
                self.emit(before, before + 1, ordinal)

    def finish(self, ordinal: int) -> None:
        """Go behind END, what it ends and its label, and let the piece reach to there."""
        if not self.done() and self.word() == "END":
            end = self.end()
            self.index = end if end - self.index <= 5 else self.index + 1
        self.close(ordinal)

    def block(self, parent: int) -> None:
        """BEGIN … END, or DECLARE … BEGIN … END, with handlers."""
        ordinal = self.emit(self.index, self.index + 1, parent, "BEGIN")
        if self.words[self.index - 1] == "DECLARE":
            self.section(ordinal)
        self.rest(ordinal)

    def rest(self, ordinal: int) -> None:
        """What stands behind the BEGIN of a block, up to its END."""
        while self.word() in ("NOT", "ATOMIC"):
            self.index += 1
        self.body(ordinal, _BLOCK_ENDS)
        if self.word() == "EXCEPTION":
            self.index += 1
            self.arms(ordinal, "HANDLER", _HANDLERS)
        self.finish(ordinal)

    def section(self, ordinal: int) -> None:
        """Declarations up to BEGIN, and that word."""
        while not self.done() and self.word() not in ("BEGIN", "END"):
            if self.tokens[self.index].token_type is SEMICOLON:
                self.index += 1
            elif self.word() in ("PROCEDURE", "FUNCTION") or self.is_member():
                self.routine(ordinal)
            elif self.word() in ("TYPE", "SUBTYPE", "PRAGMA"):
                self.type(ordinal)
            elif self.word() in ("DECLARE", "BEFORE", "AFTER", "INSTEAD", "CREATE"):
                self.statement(ordinal) if self.word() == "CREATE" else self.timing(ordinal)
            else:
                begin = self.index
                self.declaration(begin, begin, self.end(), ordinal)
        if self.word() == "BEGIN":
            self.index += 1

    def is_member(self) -> bool:
        """Whether a method of a type stands here."""
        return self.word() in MEMBERS and self.find(("PROCEDURE", "FUNCTION"), self.index, self.index + 5) < (
            self.index + 5
        )

    def timing(self, ordinal: int) -> None:
        """A section of a compound trigger: its time, IS, and a block. A second DECLARE is only skipped."""
        if self.word() == "DECLARE":
            self.index += 1
            return
        at = self.find(("IS",), self.index)
        inner = self.emit(self.index, at + 1, ordinal, "BEGIN")
        self.section(inner)
        self.rest(inner)

    def branch(self, parent: int) -> None:
        """IF: its condition, what it guards, and the other arms."""
        ordinal = self.guard(parent, "IF")
        self.body(ordinal, _ARMS)
        while self.word() in ("ELSIF", "ELSEIF", "ELSE"):
            word = self.word()
            arm = self.emit(self.index, self.index + 1, ordinal, word) if word == "ELSE" else self.guard(ordinal, word)
            self.body(arm, _ARMS)
            self.close(arm)
        self.finish(ordinal)

    def guard(self, parent: int, kind: str) -> int:
        """A condition up to its THEN."""
        begin = self.index
        return self.condition(begin, self.then(begin + 1), parent, kind)

    def then(self, index: int) -> int:
        """The THEN of a condition, behind those of the CASE expressions in it."""
        cases = 0
        while index < len(self.tokens) and self.tokens[index].token_type is not SEMICOLON:
            word = self.words[index]
            cases += (word == "CASE") - (word == "END")
            if word == "THEN" and cases == 0:
                return index
            index += 1
        return index

    def case(self, parent: int) -> None:
        """CASE as a statement: an arm for each WHEN."""
        ordinal = self.emit(self.index, self.find(("WHEN",), self.index + 1), parent, "CASE")
        self.arms(ordinal, "WHEN", _CASES)
        self.finish(ordinal)

    def arms(self, ordinal: int, kind: str, stops: frozenset[str]) -> None:
        """The arms of a CASE or of an exception handler."""
        while self.word() in ("WHEN", "ELSE"):
            word = self.word()
            arm = self.emit(self.index, self.index + 1, ordinal, word) if word == "ELSE" else self.guard(ordinal, kind)
            self.body(arm, stops)
            self.close(arm)

    def loop(self, parent: int) -> None:
        """LOOP, WHILE and REPEAT."""
        begin, word = self.index, self.word()
        at = begin if word in ("LOOP", "REPEAT") else self.find(tuple(LOOPS[word].split()), begin + 1)
        ordinal = self.condition(begin, at, parent, word)
        self.body(ordinal, _REPEATS)
        if self.word() == "UNTIL":
            self.index = self.find(("END",), self.index)
        self.finish(ordinal)

    def each(self, parent: int) -> None:
        """FOR over numbers, an array, a query or a cursor."""
        begin = self.index
        at = self.find(("LOOP", "DO"), begin + 1)
        into = self.find(("IN", "AS"), begin + 1, at)
        ordinal = self.header(begin, into, at, parent)
        self.body(ordinal, _ENDS)
        self.finish(ordinal)

    def header(self, begin: int, into: int, at: int, parent: int) -> int:
        """The head of a FOR: its variables are new in the loop, and get what it goes over."""
        kind, stop = self.words[begin], min(at + 1, len(self.tokens))
        if into == at:  # FOR SELECT … DO: without a name
            return self.keep(begin, stop, parent, self.tokens[begin + 1 : at], Use("condition", kind))
        names = tuple(self.fold(token) for token in self.tokens[begin + 1 : into : 2])
        first = into + 1
        while self.words[first] == "REVERSE" or (self.words[first] == "ARRAY" and kind == "FOREACH"):
            first += 1
        inner = first + 1 if self.kind(first) is OPEN else first
        if self.words[inner] in QUERIES:
            self.records.update(names)
            return self.keep(begin, stop, parent, self.query(into, first, at), Use("row", kind, names, declares=True))
        if self.words[first] == "EXECUTE":
            self.records.update(names)
            text = first + (2 if self.words[first + 1] == "IMMEDIATE" else 1)
            run = Run(tuple(self.tokens[text : self.find(("USING",), text, at)]), into=names, row=True)
            return self.run(begin, stop, parent, kind, run)
        if self.is_range(first, at):
            return self.emit(begin, stop, parent, kind, undefined(names))
        if kind == "FOREACH":
            return self.keep(begin, stop, parent, self.query(into, first, at), Use("assign", kind, names))
        self.records.update(names)
        given = self.given(first + 1, at)
        parts = from_record(self.variable(first), names, row=True, declares=True, given=given)
        return self.emit(begin, stop, parent, kind, parts)

    def is_range(self, first: int, at: int) -> bool:
        """Whether numbers are counted: `1..n`, `1 TO n`."""
        dots = any(
            self.kind(index) is TokenType.DOT
            and (self.tokens[index - 1].text.endswith(".") or self.kind(index - 1) is TokenType.DOT)
            for index in range(first, at)
        )
        return dots or "TO" in self.words[first:at]

    def all(self, parent: int) -> None:
        """FORALL: one statement for each element."""
        begin = self.index
        at = self.find(("INSERT", "UPDATE", "DELETE", "MERGE", "EXECUTE"), begin + 1)
        ordinal = self.emit(begin, at, parent, "FOR", undefined((self.fold(self.tokens[begin + 1]),)))
        if not self.done():
            self.statement(ordinal)
        self.close(ordinal)

    def declare(self, parent: int) -> None:
        """DECLARE: a section before a block, a handler, or variables."""
        if self.family.sections:
            self.block(parent)
            return
        begin, end = self.index, self.end()
        words = self.words[begin : begin + 4]
        if "HANDLER" in words:
            self.handler(begin, parent)
        elif "CONDITION" in words:
            self.emit(begin, end, parent, "DECLARE")
        else:
            first = begin + 1
            while self.words[first] in ("OR", "REPLACE", "VARIABLE", "VAR"):
                first += 1
            self.declaration(begin, first, end, parent)

    def handler(self, begin: int, parent: int) -> None:
        """DECLARE … HANDLER FOR conditions, and the statement that it runs."""
        at = self.find(("FOR",), begin) + 1
        while at < len(self.tokens):
            at += {"NOT": 2, "SQLSTATE": 3 if self.words[at + 1] == "VALUE" else 2}.get(self.words[at], 1)
            if self.kind(at) is not TokenType.COMMA:
                break
            at += 1
        ordinal = self.emit(begin, at, parent, "HANDLER")
        if not self.done():
            self.statement(ordinal)
        self.close(ordinal)


_BLOCKS: dict[str, Callable[[Blocks, int], None]] = {
    "BEGIN": Blocks.block,
    "CASE": Blocks.case,
    "DECLARE": Blocks.declare,
    "FOR": Blocks.each,
    "FORALL": Blocks.all,
    "FOREACH": Blocks.each,
    "IF": Blocks.branch,
    "LOOP": Blocks.loop,
    "REPEAT": Blocks.loop,
    "WHILE": Blocks.loop,
}
"""What has statements inside, by its first word."""
