"""Splits procedural languages with semicolons: blocks, branches, loops, handlers and DECLARE sections."""

from collections.abc import Callable

from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.procedural_languages import BLOCK_STARTS, LOOP_BODIES, METHOD_MODIFIERS
from lineage_pipeline.engine.compile.split.procedural_tokens import strip_line_continuations
from lineage_pipeline.engine.compile.split.raw_statements import DynamicExecution, StatementRole, split_multi_insert
from lineage_pipeline.engine.compile.split.routines import InlineFunctionWalker
from lineage_pipeline.engine.compile.split.variables import QUERY_KEYWORDS, assign_record, declare_without_value
from lineage_pipeline.engine.compile.split.walker import OPEN_PAREN, SEMICOLON
from lineage_pipeline.engine.compile.tokens import keyword

_LOOP_ENDS = frozenset({"END"})
_BLOCK_ENDS = frozenset({"END", "EXCEPTION"})
_IF_ENDS = frozenset({"ELSIF", "ELSEIF", "ELSE", "END"})
_CASE_ENDS = frozenset({"WHEN", "ELSE", "END"})
_HANDLER_ENDS = frozenset({"WHEN", "END"})
_REPEAT_ENDS = frozenset({"UNTIL", "END"})

WALKED_KEYWORDS = BLOCK_STARTS | frozenset(
    "CREATE REPLACE ALTER CALL EXECUTE EXEC DO LET RETURN ASSERT SET PREPARE".split()
)
"""Keywords that begin a statement which the walker reads before the parser, outside routines."""


class BlockWalker(InlineFunctionWalker):
    """Walks over a script and everything that has statements inside."""

    def walk_script(self, parent: int) -> None:
        """All statements of the tokens."""
        while not self.done():
            before = self.index
            if self.tokens[before].token_type is SEMICOLON or self.is_terminator(before):
                self.index += 1
            elif (
                parent >= 0 or keyword(self.tokens[before]) in WALKED_KEYWORDS or self.label_end() or self.needs_walk()
            ):
                self.walk_statement(parent)
            else:
                end = self.end()
                tokens = self.tokens[before:end]
                self.pieces.extend(
                    split_multi_insert(strip_line_continuations(tokens, self.text) if self.family.plsql else tokens)
                )
                self.index = end
            if self.index == before:
                self.emit(before, before + 1, parent)

    def walk_statement(self, parent: int) -> None:
        """One statement with everything inside."""
        word = self.word()
        label = self.label_end()
        if self.tokens[self.index].token_type is SEMICOLON or self.is_terminator(self.index):
            self.index += 1
        elif label:
            self.emit(self.index, label, parent, "LABEL")
        elif word in _BLOCK_STATEMENTS and not self.is_plain(parent):
            _BLOCK_STATEMENTS[word](self, parent)
        elif word == "DO":
            self.walk_do(parent)
        elif self.find_routine_kind():
            self.walk_routine(parent)
        elif self.find_create_type():
            self.walk_create_type(parent)
        else:
            self.walk_simple(parent)

    def is_plain(self, parent: int) -> bool:
        """Whether a keyword that could open a block is a plain statement: BEGIN TRANSACTION, a SQL cursor."""
        word, following = self.word(), self.word(1)
        if word == "BEGIN":
            return following in self.family.transactions or self.index + 1 >= len(self.tokens)
        if word == "DECLARE" and self.family.equals:
            return parent < 0
        return self.kind(self.index + 1) in (TokenType.COLON_EQ, TokenType.EQ, TokenType.DOT)

    def label_end(self) -> int:
        """The index after a label, `<<name>>` or `name:`; 0 if there is none."""
        at = self.index
        if self.kind(at) is TokenType.LT and self.kind(at + 1) is TokenType.LT:
            return at + 5
        named = self.kind(at) in (TokenType.VAR, TokenType.IDENTIFIER) and self.word() not in BLOCK_STARTS
        if named and self.kind(at + 1) is TokenType.COLON and not self.family.marked:  # there, it marks a variable
            return at + 2
        return 0

    def walk_body_until(self, ordinal: int, stops: frozenset[str]) -> None:
        """The statements inside, up to one of the keywords that end them."""
        while not self.done() and self.word() not in stops:
            before = self.index
            self.walk_statement(ordinal)
            if self.index == before:
                self.emit(before, before + 1, ordinal)

    def finish_block(self, ordinal: int) -> None:
        """Move behind END and its label, and extend the block to there."""
        if not self.done() and self.word() == "END":
            end = self.end()
            self.index = end if end - self.index <= 5 else self.index + 1
        self.close(ordinal)

    def walk_block(self, parent: int) -> None:
        """BEGIN … END, or DECLARE … BEGIN … END, with handlers."""
        ordinal = self.emit(self.index, self.index + 1, parent, "BEGIN")
        if self.words[self.index - 1] == "DECLARE":
            self.walk_declare_section(ordinal)
        self.walk_block_rest(ordinal)

    def walk_block_rest(self, ordinal: int) -> None:
        """The statements after the BEGIN of a block, up to its END."""
        while self.word() in ("NOT", "ATOMIC"):
            self.index += 1
        self.walk_body_until(ordinal, _BLOCK_ENDS)
        if self.word() == "EXCEPTION":
            self.index += 1
            self.walk_arms(ordinal, "HANDLER", _HANDLER_ENDS)
        self.finish_block(ordinal)

    def walk_declare_section(self, ordinal: int) -> None:
        """Declarations up to BEGIN, and that keyword."""
        while not self.done() and self.word() not in ("BEGIN", "END"):
            if self.tokens[self.index].token_type is SEMICOLON:
                self.index += 1
            elif self.word() in ("PROCEDURE", "FUNCTION") or self.is_type_method():
                self.walk_routine(ordinal)
            elif self.word() in ("TYPE", "SUBTYPE", "PRAGMA"):
                self.walk_type(ordinal)
            elif self.word() in ("DECLARE", "BEFORE", "AFTER", "INSTEAD", "CREATE"):
                self.walk_statement(ordinal) if self.word() == "CREATE" else self.walk_timing_section(ordinal)
            else:
                begin = self.index
                self.walk_declaration(begin, begin, self.end(), ordinal)
        if self.word() == "BEGIN":
            self.index += 1

    def is_type_method(self) -> bool:
        """Whether a method of a type comes next."""
        return self.word() in METHOD_MODIFIERS and self.find(("PROCEDURE", "FUNCTION"), self.index, self.index + 5) < (
            self.index + 5
        )

    def walk_timing_section(self, ordinal: int) -> None:
        """Oracle: a section of a compound trigger: its time, IS, and a block. A second DECLARE is skipped."""
        if self.word() == "DECLARE":
            self.index += 1
            return
        at = self.find(("IS",), self.index)
        inner = self.emit(self.index, at + 1, ordinal, "BEGIN")
        self.walk_declare_section(inner)
        self.walk_block_rest(inner)

    def walk_if(self, parent: int) -> None:
        """IF: its condition, the guarded statements, and the other arms."""
        ordinal = self.walk_guard(parent, "IF")
        self.walk_body_until(ordinal, _IF_ENDS)
        while self.word() in ("ELSIF", "ELSEIF", "ELSE"):
            word = self.word()
            arm = (
                self.emit(self.index, self.index + 1, ordinal, word)
                if word == "ELSE"
                else self.walk_guard(ordinal, word)
            )
            self.walk_body_until(arm, _IF_ENDS)
            self.close(arm)
        self.finish_block(ordinal)

    def walk_guard(self, parent: int, kind: str) -> int:
        """A condition up to its THEN."""
        begin = self.index
        return self.walk_condition(begin, self.find_then(begin + 1), parent, kind)

    def find_then(self, index: int) -> int:
        """The THEN of a condition, after those of CASE expressions in it."""
        cases = 0
        while index < len(self.tokens) and self.tokens[index].token_type is not SEMICOLON:
            word = self.words[index]
            cases += (word == "CASE") - (word == "END")
            if word == "THEN" and cases == 0:
                return index
            index += 1
        return index

    def walk_case(self, parent: int) -> None:
        """CASE as a statement: an arm for each WHEN."""
        ordinal = self.emit(self.index, self.find(("WHEN",), self.index + 1), parent, "CASE")
        self.walk_arms(ordinal, "WHEN", _CASE_ENDS)
        self.finish_block(ordinal)

    def walk_arms(self, ordinal: int, kind: str, stops: frozenset[str]) -> None:
        """The arms of a CASE or of an exception handler."""
        while self.word() in ("WHEN", "ELSE"):
            word = self.word()
            arm = (
                self.emit(self.index, self.index + 1, ordinal, word)
                if word == "ELSE"
                else self.walk_guard(ordinal, kind)
            )
            self.walk_body_until(arm, stops)
            self.close(arm)

    def walk_loop(self, parent: int) -> None:
        """LOOP, WHILE and REPEAT."""
        begin, word = self.index, self.word()
        at = begin if word in ("LOOP", "REPEAT") else self.find(tuple(LOOP_BODIES[word].split()), begin + 1)
        ordinal = self.walk_condition(begin, at, parent, word)
        self.walk_body_until(ordinal, _REPEAT_ENDS)
        if self.word() == "UNTIL":
            end = self.find(("END",), self.index)
            self.walk_condition(self.index, end, ordinal, "UNTIL")
            self.index = end
        self.finish_block(ordinal)

    def walk_for(self, parent: int) -> None:
        """FOR over numbers, an array, a query or a cursor."""
        begin = self.index
        at = self.find(("LOOP", "DO"), begin + 1)
        into = self.find(("IN", "AS"), begin + 1, at)
        ordinal = self.walk_for_header(begin, into, at, parent)
        self.walk_body_until(ordinal, _LOOP_ENDS)
        self.finish_block(ordinal)

    def walk_for_header(self, begin: int, into: int, at: int, parent: int) -> int:
        """The head of a FOR: its variables are new in the loop, and take what it iterates over."""
        kind, stop = self.words[begin], min(at + 1, len(self.tokens))
        if into == at:  # FOR SELECT … DO: without a name
            return self.emit_rewritten(
                begin, stop, parent, self.tokens[begin + 1 : at], StatementRole("condition", kind)
            )
        names = tuple(self.fold(token) for token in self.tokens[begin + 1 : into : 2])
        first = into + 1
        if "CURSOR" in self.words[first : first + 4]:  # FOR row AS cursor CURSOR FOR SELECT …
            first = self.find(("FOR",), first, at) + 1
        while self.words[first] == "REVERSE" or (self.words[first] == "ARRAY" and kind == "FOREACH"):
            first += 1
        inner = first + 1 if self.kind(first) is OPEN_PAREN else first
        if self.words[inner] in QUERY_KEYWORDS:
            self.records.update(names)
            return self.emit_rewritten(
                begin, stop, parent, self.build_query(into, first, at), StatementRole("row", kind, names, declares=True)
            )
        if self.words[first] == "EXECUTE":
            self.records.update(names)
            text = first + (2 if self.words[first + 1] == "IMMEDIATE" else 1)
            run = DynamicExecution(tuple(self.tokens[text : self.find(("USING",), text, at)]), into=names, row=True)
            return self.emit_execution(begin, stop, parent, kind, run)
        if self.is_range(first, at):
            return self.emit(begin, stop, parent, kind, declare_without_value(names))
        if kind == "FOREACH":
            return self.emit_rewritten(
                begin, stop, parent, self.build_query(into, first, at), StatementRole("assign", kind, names)
            )
        self.records.update(names)
        given = self.cursor_arguments(first + 1, at)
        parts = assign_record(self.read_variable(first), names, row=True, declares=True, given=given)
        return self.emit(begin, stop, parent, kind, parts)

    def is_range(self, first: int, at: int) -> bool:
        """Whether numbers are counted: `1..n`, `1 TO n`."""
        dots = any(
            self.kind(index) is TokenType.DOT
            and (self.tokens[index - 1].text.endswith(".") or self.kind(index - 1) is TokenType.DOT)
            for index in range(first, at)
        )
        return dots or "TO" in self.words[first:at]

    def walk_forall(self, parent: int) -> None:
        """PL/SQL: FORALL runs one statement for each element."""
        begin = self.index
        at = self.find(("INSERT", "UPDATE", "DELETE", "MERGE", "EXECUTE"), begin + 1)
        if begin + 1 >= len(self.tokens):  # the statement breaks off
            self.emit(begin, begin + 1, parent)
            return
        ordinal = self.emit(begin, at, parent, "FOR", declare_without_value((self.fold(self.tokens[begin + 1]),)))
        if not self.done():
            self.walk_statement(ordinal)
        self.close(ordinal)

    def walk_declare(self, parent: int) -> None:
        """DECLARE: a section before a block, a handler, or variables."""
        if self.family.sections:
            self.walk_block(parent)
            return
        begin, end = self.index, self.end()
        words = self.words[begin : begin + 4]
        if "HANDLER" in words:
            self.walk_handler(begin, parent)
        elif "CONDITION" in words:
            self.emit(begin, end, parent, "DECLARE")
        else:
            first = begin + 1
            while self.words[first] in ("OR", "REPLACE", "VARIABLE", "VAR"):
                first += 1
            self.walk_declaration(begin, first, end, parent)

    def walk_handler(self, begin: int, parent: int) -> None:
        """DECLARE … HANDLER FOR conditions, and the statement that it runs."""
        at = self.find(("FOR",), begin) + 1
        while at < len(self.tokens):
            at += {"NOT": 2, "SQLSTATE": 3 if self.words[at + 1] == "VALUE" else 2}.get(self.words[at], 1)
            if self.kind(at) is not TokenType.COMMA:
                break
            at += 1
        ordinal = self.emit(begin, at, parent, "HANDLER")
        if not self.done():
            self.walk_statement(ordinal)
        self.close(ordinal)


_BLOCK_STATEMENTS: dict[str, Callable[[BlockWalker, int], None]] = {
    "BEGIN": BlockWalker.walk_block,
    "CASE": BlockWalker.walk_case,
    "DECLARE": BlockWalker.walk_declare,
    "FOR": BlockWalker.walk_for,
    "FORALL": BlockWalker.walk_forall,
    "FOREACH": BlockWalker.walk_for,
    "IF": BlockWalker.walk_if,
    "LOOP": BlockWalker.walk_loop,
    "REPEAT": BlockWalker.walk_loop,
    "WHILE": BlockWalker.walk_loop,
}
"""What has statements inside, by its first keyword."""
