"""Statements of a block without others inside: queries into variables, writes, results, calls and dynamic SQL."""

from collections.abc import Callable, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.families import SILENT
from lineage_pipeline.engine.compile.assignments import QUERIES
from lineage_pipeline.engine.compile.calls import Run
from lineage_pipeline.engine.compile.declarations import EVERYTHING, Declarations
from lineage_pipeline.engine.compile.literals import STRINGS
from lineage_pipeline.engine.compile.parse import Failure
from lineage_pipeline.engine.compile.pieces import Piece, Use
from lineage_pipeline.engine.compile.prefixes import prepared_at
from lineage_pipeline.engine.compile.quoted import inner_tokens
from lineage_pipeline.engine.compile.walker import OPEN, Parts
from lineage_pipeline.engine.compile.words import dotted_name, is_name, keyword, made
from lineage_pipeline.vocabulary import ir

_INTO = ("INTO", "BULK COLLECT INTO")


class Actions(Declarations):
    """A walk that knows the plain statements of a block."""

    def action(self, parent: int) -> None:
        """One statement up to its semicolon."""
        begin, end = self.index, self.end()
        if end == begin:
            self.index = end + 1
            return
        word = self.word()
        known = _ACTIONS.get(word)
        if known is not None and not self.is_assignment(begin, end):
            known(self, begin, end, parent)
        elif self.is_assignment(begin, end):
            self.assignment(begin, end, parent)
        elif word in SILENT:
            self.emit(begin, end, parent, word)
        elif self.is_call(begin, end):
            self.call(begin, begin, end, parent)
        else:
            self.emit(
                begin, end, parent, "CALL" if word.startswith("SYSTEM$") and self.kind(begin + 1) is OPEN else None
            )

    def is_call(self, begin: int, end: int) -> bool:
        """Whether a procedure is called by its name alone."""
        if not self.family.result_word or not is_name(self.tokens, begin):
            return False
        behind = self.target_end(begin)
        return behind == end

    def reading(self, begin: int, end: int, parent: int) -> None:
        """A query; one with INTO puts its columns into variables."""
        at = self.find(_INTO, begin, end)
        while at < end and self.words[at - 1] in ("INSERT", "MERGE", "REPLACE"):
            at = self.find(_INTO, at + 1, end)
        if at == end or self.words[at + 1] in ("OUTFILE", "DUMPFILE", "TEMP", "TEMPORARY", "TABLE"):
            self.result(begin, begin, end, parent)
            return
        variables, behind = self.targets(at + 1, end)
        tokens = [*self.tokens[begin:at], *self.tokens[behind:end]]
        use = Use("row" if self.is_row(variables) else "assign", "SELECT INTO", variables)
        fields = self.row_fields(at + 1, end)
        if len(fields) == len(variables):
            use = Use("write", "SELECT INTO", columns=fields, target=self.module.watched)
        self.keep(begin, end, parent, tokens, use)

    def result(self, begin: int, query: int, end: int, parent: int, kind: str = "") -> None:
        """A query whose rows are the result of the module; its columns get the names that the header declares."""
        use = Use("result", kind or self.words[query], columns=self.module.columns)
        if query == begin and not self.module.columns and not self.module.typed:
            self.emit(begin, end, parent)
        else:
            self.keep(begin, end, parent, self.query(query - 1, query, end), use)

    def writing(self, begin: int, end: int, parent: int) -> None:
        """INSERT, UPDATE, DELETE or MERGE; RETURNING … INTO puts columns of the changed rows into variables."""
        at = self.find(("RETURNING", "RETURN"), begin + 1, end)
        into = self.find(_INTO, at, end)
        values = self.find(("VALUES",), begin + 1, end) + 1
        if into == end and self.words[begin] == "INSERT" and values < end and self.variable(values) in self.records:
            self.record_insert(begin, self.variable(values), end, parent)
            return
        if into == end:
            if record := self.row_set(begin, end):
                self.keep(begin, end, parent, self.tokens[begin:end], Use("overwritten", "", (record,)))
            else:
                self.emit(begin, end, parent)
            return
        variables, behind = self.targets(into + 1, end)
        returning = self.tokens[at]
        word = Token(TokenType.RETURNING, "RETURNING", returning.line, returning.col, returning.start, returning.end)
        tokens = [*self.tokens[begin:at], word, *self.tokens[at + 1 : into], *self.tokens[behind:end]]
        role = "returned row" if self.is_row(variables) else "returned"
        self.keep(begin, end, parent, tokens, Use(role, "", variables))

    def returning(self, begin: int, end: int, parent: int) -> None:
        """RETURN: rows of a query, of a record, one value of a function; or only the end of a procedure."""
        word = self.word(1)
        if word == "QUERY" and self.word(2) == "EXECUTE":
            self.dynamic(begin, begin + 3, end, parent, "RETURN")
        elif word == "QUERY":
            self.result(begin, begin + 2, end, parent, "RETURN")
        elif word == "TABLE" and self.kind(begin + 2) is OPEN:
            self.table(begin, begin + 3, self.behind(begin + 2) - 1, parent)
            self.index = end
        elif end == begin + 1 or not self.gives_value() or self.module.watched is not None:
            self.emit(begin, end, parent, "RETURN")
        else:
            self.returned(begin, begin + (2 if word == "NEXT" else 1), end, parent)

    def gives_value(self) -> bool:
        """Whether RETURN gives the caller a value."""
        return self.module.kind == "function" or (self.family.marked and self.module.kind == "procedure")

    def table(self, begin: int, first: int, last: int, parent: int) -> None:
        """RETURN TABLE: the rows of a query, or those of a result set or cursor."""
        if last - first > 1:
            use = Use("result", "RETURN", columns=self.module.columns)
            self.keep(begin, last + 1, parent, self.query(begin, first, last), use)
        else:
            record = self.variable(first)
            self.emit(begin, last + 1, parent, "RETURN", () if self.hands_back(record) else self.rows_of(record))

    def rows_of(self, record: str) -> Parts:
        """The columns of a record, a cursor or a result set as the result of the module."""
        everything = ir.Select((ir.Source("", record=record),), EVERYTHING)
        renamed = (ir.Renamed(0, self.module.columns),) if self.module.columns else ()
        typed = (("features", (ir.TYPED,)),) if self.module.typed else ()
        return ("relations", (everything, *renamed)), ("result", len(renamed)), *typed

    def returned(self, begin: int, first: int, end: int, parent: int) -> None:
        """The value of a function, or one row of a set that it returns."""
        record = self.variable(first) if first + 1 == end else ""
        if record in self.records:
            self.emit(begin, end, parent, "RETURN", () if self.hands_back(record) else self.rows_of(record))
        elif first == end and self.module.columns:  # the row that its variables are now
            self.keep(begin, end, parent, self.current(begin), Use("result", "RETURN", columns=self.module.columns))
        elif first == end:
            self.emit(begin, end, parent, "RETURN")
        else:
            own = (self.module.name.parts[-1],) if self.module.name is not None else ()
            columns = self.module.columns or own
            self.keep(begin, end, parent, self.query(begin, first, end), Use("result", "RETURN", columns=columns))

    def current(self, at: int) -> list[Token]:
        """The query that gives what the columns of a function hold as variables."""
        word = self.tokens[at]
        items: list[Token] = []
        for name in self.module.columns:
            quoted = Token(TokenType.IDENTIFIER, name, word.line, word.col, -1, -1)  # it is not written here
            items.extend((made(",", word), quoted))
        return [self.select(at), *items[1:]]

    def piped(self, begin: int, end: int, parent: int) -> None:
        """PIPE ROW gives one row of a function's result."""
        bare = self.kind(begin + 2) is OPEN and begin + 5 == end and is_name(self.tokens, begin + 3)
        self.returned(begin, begin + 2 + bare, end - bare, parent)
        self.index = end

    def executing(self, begin: int, end: int, parent: int) -> None:
        """EXECUTE: text that is run; or a prepared statement, a task, a procedure of a client's EXEC."""
        word = self.word(1)
        if word == "IMMEDIATE" or (self.family.equals and self.module.kind and not self.module.inline):
            self.dynamic(begin, begin + (2 if word == "IMMEDIATE" else 1), end, parent)
        elif self.word() == "EXEC" or self.family.result_word:
            self.call(begin, begin + 1, end, parent)
        else:
            self.emit(begin, end, parent, "EXECUTE")

    def preparing(self, begin: int, end: int, parent: int) -> None:
        """PREPARE: text that is run later; or a statement with a name."""
        at = self.find(("FROM",), begin, begin + 3)
        first = prepared_at(self.tokens[:end], begin)
        if first > begin:
            self.pieces.append(Piece(self.tokens[first:end], parent, begin=int(self.tokens[begin].start)))
            self.index = end
        elif at < begin + 3:
            self.dynamic(begin, at + 1, end, parent, "PREPARE")
        else:
            self.emit(begin, end, parent, "PREPARE")

    def dynamic(
        self, begin: int, text: int, end: int, parent: int, kind: str = "EXECUTE", record: tuple[str, ...] = ()
    ) -> None:
        """Text that is run: a constant is read like any other code, the rest is known only at run time."""
        stop = self.find((*_INTO, "USING"), text, end)
        into = self.find(_INTO, text, end)
        variables = self.targets(into + 1, end)[0] if into < end else ()
        inner: Sequence[Token] | Failure = Failure("", 0, 0)
        # What a query gives that is run without INTO is lost in these languages.
        lost = kind == "EXECUTE" and bool(self.module.kind) and (self.family.equals or self.family.result_word)
        using = self.find(("USING",), text, end)
        numbered = using < end and self.family.equals  # `$1` stands for the first value behind USING
        if stop == text + 1 and self.kind(text) in STRINGS and not numbered:
            inner = inner_tokens(self.tokens[text], self.text, self.traits)
        if isinstance(inner, Failure):
            columns = self.module.columns if kind == "RETURN" else None
            row = bool(record) or self.is_row(variables)
            given = record or variables
            run = Run(tuple(self.tokens[text:stop]), columns=columns, into=given, row=row, lost=lost and not given)
            self.run(begin, end, parent, kind, run, using if numbered else end)
            return
        ordinal = self.emit(begin, end, parent, kind)
        taken = Use("row", "SELECT", record) if record else Use("assign", "SELECT", variables) if variables else None
        if taken is None and lost and inner and keyword(inner[0]) in QUERIES:
            taken = Use("discard")
        self.nested(inner, ordinal, taken)

    def run(self, begin: int, end: int, parent: int, kind: str, run: Run, using: int = -1) -> int:
        """Keep a piece that runs a text, which is worked out when all before it is known."""
        if 0 <= using < end - 1:
            given, first = ["@using1"], using + 1
            while (first := self.comma(first, end) + 1) < end:
                given.append(f"@using{len(given) + 1}")
            values = self.value(using, using + 1, end)
            ordinal = self.keep(begin, end, parent, values, Use("assign", kind, tuple(given)))
            pairs = enumerate((ir.Variable(name, ir.NOWHERE, ir.NOWHERE) for name in given), 1)
            run = msgspec.structs.replace(run, given=tuple((f"@{position}", value) for position, value in pairs))
        else:
            ordinal = self.emit(begin, end, parent, kind)
        self.pieces[ordinal] = msgspec.structs.replace(self.pieces[ordinal], run=run)
        return ordinal

    def keep(self, begin: int, end: int, parent: int, tokens: Sequence[Token], use: Use) -> int:
        """Keep a piece; `rs := (EXECUTE IMMEDIATE text)` runs a text whose rows go into a variable."""
        words = [keyword(token) for token in tokens[:4]] if self.family.marked else []
        if words[1:] != ["(", "EXECUTE", "IMMEDIATE"] or not use.variables:
            return super().keep(begin, end, parent, tokens, use)
        stop = next((at for at, token in enumerate(tokens) if keyword(token) == "USING"), len(tokens) - 1)
        run = Run(tuple(tokens[4:stop]), into=use.variables, row=True)
        return self.run(begin, end, parent, use.kind, run)

    def nested(self, tokens: Sequence[Token], ordinal: int, taken: Use | None) -> None:
        """The statements of code in a string; what one query gives may be taken by whoever runs it."""
        if taken is not None and tokens and not any(token.token_type is TokenType.SEMICOLON for token in tokens[:-1]):
            walker = self.inside(tokens, self.module)
            walker.keep(0, walker.end(0), ordinal, list(tokens[: walker.end(0)]), taken)
            return
        self.inside(tokens, self.module).script(ordinal)

    def open(self, begin: int, end: int, parent: int) -> None:
        """OPEN of a cursor for a query gives it its columns."""
        at = self.find(("FOR",), begin, end)
        variable = self.variable(begin + 1)
        self.records.add(variable)
        if at + 1 < end and (self.words[at + 1] in QUERIES or self.kind(at + 1) is OPEN):
            use = Use("result row" if variable in self.module.cursors else "row", "OPEN", (variable,))
            self.keep(begin, end, parent, self.query(at, at + 1, end), use)
        elif at + 1 < end and (self.words[at + 1] == "EXECUTE" or self.kind(at + 1) in STRINGS):
            text = at + (2 if self.words[at + 1] == "EXECUTE" else 1)
            self.dynamic(begin, text, end, parent, "OPEN", (variable,))
        else:
            self.emit(begin, end, parent, "OPEN", self.opened(variable, begin + 2, end))

    def calling(self, begin: int, end: int, parent: int) -> None:
        """CALL of a procedure."""
        self.call(begin, begin + 1, end, parent)

    def call(self, begin: int, name_at: int, end: int, parent: int) -> None:
        """A procedure called by name, with arguments; what it gives back may go into variables."""
        if not is_name(self.tokens, name_at):
            self.emit(begin, end, parent, "CALL")
            return
        name, behind = dotted_name(self.tokens, name_at, begin, self.traits)
        into = self.find(("INTO",), behind, end)
        variables = self.targets(into + 1, end)[0] if into < end else ()
        if self.kind(behind) is not OPEN or behind >= end:
            self.emit(begin, end, parent, "CALL", (("calls", (ir.Invocation(name),)),))
            return
        function = self.tokens[behind - 1]
        word = Token(TokenType.VAR, "called", function.line, function.col, function.start, function.end)
        tokens = [self.select(begin), word, *self.tokens[behind : self.behind(behind)]]
        self.keep(begin, end, parent, tokens, Use("call", "CALL", variables, target=name))


_ACTIONS: dict[str, Callable[[Actions, int, int, int], None]] = {
    "CALL": Actions.calling,
    "DELETE": Actions.writing,
    "EXEC": Actions.executing,
    "EXECUTE": Actions.executing,
    "FETCH": Actions.fetch,
    "INSERT": Actions.writing,
    "LET": Actions.let,
    "MERGE": Actions.writing,
    "OPEN": Actions.open,
    "PERFORM": Actions.performing,
    "PIPE": Actions.piped,
    "PREPARE": Actions.preparing,
    "REPLACE": Actions.writing,
    "RETURN": Actions.returning,
    "SELECT": Actions.reading,
    "SET": Actions.set,
    "UPDATE": Actions.writing,
    "WITH": Actions.reading,
}
"""The statements that need more than to be handed to the parser, by their first word."""
