"""Declarations of variables and cursors, what is done with cursors, conditions, and queries that nobody takes."""

import msgspec
from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.assignments import QUERIES, Assignments
from lineage_pipeline.engine.compile.pieces import Piece, Use
from lineage_pipeline.engine.compile.walker import OPEN
from lineage_pipeline.engine.compile.words import dotted_name, is_name, keyword
from lineage_pipeline.vocabulary import ir

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_METHODS = frozenset("COUNT FIRST LAST LIMIT EXTEND DELETE TRIM EXISTS NEXT PRIOR".split())
"""What stands behind the dot of a collection, and is no field."""

EVERYTHING = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)


def undefined(variables: tuple[str, ...], *, row: bool = False) -> tuple[tuple[str, object], ...]:
    """A declaration without a value."""
    return (("assigns", (ir.Assignment(variables, ir.NOWHERE, row, declares=True),)),)


def from_record(
    record: str, variables: tuple[str, ...], *, row: bool, declares: bool = False, given: ir.Expr | None = None
) -> tuple[tuple[str, object], ...]:
    """The columns of a record or cursor, put into variables; what a cursor is given decides about its rows."""
    everything = ir.Select((ir.Source(record, record=record),), EVERYTHING, given)
    return ("relations", (everything,)), ("assigns", (ir.Assignment(variables, 0, row, declares),))


def _filled(piece: Piece) -> tuple[str, ...]:
    """The variables that a statement gives a value."""
    if piece.use is not None:
        return piece.use.variables
    assigned = (item for name, items in piece.parts if name == "assigns" for item in items)
    known = tuple(name for item in assigned if item.relation != ir.NOWHERE for name in item.variables)
    return (*known, *(piece.run.into if piece.run is not None else ()))


class Declarations(Assignments):
    """A walk that knows declarations and cursors."""

    def let(self, begin: int, end: int, parent: int) -> None:
        """LET declares a variable, a cursor or a result set, with a value."""
        self.declaration(begin, begin + 1, end, parent, "LET")

    def declaration(self, begin: int, name_at: int, end: int, parent: int, kind: str = "DECLARE") -> None:
        """One or more variables or a cursor: their names, a type, a value or a query."""
        cursor = next((at for at in range(name_at, min(name_at + 4, end)) if self.words[at] == "CURSOR"), -1)
        if cursor >= 0:
            self.cursor(begin, cursor, end, parent)
            return
        if name_at >= end:  # the statement breaks off: the parser says so
            self.emit(begin, end, parent)
            return
        names, behind = [self.fold(self.tokens[name_at])], name_at + 1
        while self.kind(behind) is TokenType.COMMA and behind + 1 < end:
            names.append(self.fold(self.tokens[behind + 1]))
            behind += 2
        at = behind
        while at < end and self.kind(at) not in (TokenType.COLON_EQ, TokenType.EQ) and self.words[at] != "DEFAULT":
            at = self.behind(at) if self.kind(at) is OPEN else at + 1
        words = self.words[behind:at]
        row = "RESULTSET" in words or self.is_row_type(behind, at) or self.is_used_as_row(names, behind)
        if row:
            self.records.update(names)
        if at + 1 < end:
            use = Use("row" if row else "assign", kind, tuple(names), declares=True)
            self.keep(begin, end, parent, self.query(at, at + 1, end), use)
        else:
            self.emit(begin, end, parent, kind, undefined(tuple(names), row=row))

    def record_insert(self, begin: int, record: str, end: int, parent: int) -> None:
        """INSERT INTO t VALUES record: its fields in their order."""
        target = dotted_name(self.tokens, begin + 2, begin, self.traits)[0]
        everything = ir.Select((ir.Source("", record=record),), EVERYTHING)
        writes = (ir.Write(target, 0, "insert", None),)
        self.emit(begin, end, parent, "INSERT", (("relations", (everything,)), ("writes", writes)))

    def row_set(self, begin: int, end: int) -> str:
        """The record that takes the place of whole rows, `UPDATE t SET ROW = record`."""
        at = self.find(("SET",), begin + 1, end) if self.records and self.words[begin] == "UPDATE" else end
        record = self.variable(at + 3) if self.words[at + 1 : at + 3] == ["ROW", "="] and at + 3 < end else ""
        return record if record in self.records else ""

    def is_row_type(self, begin: int, end: int) -> bool:
        """Whether what stands here is a type of rows, or of collections of rows."""
        words = self.words[begin:end]
        if "RECORD" in words or "ROWTYPE" in words:
            return True
        return bool(self.row_types) and any(self.fold(token) in self.row_types for token in self.tokens[begin:end])

    def is_used_as_row(self, names: list[str], kind: int) -> bool:
        """Whether a variable of a type that is none of the language's own has fields."""
        if not self.family.sections or self.family.marked or self.kind(kind) not in _NAMES or len(names) > 1:
            return False
        if not self._fielded:
            self._fielded = frozenset(
                self.fold(self.tokens[at - 1])
                for at in range(1, len(self.tokens) - 1)
                if self.kind(at) is TokenType.DOT
                and self.kind(at - 2) is not TokenType.DOT
                and self.kind(at + 2) is not OPEN
                and self.words[at + 1] not in _METHODS
            ) or frozenset({""})
        return names[0] in self._fielded

    def cursor(self, begin: int, word: int, end: int, parent: int) -> None:
        """A cursor over a query, or over a prepared one that is known when it is opened."""
        is_before = word == begin and word + 1 < len(self.tokens)
        name = self.tokens[word + 1] if is_before else self.tokens[word - 1]
        if self.words[word - 1] in ("SCROLL", "INSENSITIVE", "ASENSITIVE"):
            name = self.tokens[word - 2 if self.words[word - 2] != "NO" else word - 3]
        variable = self.fold(name)
        self.records.add(variable)
        at = self.find(("FOR", "IS", "AS"), word + 1, end)
        if at + 1 < end and (self.words[at + 1] in QUERIES or self.kind(at + 1) is OPEN):
            given = word + (2 if word == begin else 1)
            brackets = self.kind(given) is OPEN
            names = self.parameter_names(given + 1, self.behind(given) - 1) if brackets else ()
            use = Use("row", "DECLARE", (variable,), names, declares=True)
            self.keep(begin, end, parent, self.query(at, at + 1, end), use)
        elif self.family.marked and at + 2 == end:
            parts = from_record(self.variable(at + 1), (variable,), row=True, declares=True)
            self.emit(begin, end, parent, "DECLARE", parts)
        else:
            self.emit(begin, end, parent, "DECLARE", undefined((variable,), row=True))

    def opened(self, cursor: str, begin: int, end: int) -> tuple[tuple[str, object], ...]:
        """A cursor whose rows hang on what it is opened with; nothing where it is opened with nothing."""
        given = self.given(begin, end)
        return from_record(cursor, (cursor,), row=True, given=given) if given is not None else ()

    def hands_back(self, cursor: str) -> bool:
        """Whether all queries are known that a cursor gets which is returned: they are results of the module then."""
        filled = [at for at in range(self.first, len(self.pieces)) if cursor in _filled(self.pieces[at])]
        uses = [use for at in filled if (use := self.cursor_use(self.pieces[at])) is not None]
        if len(uses) < len(filled):
            return False
        for at, use in zip(filled, uses, strict=True):
            given = msgspec.structs.replace(use, role="result row", columns=self.module.columns)
            self.pieces[at] = msgspec.structs.replace(self.pieces[at], use=given)
        return bool(filled)

    def cursor_use(self, piece: Piece) -> Use | None:
        """The use of a query that a cursor or a result set gets: no field of such a thing changes later on."""
        use = piece.use
        if use is None or use.role != "row" or use.columns or keyword(piece.tokens[0]) not in QUERIES:
            return None
        fixed = use.kind == "OPEN" or (self.family.marked and use.kind in ("DECLARE", "LET", "SET"))
        return use if fixed else None

    def given(self, begin: int, end: int) -> ir.Expr | None:
        """The variables that a cursor is opened with, as one condition."""
        origin = int(self.tokens[self.index].start)
        places = [
            at
            for at in range(begin, end)
            if self.kind(at) in _NAMES and self.kind(at + 1) not in (OPEN, TokenType.DOT, TokenType.FARROW)
        ]
        found = [(self.tokens[at], int(self.tokens[at].start) - origin) for at in places]
        names = [ir.Variable(self.fold(token), start, start + len(token.text)) for token, start in found]
        return ir.Call("OPEN", tuple(names)) if names else None

    def parameter_names(self, begin: int, end: int) -> tuple[str, ...]:
        """The parameters of a cursor."""
        names = []
        while begin < end:
            names.append(self.fold(self.tokens[begin]))
            begin = self.comma(begin, end) + 1
        return tuple(names)

    def fetch(self, begin: int, end: int, parent: int) -> None:
        """FETCH puts the columns of a cursor into variables, by position."""
        into = self.find(("INTO", "BULK COLLECT INTO"), begin, end)
        if into == end or into == begin + 1:
            self.emit(begin, end, parent, "FETCH")
            return
        record = self.variable(into - 1)
        variables, _ = self.targets(into + 1, end)
        parts = from_record(record, variables, row=self.is_row(variables))
        self.emit(begin, end, parent, "FETCH", parts)

    def condition(self, begin: int, then: int, parent: int, kind: str) -> int:
        """A condition behind a word; one with a query in it says what is read."""
        if "SELECT" in self.words[begin:then]:
            stop = min(then + 1, len(self.tokens))
            return self.keep(begin, stop, parent, self.value(begin, begin + 1, then), Use("condition", kind))
        return self.emit(begin, min(then + 1, len(self.tokens)), parent, kind)

    def performing(self, begin: int, end: int, parent: int) -> None:
        """PERFORM: a query whose result nobody takes; most call a function."""
        called, behind = None, begin + 1
        if is_name(self.tokens, begin + 1):
            called, behind = dotted_name(self.tokens, begin + 1, begin, self.traits)
        target = called if self.kind(behind) is OPEN else None
        self.keep(begin, end, parent, self.value(begin, begin + 1, end), Use("discard", "PERFORM", target=target))
