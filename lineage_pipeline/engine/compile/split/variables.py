"""Variables of procedural languages: assignments, declarations, cursors, and the queries that give their values."""

from collections.abc import Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.split.raw_statements import RawStatement, StatementRole
from lineage_pipeline.engine.compile.split.walker import OPEN_PAREN, TokenWalker
from lineage_pipeline.engine.compile.tokens import is_name_at, keyword, read_dotted_name
from lineage_pipeline.model import ir

QUERY_KEYWORDS = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
"""Keywords that begin a query."""


def copy_record(record: str, to: str) -> tuple[tuple[str, object], ...]:
    """The fields of a statement that copies all columns of a record to another one."""
    everything = ir.Select((ir.Source(record, record=record),), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    return ("relations", (everything,)), ("assigns", (ir.Assignment((to,), 0, True),))


class AssignmentWalker(TokenWalker):
    """Walks over assignments to variables."""

    def is_assignment(self, begin: int, end: int) -> bool:
        """Whether `name := value` comes next, or `name = value` where that assigns."""
        if not (is_name_at(self.tokens, begin) or self.kind(begin) is TokenType.COLON):
            return False
        at = self.target_end(begin)
        kind = self.kind(at) if at < end else None
        return kind is TokenType.COLON_EQ or (kind is TokenType.EQ and self.family.equals and self.word() != "SET")

    def fills_variables(self) -> bool:
        """MySQL: whether a query outside routines assigns its columns to session variables with INTO."""
        if not self.family.variable_first or self.word() not in ("SELECT", "WITH"):
            return False
        at, end = self.find(("INTO",), self.index, self.end()), self.end()
        return at + 1 < end and self.kind(at + 1) is TokenType.PARAMETER

    def target_end(self, index: int) -> int:
        """The index after a variable: a dotted name, its subscripts and members."""
        if self.kind(index) in (TokenType.COLON, TokenType.PARAMETER):
            index += 1
        index += 1
        while index < len(self.tokens):
            kind = self.tokens[index].token_type
            if kind is TokenType.DOT:
                index += 2
            elif kind in (TokenType.L_PAREN, TokenType.L_BRACKET):
                index = self.skip_brackets(index)
            else:
                break
        return index

    def read_variable(self, index: int) -> str:
        """The variable of a target; members and subscripts count as the whole."""
        is_marked = self.kind(index) is TokenType.PARAMETER
        index += is_marked or self.kind(index) is TokenType.COLON
        if index >= len(self.tokens):
            return ""  # the statement breaks off
        return "@" + self.tokens[index].text.lower() if is_marked else self.fold(self.tokens[index])

    def read_target(self, index: int) -> str:
        """The variable of a target, with the field if it is one of a record."""
        variable, last = self.read_variable(index), self.target_end(index) - 1
        is_whole = last < len(self.tokens)  # or else the statement breaks off behind a dot
        field = is_whole and variable in self.records and self.kind(last - 1) is TokenType.DOT and last - 1 > index
        return f"{variable}.{self.fold(self.tokens[last])}" if field else variable

    def read_targets(self, index: int, end: int) -> tuple[tuple[str, ...], int]:
        """The variables of a list after INTO, and the index after it."""
        names = []
        if self.words[index] == "STRICT":
            index += 1
        while index < end:
            names.append(self.read_target(index))
            index = self.target_end(index)
            if self.kind(index) is not TokenType.COMMA or index >= end:
                break
            index += 1
        return tuple(names), index

    def is_row(self, variables: Sequence[str]) -> bool:
        """Whether the only target is a record."""
        return len(variables) == 1 and variables[0] in self.records

    def value_query(self, at: int, begin: int, end: int) -> list[Token]:
        """A query that returns an expression; the SELECT replaces the token `at`."""
        return [self.select_token(at), *self.tokens[begin:end]]

    def walk_assignment(self, begin: int, end: int, parent: int) -> None:
        """`v := x`; a field of a trigger's new row writes to the table of the trigger."""
        at = self.target_end(begin)
        self.emit_assignment("SET", begin, (at, at + 1, end), parent)

    def emit_assignment(self, kind: str, begin: int, value: tuple[int, int, int], parent: int) -> None:
        """Emit the assignment of a value, given by three token indexes, to the variable at `begin`."""
        at, first, end = value
        variable = self.read_variable(begin)
        fields = self.trigger_row_fields(begin, at)
        if fields:
            use = StatementRole("write", kind, columns=fields, target=self.module.watched)
        else:
            target = self.read_target(begin)
            row = variable in self.records and target == variable
            if row and first + 1 == end and self.read_variable(first) in self.records:
                self.emit(self.index, end, parent, kind, copy_record(self.read_variable(first), target))
                return
            role = "row" if self.is_query(first, end) else "record row"
            use = StatementRole(role if row else "assign", kind, (target,))
        start = self.index
        self.emit_rewritten(start, end, parent, self.build_query(at, first, end), use)

    def is_query(self, begin: int, end: int) -> bool:
        """Whether a value is a query, perhaps in parentheses."""
        while begin < end and self.kind(begin) is OPEN_PAREN:
            begin += 1
        return begin < end and self.words[begin] in QUERY_KEYWORDS

    def trigger_row_fields(self, begin: int, end: int) -> tuple[str, ...]:
        """The columns of a trigger's new row in a list of targets."""
        fields = []
        while self.module.watched is not None and begin < end:
            first = begin + (self.kind(begin) is TokenType.COLON)
            behind = self.target_end(begin)
            new = self.read_variable(begin).upper() in (self.family.rows[0], self.module.row.upper())
            if new and self.kind(first + 1) is TokenType.DOT:
                fields.append(self.fold(self.tokens[first + 2]))
            begin = behind + 1 if self.kind(behind) is TokenType.COMMA else end
        return tuple(fields)

    def build_query(self, at: int, begin: int, end: int) -> list[Token]:
        """The tokens of a value: a query in parentheses as it is, anything else after a SELECT."""
        inner = begin
        while self.kind(inner) is OPEN_PAREN and self.skip_brackets(inner) == end - (inner - begin):
            inner += 1
        if inner > begin and self.words[inner] in QUERY_KEYWORDS:
            return list(self.tokens[inner : end - (inner - begin)])
        return list(self.tokens[begin:end]) if self.words[begin] in QUERY_KEYWORDS else self.value_query(at, begin, end)

    def walk_set(self, begin: int, end: int, parent: int) -> None:
        """`SET a = x, b = y` assigns; SET of an option does not."""
        first = begin + (2 if self.words[begin + 1] in ("VAR", "VARIABLE", "SESSION", "LOCAL") else 1)
        named = first > begin + 1 or self.kind(first) is TokenType.PARAMETER
        if self.family.sections or (parent < 0 and not self.family.scripts and not named):
            self.emit(begin, end, parent)
        elif self.kind(first) is OPEN_PAREN:
            behind = self.skip_brackets(first)
            names = tuple(
                self.fold(token)
                for token in self.tokens[first + 1 : behind - 1]
                if token.token_type is not TokenType.COMMA
            )
            self.emit_rewritten(
                begin, end, parent, self.build_query(behind, behind + 1, end), StatementRole("assign", "SET", names)
            )
        else:
            self.walk_set_list(first, end, parent)

    def walk_set_list(self, first: int, end: int, parent: int) -> None:
        """Each assignment of one SET is a statement of its own, with its own span."""
        begin = self.index
        at = self.target_end(first)
        doubled = self.kind(first) is TokenType.PARAMETER and self.kind(first + 1) is TokenType.PARAMETER
        if doubled or self.kind(at) not in (TokenType.EQ, TokenType.COLON_EQ):
            self.emit(begin, end, parent, "SET")
            return
        while first < end:
            at = self.target_end(first)
            stop = self.find_comma(at, end)
            self.emit_assignment("SET", first, (at, at + 1, stop), parent)
            self.index = first = stop + 1
        self.index = end

    def find_comma(self, begin: int, end: int) -> int:
        """The next comma outside brackets, or the end."""
        depth = 0
        for index in range(begin, end):
            kind = self.tokens[index].token_type
            depth += (kind in (OPEN_PAREN, TokenType.L_BRACKET)) - (kind in (TokenType.R_PAREN, TokenType.R_BRACKET))
            if depth == 0 and kind is TokenType.COMMA:
                return index
        return end


_NAME_TOKENS = (TokenType.VAR, TokenType.IDENTIFIER)
_COLLECTION_METHODS = frozenset("COUNT FIRST LAST LIMIT EXTEND DELETE TRIM EXISTS NEXT PRIOR".split())
"""PL/SQL: methods after the dot of a collection, which are not fields."""

ALL_COLUMNS = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)


def declare_without_value(variables: tuple[str, ...], *, row: bool = False) -> tuple[tuple[str, object], ...]:
    """The fields of a declaration without a value."""
    return (("assigns", (ir.Assignment(variables, ir.NOWHERE, row, declares=True),)),)


def assign_record(
    record: str, variables: tuple[str, ...], *, row: bool, declares: bool = False, given: ir.Expr | None = None
) -> tuple[tuple[str, object], ...]:
    """The fields of a statement that assigns the columns of a record or cursor to variables."""
    everything = ir.Select((ir.Source(record, record=record),), ALL_COLUMNS, given)
    return ("relations", (everything,)), ("assigns", (ir.Assignment(variables, 0, row, declares),))


def _assigned_variables(piece: RawStatement) -> tuple[str, ...]:
    """The variables that a statement assigns."""
    if piece.use is not None:
        return piece.use.variables
    assigned = (item for name, items in piece.parts if name == "assigns" for item in items)
    known = tuple(name for item in assigned if item.relation != ir.NOWHERE for name in item.variables)
    return (*known, *(piece.run.into if piece.run is not None else ()))


class DeclarationWalker(AssignmentWalker):
    """Walks over declarations and cursors."""

    def walk_let(self, begin: int, end: int, parent: int) -> None:
        """Snowflake: LET declares a variable, a cursor or a result set, with a value."""
        self.walk_declaration(begin, begin + 1, end, parent, "LET")

    def walk_declaration(self, begin: int, name_at: int, end: int, parent: int, kind: str = "DECLARE") -> None:
        """One or more variables or a cursor: their names, a type, a value or a query."""
        cursor = next((at for at in range(name_at, min(name_at + 4, end)) if self.words[at] == "CURSOR"), -1)
        if cursor >= 0:
            self.walk_cursor(begin, cursor, end, parent)
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
            at = self.skip_brackets(at) if self.kind(at) is OPEN_PAREN else at + 1
        words = self.words[behind:at]
        row = "RESULTSET" in words or self.is_row_type(behind, at) or self.is_used_as_row(names, behind)
        if row:
            self.records.update(names)
        if at + 1 < end:
            use = StatementRole("row" if row else "assign", kind, tuple(names), declares=True)
            self.emit_rewritten(begin, end, parent, self.build_query(at, at + 1, end), use)
        else:
            self.emit(begin, end, parent, kind, declare_without_value(tuple(names), row=row))

    def walk_record_insert(self, begin: int, record: str, end: int, parent: int) -> None:
        """PL/SQL: `INSERT INTO t VALUES record` inserts its fields in order."""
        target = read_dotted_name(self.tokens, begin + 2, begin, self.traits)[0]
        everything = ir.Select((ir.Source("", record=record),), ALL_COLUMNS)
        writes = (ir.Write(target, 0, "insert", None),)
        self.emit(begin, end, parent, "INSERT", (("relations", (everything,)), ("writes", writes)))

    def read_set_row(self, begin: int, end: int) -> str:
        """PL/SQL: the record of `UPDATE t SET ROW = record`, or ""."""
        at = self.find(("SET",), begin + 1, end) if self.records and self.words[begin] == "UPDATE" else end
        record = self.read_variable(at + 3) if self.words[at + 1 : at + 3] == ["ROW", "="] and at + 3 < end else ""
        return record if record in self.records else ""

    def is_row_type(self, begin: int, end: int) -> bool:
        """Whether a type is a row type, or a collection of rows."""
        words = self.words[begin:end]
        if "RECORD" in words or "ROWTYPE" in words:
            return True
        return bool(self.row_types) and any(self.fold(token) in self.row_types for token in self.tokens[begin:end])

    def is_used_as_row(self, names: list[str], kind: int) -> bool:
        """Whether a variable of a user-defined type has fields."""
        if not self.family.sections or self.family.marked or self.kind(kind) not in _NAME_TOKENS or len(names) > 1:
            return False
        if not self._fielded:
            self._fielded = frozenset(
                self.fold(self.tokens[at - 1])
                for at in range(1, len(self.tokens) - 1)
                if self.kind(at) is TokenType.DOT
                and self.kind(at - 2) is not TokenType.DOT
                and self.kind(at + 2) is not OPEN_PAREN
                and self.words[at + 1] not in _COLLECTION_METHODS
            ) or frozenset({""})
        return names[0] in self._fielded

    def walk_cursor(self, begin: int, word: int, end: int, parent: int) -> None:
        """A cursor over a query, or over a prepared one that is known when it is opened."""
        is_before = word == begin and word + 1 < len(self.tokens)
        name = self.tokens[word + 1] if is_before else self.tokens[word - 1]
        if self.words[word - 1] in ("SCROLL", "INSENSITIVE", "ASENSITIVE"):
            name = self.tokens[word - 2 if self.words[word - 2] != "NO" else word - 3]
        variable = self.fold(name)
        self.records.add(variable)
        at = self.find(("FOR", "IS", "AS"), word + 1, end)
        if at + 1 < end and (self.words[at + 1] in QUERY_KEYWORDS or self.kind(at + 1) is OPEN_PAREN):
            given = word + (2 if word == begin else 1)
            brackets = self.kind(given) is OPEN_PAREN
            names = self.read_parameter_names(given + 1, self.skip_brackets(given) - 1) if brackets else ()
            use = StatementRole("row", "DECLARE", (variable,), names, declares=True)
            self.emit_rewritten(begin, end, parent, self.build_query(at, at + 1, end), use)
        elif self.family.marked and at + 2 == end:
            parts = assign_record(self.read_variable(at + 1), (variable,), row=True, declares=True)
            self.emit(begin, end, parent, "DECLARE", parts)
        else:
            self.emit(begin, end, parent, "DECLARE", declare_without_value((variable,), row=True))

    def open_cursor(self, cursor: str, begin: int, end: int) -> tuple[tuple[str, object], ...]:
        """The fields of OPEN of a cursor with arguments; empty without arguments."""
        given = self.cursor_arguments(begin, end)
        return assign_record(cursor, (cursor,), row=True, given=given) if given is not None else ()

    def returns_cursor(self, cursor: str) -> bool:
        """Whether all queries of a returned cursor are known: they become results of the routine."""
        filled = [at for at in range(self.first, len(self.pieces)) if cursor in _assigned_variables(self.pieces[at])]
        uses = [use for at in filled if (use := self.cursor_query_role(self.pieces[at])) is not None]
        if len(uses) < len(filled):
            return False
        for at, use in zip(filled, uses, strict=True):
            given = msgspec.structs.replace(use, role="result row", columns=self.module.columns)
            self.pieces[at] = msgspec.structs.replace(self.pieces[at], use=given)
        return bool(filled)

    def cursor_query_role(self, piece: RawStatement) -> StatementRole | None:
        """The role of the query of a cursor or result set whose fields cannot change later, or None."""
        use = piece.use
        if use is None or use.role != "row" or use.columns or keyword(piece.tokens[0]) not in QUERY_KEYWORDS:
            return None
        fixed = use.kind == "OPEN" or (self.family.marked and use.kind in ("DECLARE", "LET", "SET"))
        return use if fixed else None

    def cursor_arguments(self, begin: int, end: int) -> ir.Expr | None:
        """The variables that a cursor is opened with, as one condition."""
        origin = int(self.tokens[self.index].start)
        places = [
            at
            for at in range(begin, end)
            if self.kind(at) in _NAME_TOKENS and self.kind(at + 1) not in (OPEN_PAREN, TokenType.DOT, TokenType.FARROW)
        ]
        found = [(self.tokens[at], int(self.tokens[at].start) - origin) for at in places]
        names = [ir.Variable(self.fold(token), start, start + len(token.text)) for token, start in found]
        return ir.Call("OPEN", tuple(names)) if names else None

    def read_parameter_names(self, begin: int, end: int) -> tuple[str, ...]:
        """The parameters of a cursor."""
        names = []
        while begin < end:
            names.append(self.fold(self.tokens[begin]))
            begin = self.find_comma(begin, end) + 1
        return tuple(names)

    def walk_fetch(self, begin: int, end: int, parent: int) -> None:
        """FETCH assigns the columns of a cursor to variables, by position."""
        into = self.find(("INTO", "BULK COLLECT INTO"), begin, end)
        if into == end or into == begin + 1:
            self.emit(begin, end, parent, "FETCH")
            return
        record = self.read_variable(into - 1)
        variables, _ = self.read_targets(into + 1, end)
        parts = assign_record(record, variables, row=self.is_row(variables))
        self.emit(begin, end, parent, "FETCH", parts)

    def walk_condition(self, begin: int, then: int, parent: int, kind: str) -> int:
        """A condition after a keyword; a query in it is read."""
        if "SELECT" in self.words[begin:then]:
            stop = min(then + 1, len(self.tokens))
            return self.emit_rewritten(
                begin, stop, parent, self.value_query(begin, begin + 1, then), StatementRole("condition", kind)
            )
        return self.emit(begin, min(then + 1, len(self.tokens)), parent, kind)

    def walk_perform(self, begin: int, end: int, parent: int) -> None:
        """PL/pgSQL: PERFORM runs a query without using its result; usually it calls a function."""
        called, behind = None, begin + 1
        if is_name_at(self.tokens, begin + 1):
            called, behind = read_dotted_name(self.tokens, begin + 1, begin, self.traits)
        target = called if self.kind(behind) is OPEN_PAREN else None
        self.emit_rewritten(
            begin,
            end,
            parent,
            self.value_query(begin, begin + 1, end),
            StatementRole("discard", "PERFORM", target=target),
        )
