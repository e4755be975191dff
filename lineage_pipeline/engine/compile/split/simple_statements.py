"""Procedural statements without others inside: SELECT INTO, writes, RETURN, calls, EXECUTE and OPEN."""

from collections.abc import Callable, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.procedural_languages import SILENT_BLOCK_STATEMENTS
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.split.procedural_tokens import tokenize_body
from lineage_pipeline.engine.compile.split.raw_statements import DynamicExecution, RawStatement, StatementRole
from lineage_pipeline.engine.compile.split.variables import ALL_COLUMNS, QUERY_KEYWORDS, DeclarationWalker
from lineage_pipeline.engine.compile.split.walker import OPEN_PAREN, WalkerParts
from lineage_pipeline.engine.compile.tokens import (
    STATEMENT_KEYWORDS,
    STRING_TOKENS,
    is_name_at,
    keyword,
    read_dotted_name,
    skip_brackets,
    synthetic_token,
)
from lineage_pipeline.model import ir

_INTO_KEYWORDS = ("INTO", "BULK COLLECT INTO")


class SimpleStatementWalker(DeclarationWalker):
    """Walks over the simple statements of a block."""

    def walk_simple(self, parent: int) -> None:
        """One statement up to its semicolon."""
        begin, end = self.index, self.end()
        if end == begin:
            self.index = end + 1
            return
        word = self.word()
        known = _SIMPLE_STATEMENTS.get(word)
        if known is not None and not self.is_assignment(begin, end):
            known(self, begin, end, parent)
        elif self.is_assignment(begin, end):
            self.walk_assignment(begin, end, parent)
        elif word in SILENT_BLOCK_STATEMENTS:
            self.emit(begin, end, parent, word)
        elif self.is_bare_call(begin, end):
            self.emit_call(begin, begin, end, parent)
        elif self.family.plsql and self.kind(begin) is OPEN_PAREN and self.words[begin + 2] == "AS":
            self.emit(begin, end, parent, "CALL")  # (SELF AS supertype).method(…)
        else:
            self.emit(
                begin,
                end,
                parent,
                "CALL" if word.startswith("SYSTEM$") and self.kind(begin + 1) is OPEN_PAREN else None,
            )

    def is_bare_call(self, begin: int, end: int) -> bool:
        """PL/SQL: whether a procedure is called without CALL."""
        if not self.family.plsql or not is_name_at(self.tokens, begin):
            return False
        behind = self.target_end(begin)
        return behind == end

    def walk_select(self, begin: int, end: int, parent: int) -> None:
        """A query; one with INTO assigns its columns to variables."""
        at = self.find(_INTO_KEYWORDS, begin, end)
        while at < end and self.words[at - 1] in ("INSERT", "MERGE", "REPLACE"):
            at = self.find(_INTO_KEYWORDS, at + 1, end)
        if at == end or self.words[at + 1] in ("OUTFILE", "DUMPFILE", "TEMP", "TEMPORARY", "TABLE"):
            self.emit_result(begin, begin, end, parent)
            return
        variables, behind = self.read_targets(at + 1, end)
        tokens = [*self.tokens[begin:at], *self.tokens[behind:end]]
        use = StatementRole("row" if self.is_row(variables) else "assign", "SELECT INTO", variables)
        fields = self.trigger_row_fields(at + 1, end)
        if len(fields) == len(variables):
            use = StatementRole("write", "SELECT INTO", columns=fields, target=self.module.watched)
        self.emit_rewritten(begin, end, parent, tokens, use)

    def emit_result(self, begin: int, query: int, end: int, parent: int, kind: str = "") -> None:
        """A query whose rows are the result of the routine; its columns get the names that the header declares."""
        use = StatementRole("result", kind or self.words[query], columns=self.module.columns)
        if query == begin and not self.module.columns and not self.module.typed:
            self.emit(begin, end, parent)
        else:
            self.emit_rewritten(begin, end, parent, self.build_query(query - 1, query, end), use)

    def walk_write(self, begin: int, end: int, parent: int) -> None:
        """INSERT, UPDATE, DELETE or MERGE; RETURNING … INTO assigns columns of the changed rows to variables."""
        at = self.find(("RETURNING", "RETURN"), begin + 1, end)
        into = self.find(_INTO_KEYWORDS, at, end)
        values = self.find(("VALUES",), begin + 1, end) + 1
        if (
            into == end
            and self.words[begin] == "INSERT"
            and values < end
            and self.read_variable(values) in self.records
        ):
            self.walk_record_insert(begin, self.read_variable(values), end, parent)
            return
        if into == end:
            if record := self.read_set_row(begin, end):
                self.emit_rewritten(
                    begin, end, parent, self.tokens[begin:end], StatementRole("overwritten", "", (record,))
                )
            else:
                self.emit(begin, end, parent)
            return
        variables, behind = self.read_targets(into + 1, end)
        returning = self.tokens[at]
        word = Token(TokenType.RETURNING, "RETURNING", returning.line, returning.col, returning.start, returning.end)
        tokens = [*self.tokens[begin:at], word, *self.tokens[at + 1 : into], *self.tokens[behind:end]]
        role = "returned row" if self.is_row(variables) else "returned"
        self.emit_rewritten(begin, end, parent, tokens, StatementRole(role, "", variables))

    def walk_return(self, begin: int, end: int, parent: int) -> None:
        """RETURN: the rows of a query or a record, the value of a function, or the end of a procedure."""
        word = self.word(1)
        if self.module.macro and end > begin + 1:
            self.walk_macro_text(begin, end, parent)
        elif word == "QUERY" and self.word(2) == "EXECUTE":
            self.walk_dynamic(begin, begin + 3, end, parent, "RETURN")
        elif word == "QUERY":
            self.emit_result(begin, begin + 2, end, parent, "RETURN")
        elif word == "TABLE" and self.kind(begin + 2) is OPEN_PAREN:
            self.walk_return_table(begin, begin + 3, self.skip_brackets(begin + 2) - 1, parent)
            self.index = end
        elif end == begin + 1 or not self.returns_value() or self.module.watched is not None:
            self.emit(begin, end, parent, "RETURN")
        else:
            self.emit_return(begin, begin + (2 if word == "NEXT" else 1), end, parent)

    def walk_macro_text(self, begin: int, end: int, parent: int) -> None:
        """Oracle: the text that a SQL macro returns is the query, or the expression, that its callers run."""
        constant = end == begin + 2 and self.kind(begin + 1) in STRING_TOKENS
        inner = tokenize_body(self.tokens[begin + 1], self.text, self.traits) if constant else ParseFailure("", 0, 0)
        if isinstance(inner, ParseFailure) or not inner:
            self.walk_dynamic(begin, begin + 1, end, parent, "RETURN")
            return
        ordinal = self.emit(begin, end, parent, "RETURN")
        walker = self.walk_inside(inner, self.module)
        last = walker.end(0)
        use = StatementRole("result", "RETURN", columns=self.module.result_columns)
        walker.emit_rewritten(0, last, ordinal, walker.build_query(0, 0, last), use)

    def returns_value(self) -> bool:
        """Whether RETURN gives the caller a value."""
        return self.module.kind == "function" or (self.family.marked and self.module.kind == "procedure")

    def walk_return_table(self, begin: int, first: int, last: int, parent: int) -> None:
        """Snowflake: RETURN TABLE returns the rows of a query, a result set or a cursor."""
        if last - first > 1:
            use = StatementRole("result", "RETURN", columns=self.module.columns)
            self.emit_rewritten(begin, last + 1, parent, self.build_query(begin, first, last), use)
        else:
            record = self.read_variable(first)
            self.emit(
                begin, last + 1, parent, "RETURN", () if self.returns_cursor(record) else self.return_record(record)
            )

    def return_record(self, record: str) -> WalkerParts:
        """The columns of a record, a cursor or a result set as the result of the routine."""
        everything = ir.Select((ir.Source("", record=record),), ALL_COLUMNS)
        renamed = (ir.Renamed(0, self.module.columns),) if self.module.columns else ()
        typed = (("features", (ir.ROW_TYPE_FEATURE,)),) if self.module.typed else ()
        return ("relations", (everything, *renamed)), ("result", len(renamed)), *typed

    def emit_return(self, begin: int, first: int, end: int, parent: int) -> None:
        """The value of a function, or one row of a set that it returns."""
        record = self.read_variable(first) if first + 1 == end else ""
        if record in self.records:
            self.emit(begin, end, parent, "RETURN", () if self.returns_cursor(record) else self.return_record(record))
        elif first == end and self.module.columns:  # the row that its variables are now
            self.emit_rewritten(
                begin,
                end,
                parent,
                self.build_output_query(begin),
                StatementRole("result", "RETURN", columns=self.module.columns),
            )
        elif first == end:
            self.emit(begin, end, parent, "RETURN")
        else:
            self.emit_rewritten(
                begin,
                end,
                parent,
                self.build_query(begin, first, end),
                StatementRole("result", "RETURN", columns=self.module.result_columns),
            )

    def build_output_query(self, at: int) -> list[Token]:
        """PL/pgSQL: the query of the OUT columns of a function as variables."""
        word = self.tokens[at]
        items: list[Token] = []
        for name in self.module.columns:
            quoted = Token(TokenType.IDENTIFIER, name, word.line, word.col, -1, -1)  # it is not written here
            items.extend((synthetic_token(",", word), quoted))
        return [self.select_token(at), *items[1:]]

    def walk_pipe_row(self, begin: int, end: int, parent: int) -> None:
        """PL/SQL: PIPE ROW returns one row of a function."""
        bare = self.kind(begin + 2) is OPEN_PAREN and begin + 5 == end and is_name_at(self.tokens, begin + 3)
        self.emit_return(begin, begin + 2 + bare, end - bare, parent)
        self.index = end

    def walk_execute(self, begin: int, end: int, parent: int) -> None:
        """EXECUTE: a text, a prepared statement, a task, or a procedure with EXEC."""
        word = self.word(1)
        if word == "IMMEDIATE" or (self.family.equals and self.module.kind and not self.module.inline):
            self.walk_dynamic(begin, begin + (2 if word == "IMMEDIATE" else 1), end, parent)
        elif self.word() == "EXEC" or self.family.plsql:
            self.emit_call(begin, begin + 1, end, parent)
        else:
            self.emit(begin, end, parent, "EXECUTE")

    def walk_prepare(self, begin: int, end: int, parent: int) -> None:
        """PREPARE: a text that is executed later, or a statement with a name."""
        at = self.find(("FROM",), begin, begin + 3)
        first = find_prepared_statement(self.tokens[:end], begin)
        if first > begin:
            self.pieces.append(RawStatement(self.tokens[first:end], parent, begin=int(self.tokens[begin].start)))
            self.index = end
        elif at < begin + 3:
            self.walk_dynamic(begin, at + 1, end, parent, "PREPARE")
        else:
            self.emit(begin, end, parent, "PREPARE")

    def walk_dynamic(
        self, begin: int, text: int, end: int, parent: int, kind: str = "EXECUTE", record: tuple[str, ...] = ()
    ) -> None:
        """An executed text: a constant is read like any other code, the rest is known only at run time."""
        stop = self.find((*_INTO_KEYWORDS, "USING"), text, end)
        into = self.find(_INTO_KEYWORDS, text, end)
        variables = self.read_targets(into + 1, end)[0] if into < end else ()
        inner: Sequence[Token] | ParseFailure = ParseFailure("", 0, 0)
        # What a query gives that is run without INTO is lost in these languages.
        lost = kind == "EXECUTE" and bool(self.module.kind) and (self.family.equals or self.family.plsql)
        using = self.find(("USING",), text, end)
        numbered = using < end and self.family.equals  # `$1` stands for the first value behind USING
        if stop == text + 1 and self.kind(text) in STRING_TOKENS and not numbered:
            inner = tokenize_body(self.tokens[text], self.text, self.traits)
        if isinstance(inner, ParseFailure):
            columns = self.module.columns if kind == "RETURN" else None
            row = bool(record) or self.is_row(variables)
            given = record or variables
            run = DynamicExecution(
                tuple(self.tokens[text:stop]), columns=columns, into=given, row=row, lost=lost and not given
            )
            self.emit_execution(begin, end, parent, kind, run, using if numbered else end)
            return
        ordinal = self.emit(begin, end, parent, kind)
        taken = (
            StatementRole("row", "SELECT", record)
            if record
            else StatementRole("assign", "SELECT", variables)
            if variables
            else None
        )
        if taken is None and lost and inner and keyword(inner[0]) in QUERY_KEYWORDS:
            taken = StatementRole("discard")
        self.walk_nested(inner, ordinal, taken)

    def emit_execution(
        self, begin: int, end: int, parent: int, kind: str, run: DynamicExecution, using: int = -1
    ) -> int:
        """Emit a statement that executes a text, which is folded once everything before it is known."""
        if 0 <= using < end - 1:
            given, first = ["@using1"], using + 1
            while (first := self.find_comma(first, end) + 1) < end:
                given.append(f"@using{len(given) + 1}")
            values = self.value_query(using, using + 1, end)
            ordinal = self.emit_rewritten(begin, end, parent, values, StatementRole("assign", kind, tuple(given)))
            pairs = enumerate((ir.Variable(name, ir.NOWHERE, ir.NOWHERE) for name in given), 1)
            run = msgspec.structs.replace(run, given=tuple((f"@{position}", value) for position, value in pairs))
        else:
            ordinal = self.emit(begin, end, parent, kind)
        self.pieces[ordinal] = msgspec.structs.replace(self.pieces[ordinal], run=run)
        return ordinal

    def emit_rewritten(self, begin: int, end: int, parent: int, tokens: Sequence[Token], use: StatementRole) -> int:
        """Emit a statement; `rs := (EXECUTE IMMEDIATE text)` executes a text whose rows go into a variable."""
        words = [keyword(token) for token in tokens[:4]] if self.family.marked else []
        if words[1:] != ["(", "EXECUTE", "IMMEDIATE"] or not use.variables:
            return super().emit_rewritten(begin, end, parent, tokens, use)
        stop = next((at for at, token in enumerate(tokens) if keyword(token) == "USING"), len(tokens) - 1)
        run = DynamicExecution(tuple(tokens[4:stop]), into=use.variables, row=True)
        return self.emit_execution(begin, end, parent, use.kind, run)

    def walk_nested(self, tokens: Sequence[Token], ordinal: int, taken: StatementRole | None) -> None:
        """The statements of code in a string; the executing statement may take the rows of a single query."""
        if taken is not None and tokens and not any(token.token_type is TokenType.SEMICOLON for token in tokens[:-1]):
            walker = self.walk_inside(tokens, self.module)
            walker.emit_rewritten(0, walker.end(0), ordinal, list(tokens[: walker.end(0)]), taken)
            return
        self.walk_inside(tokens, self.module).walk_script(ordinal)

    def walk_open(self, begin: int, end: int, parent: int) -> None:
        """OPEN of a cursor FOR a query gives it its columns."""
        at = self.find(("FOR",), begin, end)
        variable = self.read_variable(begin + 1)
        self.records.add(variable)
        if at + 1 < end and (self.words[at + 1] in QUERY_KEYWORDS or self.kind(at + 1) is OPEN_PAREN):
            use = StatementRole("result row" if variable in self.module.cursors else "row", "OPEN", (variable,))
            self.emit_rewritten(begin, end, parent, self.build_query(at, at + 1, end), use)
        elif at + 1 < end and (self.words[at + 1] == "EXECUTE" or self.kind(at + 1) in STRING_TOKENS):
            text = at + (2 if self.words[at + 1] == "EXECUTE" else 1)
            self.walk_dynamic(begin, text, end, parent, "OPEN", (variable,))
        else:
            self.emit(begin, end, parent, "OPEN", self.open_cursor(variable, begin + 2, end))

    def walk_call(self, begin: int, end: int, parent: int) -> None:
        """CALL of a procedure."""
        self.emit_call(begin, begin + 1, end, parent)

    def emit_call(self, begin: int, name_at: int, end: int, parent: int) -> None:
        """A procedure call with arguments; its result may go into variables."""
        if not is_name_at(self.tokens, name_at):
            self.emit(begin, end, parent, "CALL")
            return
        name, behind = read_dotted_name(self.tokens, name_at, begin, self.traits)
        if (text := self.find_executed_text(name, behind)) is not None:
            self.emit_execution(begin, end, parent, "CALL", DynamicExecution(text))
            return
        into = self.find(("INTO",), behind, end)
        variables = self.read_targets(into + 1, end)[0] if into < end else ()
        if self.kind(behind) is not OPEN_PAREN or behind >= end:
            self.emit(begin, end, parent, "CALL", (("calls", (ir.Invocation(name),)),))
            return
        function = self.tokens[behind - 1]
        word = Token(TokenType.VAR, "called", function.line, function.col, function.start, function.end)
        tokens = [self.select_token(begin), word, *self.tokens[behind : self.skip_brackets(behind)]]
        self.emit_rewritten(begin, end, parent, tokens, StatementRole("call", "CALL", variables, target=name))

    def find_executed_text(self, name: ir.Name, behind: int) -> tuple[Token, ...] | None:
        """The argument of a procedure that runs a text; None for other procedures, and if the text is a name."""
        called = ".".join(name.parts[-2:]).upper()
        known = self.family.executors.get(called) or self.family.executors.get(name.parts[-1].upper())
        if known is None or self.kind(behind) is not OPEN_PAREN:
            return None
        arguments, index, end = list[tuple[Token, ...]](), behind + 1, self.skip_brackets(behind) - 1
        while index < end:
            stop = self.find_comma(index, end)
            arguments.append(tuple(self.tokens[index:stop]))
            index = stop + 1
        position, parameter = known
        named = {keyword(item[0]): item[2:] for item in arguments if len(item) > 2 and item[1].text == "=>"}
        text = named.get(parameter) or (arguments[position] if len(arguments) > position and not named else ())
        stored = any(token.text.upper() in _STORED_JOBS for item in arguments for token in item)
        return None if stored or not text else text


_STORED_JOBS = frozenset({"STORED_PROCEDURE", "EXECUTABLE", "CHAIN", "EXTERNAL_SCRIPT", "SQL_SCRIPT", "BACKUP_SCRIPT"})
"""Oracle: types of jobs whose action is no PL/SQL block (docs: DBMS_SCHEDULER.CREATE_JOB)."""

_SIMPLE_STATEMENTS: dict[str, Callable[[SimpleStatementWalker, int, int, int], None]] = {
    "CALL": SimpleStatementWalker.walk_call,
    "DELETE": SimpleStatementWalker.walk_write,
    "EXEC": SimpleStatementWalker.walk_execute,
    "EXECUTE": SimpleStatementWalker.walk_execute,
    "FETCH": SimpleStatementWalker.walk_fetch,
    "INSERT": SimpleStatementWalker.walk_write,
    "LET": SimpleStatementWalker.walk_let,
    "MERGE": SimpleStatementWalker.walk_write,
    "OPEN": SimpleStatementWalker.walk_open,
    "PERFORM": SimpleStatementWalker.walk_perform,
    "PIPE": SimpleStatementWalker.walk_pipe_row,
    "PREPARE": SimpleStatementWalker.walk_prepare,
    "REPLACE": SimpleStatementWalker.walk_write,
    "RETURN": SimpleStatementWalker.walk_return,
    "SELECT": SimpleStatementWalker.walk_select,
    "SET": SimpleStatementWalker.walk_set,
    "UPDATE": SimpleStatementWalker.walk_write,
    "WITH": SimpleStatementWalker.walk_select,
}
"""The simple statements that the walker itself reads, by their first keyword."""


def find_prepared_statement(tokens: Sequence[Token], begin: int) -> int:
    """The index of the statement that a PREPARE names, or that of PREPARE if it prepares a text."""
    at = begin + 2
    if at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
        at = skip_brackets(tokens, at)
    named = at + 1 < len(tokens) and keyword(tokens[at]) in ("AS", "FROM")
    return at + 1 if named and keyword(tokens[at + 1]) in STATEMENT_KEYWORDS else begin
