"""Assignments: which variables a statement puts values into, and the query that gives the values."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.pieces import Use
from lineage_pipeline.engine.compile.walker import OPEN, Walker
from lineage_pipeline.engine.compile.words import is_name
from lineage_pipeline.vocabulary import ir

QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
"""Words that begin a query."""


def copied(record: str, to: str) -> tuple[tuple[str, object], ...]:
    """All columns of a record, put into another one."""
    everything = ir.Select((ir.Source(record, record=record),), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    return ("relations", (everything,)), ("assigns", (ir.Assignment((to,), 0, True),))


class Assignments(Walker):
    """A walk that knows variables and how they get values."""

    def is_assignment(self, begin: int, end: int) -> bool:
        """Whether `name := value` stands here, or `name = value` where that assigns."""
        if not (is_name(self.tokens, begin) or self.kind(begin) is TokenType.COLON):
            return False
        at = self.target_end(begin)
        kind = self.kind(at) if at < end else None
        return kind is TokenType.COLON_EQ or (kind is TokenType.EQ and self.family.equals and self.word() != "SET")

    def fills_variables(self) -> bool:
        """Whether a query outside any module puts its columns into variables of the session."""
        if not self.family.variable_first or self.word() not in ("SELECT", "WITH"):
            return False
        at, end = self.find(("INTO",), self.index, self.end()), self.end()
        return at + 1 < end and self.kind(at + 1) is TokenType.PARAMETER

    def target_end(self, index: int) -> int:
        """The token behind a variable: a dotted name, its subscripts and members."""
        if self.kind(index) in (TokenType.COLON, TokenType.PARAMETER):
            index += 1
        index += 1
        while index < len(self.tokens):
            kind = self.tokens[index].token_type
            if kind is TokenType.DOT:
                index += 2
            elif kind in (TokenType.L_PAREN, TokenType.L_BRACKET):
                index = self.behind(index)
            else:
                break
        return index

    def variable(self, index: int) -> str:
        """The variable that a target names; members and subscripts count as the whole."""
        is_marked = self.kind(index) is TokenType.PARAMETER
        index += is_marked or self.kind(index) is TokenType.COLON
        if index >= len(self.tokens):
            return ""  # the statement breaks off
        return "@" + self.tokens[index].text.lower() if is_marked else self.fold(self.tokens[index])

    def target(self, index: int) -> str:
        """The variable that a target names, with the field where that is one of a record."""
        variable, last = self.variable(index), self.target_end(index) - 1
        field = variable in self.records and self.kind(last - 1) is TokenType.DOT and last - 1 > index
        return f"{variable}.{self.fold(self.tokens[last])}" if field else variable

    def targets(self, index: int, end: int) -> tuple[tuple[str, ...], int]:
        """The variables of a list behind INTO, and the token behind it."""
        names = []
        if self.words[index] == "STRICT":
            index += 1
        while index < end:
            names.append(self.target(index))
            index = self.target_end(index)
            if self.kind(index) is not TokenType.COMMA or index >= end:
                break
            index += 1
        return tuple(names), index

    def is_row(self, variables: Sequence[str]) -> bool:
        """Whether the one target of several columns is a record."""
        return len(variables) == 1 and variables[0] in self.records

    def value(self, at: int, begin: int, end: int) -> list[Token]:
        """The query that gives the value of an expression; `at` is a word that a SELECT can stand in for."""
        return [self.select(at), *self.tokens[begin:end]]

    def assignment(self, begin: int, end: int, parent: int) -> None:
        """`v := x`; into a field of a trigger's new row it writes to the table that the trigger watches."""
        at = self.target_end(begin)
        self.assign("SET", begin, (at, at + 1, end), parent)

    def assign(self, kind: str, begin: int, value: tuple[int, int, int], parent: int) -> None:
        """A value, at the given word, from and to the given tokens, put into the variable at `begin`."""
        at, first, end = value
        variable = self.variable(begin)
        fields = self.row_fields(begin, at)
        if fields:
            use = Use("write", kind, columns=fields, target=self.module.watched)
        else:
            target = self.target(begin)
            row = variable in self.records and target == variable
            if row and first + 1 == end and self.variable(first) in self.records:
                self.emit(self.index, end, parent, kind, copied(self.variable(first), target))
                return
            role = "row" if self.is_query(first, end) else "record row"
            use = Use(role if row else "assign", kind, (target,))
        start = self.index
        self.keep(start, end, parent, self.query(at, first, end), use)

    def is_query(self, begin: int, end: int) -> bool:
        """Whether a value is a query, perhaps in brackets."""
        while begin < end and self.kind(begin) is OPEN:
            begin += 1
        return begin < end and self.words[begin] in QUERIES

    def row_fields(self, begin: int, end: int) -> tuple[str, ...]:
        """The columns of a trigger's new row that a list of targets names."""
        fields = []
        while self.module.watched is not None and begin < end:
            first = begin + (self.kind(begin) is TokenType.COLON)
            behind = self.target_end(begin)
            new = self.variable(begin).upper() in (self.family.rows[0], self.module.row.upper())
            if new and self.kind(first + 1) is TokenType.DOT:
                fields.append(self.fold(self.tokens[first + 2]))
            begin = behind + 1 if self.kind(behind) is TokenType.COMMA else end
        return tuple(fields)

    def query(self, at: int, begin: int, end: int) -> list[Token]:
        """The tokens of a value: a query in brackets as it is, anything else behind a SELECT."""
        inner = begin
        while self.kind(inner) is OPEN and self.behind(inner) == end - (inner - begin):
            inner += 1
        if inner > begin and self.words[inner] in QUERIES:
            return list(self.tokens[inner : end - (inner - begin)])
        return list(self.tokens[begin:end]) if self.words[begin] in QUERIES else self.value(at, begin, end)

    def set(self, begin: int, end: int, parent: int) -> None:
        """`SET a = x, b = y` assigns; SET of an option is none of our business."""
        first = begin + (2 if self.words[begin + 1] in ("VAR", "VARIABLE", "SESSION", "LOCAL") else 1)
        named = first > begin + 1 or self.kind(first) is TokenType.PARAMETER
        if self.family.sections or (parent < 0 and not self.family.scripts and not named):
            self.emit(begin, end, parent)
        elif self.kind(first) is OPEN:
            behind = self.behind(first)
            names = tuple(
                self.fold(token)
                for token in self.tokens[first + 1 : behind - 1]
                if token.token_type is not TokenType.COMMA
            )
            self.keep(begin, end, parent, self.query(behind, behind + 1, end), Use("assign", "SET", names))
        else:
            self.set_list(first, end, parent)

    def set_list(self, first: int, end: int, parent: int) -> None:
        """Each of several assignments behind one SET is a statement of its own, so that each has its place."""
        begin = self.index
        at = self.target_end(first)
        doubled = self.kind(first) is TokenType.PARAMETER and self.kind(first + 1) is TokenType.PARAMETER
        if doubled or self.kind(at) not in (TokenType.EQ, TokenType.COLON_EQ):
            self.emit(begin, end, parent, "SET")
            return
        while first < end:
            at = self.target_end(first)
            stop = self.comma(at, end)
            self.assign("SET", first, (at, at + 1, stop), parent)
            self.index = first = stop + 1
        self.index = end

    def comma(self, begin: int, end: int) -> int:
        """The next comma outside brackets, or the end."""
        depth = 0
        for index in range(begin, end):
            kind = self.tokens[index].token_type
            depth += (kind in (OPEN, TokenType.L_BRACKET)) - (kind in (TokenType.R_PAREN, TokenType.R_BRACKET))
            if depth == 0 and kind is TokenType.COMMA:
                return index
        return end
