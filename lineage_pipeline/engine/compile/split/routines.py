"""Routines of procedural languages: headers, row types, bodies of procedures, functions, triggers and packages."""

import re
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.dialects.procedural_languages import (
    METHOD_MODIFIERS,
    MODULE_KINDS,
    MODULE_MODIFIERS,
    STATEMENT_RUNNERS,
)
from lineage_pipeline.engine.compile.expressions.data_types import parse_type
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.split.foreign_bodies import tokenize_constants
from lineage_pipeline.engine.compile.split.procedural_tokens import tokenize_body
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement, StatementRole
from lineage_pipeline.engine.compile.split.simple_statements import SimpleStatementWalker
from lineage_pipeline.engine.compile.split.variables import ALL_COLUMNS, QUERY_KEYWORDS
from lineage_pipeline.engine.compile.split.walker import OPEN_PAREN, SEMICOLON, EnclosingRoutine, WalkerParts
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS, is_name_at, read_dotted_name
from lineage_pipeline.model import ir

_PARAMETER_MODES = frozenset("IN OUT INOUT VARIADIC NOCOPY".split())

_TYPE_SUFFIXES = frozenset("PRECISION VARYING WITH WITHOUT LOCAL TIME ZONE UNSIGNED".split())
"""Keywords that continue a type after its first word."""

_NOT_SCALAR_TYPES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.TABLE, TokenType.STRUCT, TokenType.ARRAY, None)
"""Token types that begin a user-defined or a non-scalar type."""


class RoutineHeaderWalker(SimpleStatementWalker):
    """Walks over the headers of routines."""

    def scalar_column(self, name: ir.Name, behind: int, end: int) -> tuple[str, ...]:
        """The only column of a SQL function that returns a value: it has the name of the function.
        In PL/pgSQL a user-defined type may be a row type.
        """
        at = self.find(("RETURNS",), behind, end) + 1
        rows = (TokenType.VAR, TokenType.IDENTIFIER) if self.family.equals else ()
        plain = self.kind(at) not in (*rows, TokenType.TABLE, None)
        return (name.parts[-1],) if at < end and plain else ()

    def read_return_type(self, behind: int, end: int) -> str:
        """The scalar type that a function returns, if it is a built-in one."""
        at = self.find(("RETURN" if self.family.plsql else "RETURNS",), behind, end) + 1
        if at >= end or self.kind(at) in _NOT_SCALAR_TYPES:
            return ""
        stop = at + 1
        while stop < end and (self.words[stop] in _TYPE_SUFFIXES or self.kind(stop) is OPEN_PAREN):
            stop = self.skip_brackets(stop) if self.kind(stop) is OPEN_PAREN else stop + 1
        if self.words[stop : stop + 1] in (["%"], ["["], ["<"]):
            return ""
        return self.read_type(at, stop)

    def read_language(self, begin: int, end: int) -> str:
        """The language that a header names."""
        at = self.find(("LANGUAGE",), begin, end)
        return self.tokens[at + 1].text.upper() if at + 1 < end else ""

    def find_body(self, index: int) -> int:
        """The index where the body of a routine begins, or the end."""
        while index < len(self.tokens) and self.tokens[index].token_type is not SEMICOLON:
            word = self.words[index]
            if self.kind(index) is OPEN_PAREN:
                index = self.skip_brackets(index)
                continue
            if word in self.family.marks and self.words[index - 1] != "EXECUTE":
                external = self.words[index + 1 : index + 2] in (["LANGUAGE"], ["EXTERNAL"])
                return len(self.tokens) if external else index + 1
            if word in self.family.opens and self.words[index - 1] not in ("CHARACTER", "CHAR"):  # … SET of a type
                return index
            index += 1
        return len(self.tokens)

    def read_parameters(self, begin: int, end: int) -> Iterator[tuple[str, ir.ColumnDef]]:
        """The parameters in parentheses, each with its mode."""
        position = 0
        while begin < end:
            stop = self.find_comma(begin, end)
            position += 1
            yield self.read_parameter(begin, stop, position)
            begin = stop + 1

    def read_parameter(self, begin: int, end: int, position: int) -> tuple[str, ir.ColumnDef]:
        """One parameter; in some languages one without a name is known by its position."""
        mode, at = "IN", begin
        while at < end - 1 and self.words[at] in _PARAMETER_MODES:
            mode = self.words[at]
            at += 1
        origin = int(self.tokens[self.index].start)
        named = at < end and (end - at > 1 or not self.family.equals) and is_name_at(self.tokens, at)
        if not named:
            return mode, ir.ColumnDef(f"@{position}", f"${position}", self.read_type(at, end))
        token, first = self.tokens[at], at + 1
        while first < end and self.words[first] in _PARAMETER_MODES:
            if self.words[first] != "NOCOPY":
                mode = "INOUT" if mode == "IN" and self.words[first] == "OUT" and first > at + 1 else self.words[first]
            first += 1
        stop = first
        while (
            stop < end and self.words[stop] != "DEFAULT" and self.kind(stop) not in (TokenType.COLON_EQ, TokenType.EQ)
        ):
            stop += 1
        start = int(token.start) - origin
        place = (start, start + len(token.text))
        default = self.text[self.tokens[stop].end + 1 : self.tokens[end - 1].end + 1].strip() if stop < end else ""
        declared = self.read_type(first, stop)
        shown = ir.ColumnDef(self.fold(token), token.text, declared, default=default, start=place[0], end=place[1])
        return mode, msgspec.structs.replace(shown, identity=True) if mode == "OUT" else shown

    def read_type(self, begin: int, end: int) -> str:
        """The type that some tokens spell."""
        if begin >= end or self.words[end - 2 : end] == ["%", "TYPE"]:
            return ""
        return parse_type(self.text[self.tokens[begin].start : self.tokens[end - 1].end + 1], self.traits.name)

    def number_parameters(self, parameters: Sequence[ir.ColumnDef]) -> WalkerParts:
        """PL/pgSQL: `$1` is another name of the first parameter."""
        if not self.family.equals or all(item.name.startswith("@") for item in parameters):
            return ()
        values = tuple(
            ir.Output(
                name="",
                written="",
                expr=ir.Variable(item.name, ir.NOWHERE, ir.NOWHERE),
                start=ir.NOWHERE,
                end=ir.NOWHERE,
            )
            for item in parameters
        )
        names = tuple(f"@{position}" for position in range(1, len(parameters) + 1))
        return ("relations", (ir.Select((), values),)), ("assigns", (ir.Assignment(names, 0, declares=True),))

    def returns_table(self, behind: int, end: int) -> bool:
        """Whether a function returns rows: CREATE TABLE FUNCTION, or RETURNS TABLE without columns."""
        head = self.words[self.index : behind]
        macro = self.find(("SQL_MACRO",), behind, end)
        if macro < end:
            return self.words[macro + 1 : macro + 3] != ["(", "SCALAR"]
        returned = self.find(("RETURNS",), behind, end) + 1
        return "TABLE FUNCTION" in " ".join(head[:6]) or self.words[returned : returned + 1] == ["TABLE"]

    def read_returned_columns(self, parameters: int, behind: int, end: int) -> tuple[ir.ColumnDef, ...]:
        """The columns of a function: RETURNS TABLE (…), or its OUT parameters."""
        at = self.find(("RETURNS",), behind, end)
        if self.words[at + 1 : at + 2] == ["TABLE"] and self.kind(at + 2) is OPEN_PAREN:
            return tuple(item for _, item in self.read_parameters(at + 3, self.skip_brackets(at + 2) - 1))
        if self.words[at + 1 : at + 3] == ["TABLE", "<"]:
            stop = self.find(self.family.marks, at, end)
            return tuple(item for _, item in self.read_parameters(at + 3, stop - 1))
        if not self.family.equals:
            return ()
        listed = self.read_parameters(parameters + 1, behind - 1) if behind > parameters else ()
        return tuple(item for mode, item in listed if mode in ("OUT", "INOUT"))


_NAME_TOKENS = (TokenType.VAR, TokenType.IDENTIFIER)
_ELEMENT_COLUMN = "COLUMN_VALUE"
"""Oracle: the name of the only column of a collection of scalars."""


class RowTypeWalker(RoutineHeaderWalker):
    """Walks over row types: CREATE TYPE, types of PL/SQL packages, functions that return rows."""

    def find_create_type(self) -> int:
        """The index of the keyword TYPE of CREATE TYPE; 0 if no type is created."""
        ahead = 1
        while self.word() == "CREATE" and self.word(ahead) in MODULE_MODIFIERS:
            ahead += 1
        known = self.word() == "CREATE" and self.word(ahead) == "TYPE" and self.word(ahead + 1) != "BODY"
        return self.index + ahead if known else 0

    def walk_create_type(self, parent: int) -> None:
        """CREATE TYPE: a row type has columns, other types have none."""
        begin, end, at = self.index, self.end(), self.find_create_type()
        if not is_name_at(self.tokens, at + 1):
            self.emit(begin, end, parent, "CREATE TYPE")
            return
        name, behind = read_dotted_name(self.tokens, at + 1, begin, self.traits)
        self.emit(begin, end, parent, "CREATE TYPE", self.read_row_type(name, behind, end))

    def walk_type(self, parent: int) -> None:
        """A type declared in a routine; one of a package can be named from elsewhere."""
        begin, end = self.index, self.end()
        if self.is_row_type(begin + 2, end):
            self.row_types.add(self.fold(self.tokens[begin + 1]))
        parts: WalkerParts = ()
        if self.words[begin] == "TYPE" and self.module.kind == "package" and self.module.name is not None:
            name, behind = read_dotted_name(self.tokens, begin + 1, begin, self.traits)
            own = ir.Name((*self.module.name.parts, *name.parts), name.written, name.start, name.end)
            parts = self.read_row_type(own, behind, end)
        self.emit(begin, end, parent, self.words[begin], parts)

    def read_row_type(self, name: ir.Name, behind: int, end: int) -> WalkerParts:
        """The definition of a row type or a collection: its own columns, or those of another type."""
        opened = next((at for at in range(behind, end) if self.kind(at) is OPEN_PAREN), end)
        collected = self.find(("OF",), behind, end)
        if collected < end and collected < opened + 4:
            first = collected + 1
            if self.kind(first) in _NAME_TOKENS:
                element = read_dotted_name(self.tokens, first, self.index, self.traits)[0]
                return (("definition", ir.Definition(name, "table type", like=element, replace=True)),)
            columns = (ir.ColumnDef(_ELEMENT_COLUMN, _ELEMENT_COLUMN, self.read_type(first, end)),)
            return (("definition", ir.Definition(name, "table type", columns, replace=True)),)
        under = self.find(("UNDER",), behind, opened)
        if under == opened and self.words[opened - 1] not in ("AS", "IS", "OBJECT", "RECORD"):
            return ()
        fields = tuple(self.read_fields(opened + 1, self.skip_brackets(opened) - 1)) if opened < end else ()
        base = read_dotted_name(self.tokens, under + 1, self.index, self.traits)[0] if under < opened else None
        return (("definition", ir.Definition(name, "table type", fields, like=base, replace=True)),)

    def read_fields(self, begin: int, end: int) -> Iterator[ir.ColumnDef]:
        """The fields of a row type, without its methods."""
        while begin < end:
            stop = self.find_comma(begin, end)
            if self.words[begin] not in METHOD_MODIFIERS and is_name_at(self.tokens, begin):
                yield self.read_parameter(begin, stop, 0)[1]
            begin = stop + 1

    def read_returned_row(self, behind: int, end: int) -> ir.Name | None:
        """The user-defined type after RETURNS, which may be a row type."""
        at = self.find(("RETURN" if self.family.plsql else "RETURNS",), behind, end) + 1
        if not (self.family.plsql or self.family.equals):
            return None
        at += self.words[at : at + 1] == ["SETOF"]
        if at >= end or self.kind(at) not in _NAME_TOKENS or self.words[at] in ("TRIGGER", "RECORD", "VOID"):
            return None
        name, after = read_dotted_name(self.tokens, at, self.index, self.traits)
        return None if self.words[after : after + 2] == ["%", "TYPE"] or self.kind(after) is OPEN_PAREN else name


_TRIGGER_ROWS = ir.Name(ir.TRIGGER_ROWS)
_DEFINER_ENDS = frozenset({*MODULE_KINDS, "VIEW", "SQL"})


class RoutineWalker(RowTypeWalker):
    """Walks over routines: procedures, functions, triggers, rules, packages, tasks and alerts."""

    @abstractmethod
    def walk_declare_section(self, ordinal: int) -> None:
        """Declarations up to BEGIN, and that keyword."""

    @abstractmethod
    def walk_block_rest(self, ordinal: int) -> None:
        """The statements after the BEGIN of a block, up to its END."""

    @abstractmethod
    def finish_block(self, ordinal: int) -> None:
        """Move behind END and its label, and extend the block to there."""

    @abstractmethod
    def label_end(self) -> int:
        """The index after a label, `<<name>>` or `name:`; 0 if there is none."""

    def find_routine_kind(self) -> int:
        """The index of the keyword that says which kind of routine is created here; 0 if none is."""
        if self.word() not in ("CREATE", "REPLACE"):
            return 0
        ahead = 1
        while self.word(ahead) in MODULE_MODIFIERS:
            ahead += 1
            if self.word(ahead - 1) == "DEFINER":
                while self.index + ahead < len(self.tokens) and self.word(ahead) not in _DEFINER_ENDS:
                    ahead += 1
        word = self.word(ahead)
        if word == "EVENT" and self.word(ahead + 1) == "TABLE":
            return 0  # Snowflake: CREATE EVENT TABLE
        known = word in MODULE_KINDS or (word == "TYPE" and self.word(ahead + 1) == "BODY")
        known = known or (word == "RULE" and self.family.equals) or (word in STATEMENT_RUNNERS and self.family.marked)
        return self.index + ahead if known else 0

    def walk_routine(self, parent: int) -> None:
        """A routine with everything inside."""
        begin = self.index
        at = self.find_routine_kind() or self.find(("PROCEDURE", "FUNCTION"), begin)
        word = self.words[at]
        name_at = at + (2 if self.words[at + 1] == "BODY" else 1)
        if self.words[name_at : name_at + 3] == ["IF", "NOT", "EXISTS"]:
            name_at += 3
        if not is_name_at(self.tokens, name_at):
            self.emit(begin, self.end(), parent)
            return
        name, behind = read_dotted_name(self.tokens, name_at, begin, self.traits)
        name = self.qualify_name(name)
        if word in ("PACKAGE", "TYPE"):
            self.walk_package(name, behind, parent)
        elif word == "TRIGGER":
            self.walk_trigger(name, behind, parent)
        elif word == "RULE":
            self.walk_rule(name, behind, parent)
        elif word in STATEMENT_RUNNERS:
            self.walk_task(word, behind, parent)
        else:
            self.walk_procedure(MODULE_KINDS[word], name, behind, parent)

    def qualify_name(self, name: ir.Name) -> ir.Name:
        """The name of a routine, with the name of the package around it."""
        around = self.module.name
        return name if around is None else msgspec.structs.replace(name, parts=(*around.parts, *name.parts))

    def walk_task(self, word: str, behind: int, parent: int) -> None:
        """Snowflake: a task or an alert with the statement or block that it runs, and the condition of an alert."""
        begin, end = self.index, self.end(behind)
        at = self.find((STATEMENT_RUNNERS[word],), behind, end)
        while self.words[at - 1] == "EXECUTE" and at < end:  # … AS USER u
            at = self.find((STATEMENT_RUNNERS[word],), at + 1, end)
        asked = self.find(("IF",), behind, at) if word == "ALERT" else at
        ordinal = self.emit(begin, min(asked + 1, end) if asked == at else asked, parent, f"CREATE {word}")
        inner = self.walk_condition(asked, at, ordinal, "IF") if asked < at else ordinal
        if at + 1 < end:
            self.walk_statement(inner)
        for opened in {inner, ordinal}:
            self.close(opened)

    def walk_package(self, name: ir.Name, behind: int, parent: int) -> None:
        """A package or its body, or the body of a type: declarations, routines, and perhaps a final block."""
        begin = self.index
        at = self.find(("IS", "AS"), behind)
        if at >= self.end(behind):
            self.emit(begin, self.end(behind), parent, "CREATE PACKAGE")
            return
        ordinal = self.emit(begin, at + 1, parent, "CREATE PACKAGE")
        outer, self.module = self.module, EnclosingRoutine("package", name)
        self.walk_declare_section(ordinal)
        if self.words[self.index - 1] == "BEGIN":
            self.walk_block_rest(ordinal)
        else:
            self.finish_block(ordinal)
        self.module = outer

    def walk_procedure(self, kind: str, name: ir.Name, behind: int, parent: int) -> None:
        """A procedure or function: parameters, what it returns, its body."""
        begin, parameters = self.index, behind
        if self.kind(behind) is OPEN_PAREN:
            behind = self.skip_brackets(behind)
        inputs = tuple(self.read_parameters(parameters + 1, behind - 1)) if behind > parameters else ()
        body, end = self.find_body(behind), self.end(behind)
        columns = self.read_returned_columns(parameters if kind == "function" else behind, behind, min(body, end))
        outputs = tuple(item.name for mode, item in inputs if mode in ("OUT", "INOUT"))
        # What a function of PL/pgSQL gives back is its row: callers hand nothing over for it.
        given = tuple(item for mode, item in inputs if mode != "OUT" or kind != "function" or not self.family.equals)
        row = self.read_returned_row(behind, min(body, end)) if kind == "function" and not columns else None
        definition = ir.Definition(name, kind, columns, like=row, replace=True, parameters=given, outputs=outputs)
        parts: WalkerParts = (("definition", definition), *self.number_parameters(given))
        label = f"CREATE {kind.upper()}"
        names = tuple(column.name for column in columns)
        if not names and kind == "function":
            names = self.scalar_column(name, behind, min(body, end))
        cursors = frozenset(item.name.lstrip("@") for _, item in inputs) if kind == "procedure" else frozenset[str]()
        inline = self.read_language(behind, end) == "SQL"
        scalar = kind == "function" and not columns and row is None
        macro = self.find(("SQL_MACRO",), behind, min(body, end))
        typed = scalar and macro >= min(body, end)  # a macro returns a text; its value has the type of what that says
        returns = self.read_return_type(behind, min(body, end)) if typed else ""
        module = EnclosingRoutine(
            kind=kind,
            name=name,
            columns=names,
            inline=inline,
            typed=row is not None,
            cursors=cursors,
            returns=returns,
            tabular=scalar and self.returns_table(behind, min(body, end)),
            macro=macro < min(body, end),
        )
        if self.words[behind : behind + 2] == ["RETURNS", "TRIGGER"]:
            module = EnclosingRoutine("trigger", name, watched=_TRIGGER_ROWS)
            parts = (("definition", definition), *self.declare_trigger_rows(_TRIGGER_ROWS))
        if body >= len(self.tokens) or body > end:
            declared = self.module.kind == "package" and self.words[begin] != "CREATE"
            self.emit(begin, end, parent, kind.upper() if declared else label, () if declared else parts)
            return
        self.walk_body(begin, body, (parent, label, parts), module)

    def walk_body(self, begin: int, body: int, row: tuple[int, str, WalkerParts], module: EnclosingRoutine) -> None:
        """The statement that creates a routine, and the statements of its body."""
        parent, label, parts = row
        if self.kind(body) in STRING_TOKENS:
            self.walk_quoted_body(begin, body, row, module)
            return
        records, first = set(self.records), self.first
        ordinal = self.emit(begin, body, parent, label, parts)
        outer, self.module, self.first = self.module, module, ordinal
        self.walk_bare_body(ordinal)
        self.module, self.records, self.first = outer, records, first
        self.close(ordinal)

    def walk_bare_body(self, ordinal: int) -> None:
        """A body that is not a string: a block, declarations and a block, a statement, a query or an expression."""
        word, begin, end = self.word(), self.index, self.end()
        if word in ("BEGIN", "DECLARE") or (word in self.family.opens and word not in QUERY_KEYWORDS):
            self.walk_statement(ordinal)
        elif self.family.plsql:
            self.walk_declare_section(ordinal)
            self.walk_block_rest(ordinal)
        elif word == "TABLE" and (self.words[begin + 1] in QUERY_KEYWORDS or self.kind(begin + 1) is OPEN_PAREN):
            self.emit_result(begin, begin + 1, end, ordinal, "SELECT")
        elif word in QUERY_KEYWORDS:
            self.walk_simple(ordinal)
        elif begin < end:
            self.emit_expression_body(ordinal, begin, end)

    def emit_expression_body(self, ordinal: int, begin: int, end: int) -> None:
        """A body that is the value of a function."""
        use = StatementRole("result", "RETURN", columns=self.module.result_columns)
        self.emit_rewritten(begin, end, ordinal, self.build_query(begin, begin, end), use)

    def walk_quoted_body(
        self, begin: int, body: int, row: tuple[int, str, WalkerParts], module: EnclosingRoutine
    ) -> None:
        """A body in a string: read as SQL, or reported if it is in a foreign language."""
        parent, label, parts = row
        end = self.end(body)
        language = self.read_language(begin, end)
        if language and language not in self.family.languages:
            named = ".".join(module.name.parts) if module.name is not None else label
            place = int(self.tokens[body].start) - int(self.tokens[begin].start)
            size = int(self.tokens[body].end) + 1 - int(self.tokens[body].start)
            values = (("name", named), ("language", language))
            finding = ir.Finding("FOREIGN_BODY", values, place, place + size)
            ordinal = self.emit(begin, end, parent, label, (*parts, ("findings", (finding,))))
            runs_sql = module.kind != "function" or language.startswith("PL")  # plpython, plperl …
            constants = tokenize_constants(self.tokens[body], self.text, language, self.traits) if runs_sql else ()
            for constant in constants:
                self.walk_inside(constant, EnclosingRoutine(module.kind, module.name)).walk_script(ordinal)
            return
        inner = tokenize_body(self.tokens[body], self.text, self.traits)
        if isinstance(inner, ParseFailure):
            place = int(self.tokens[begin].start)
            finding = ir.Finding("PARSE_ERROR", (("reason", inner.reason),), inner.start - place, inner.end - place)
            self.emit(begin, end, parent, label, (*parts, ("status", "failed"), ("findings", (finding,))))
            return
        ordinal = self.emit(begin, end, parent, label, parts)
        if inner:
            self.walk_inside(inner, module).walk_body_contents(ordinal)

    def walk_body_contents(self, ordinal: int) -> None:
        """The code of a quoted body: statements, or one expression."""
        known = self.family.equals or self.module.kind != "function"
        if known or self.word() in QUERY_KEYWORDS or self.word() in ("BEGIN", "DECLARE") or self.label_end():
            self.walk_script(ordinal)
        else:
            self.emit_expression_body(ordinal, 0, self.end(0))

    def walk_trigger(self, name: ir.Name, behind: int, parent: int) -> None:
        """A trigger: the rows that it sees are rows of its table."""
        begin, end = self.index, self.end(behind)
        on = self.find(("ON",), behind, end)
        watched = read_dotted_name(self.tokens, on + 1, begin, self.traits)[0] if on + 1 < end else None
        transitions = tuple(self.read_transition_tables(on, end))
        definition = ir.Definition(name, "trigger", replace=True, watches=watched, header=transitions)
        named = dict(self.read_row_aliases(on, end))
        parts: WalkerParts = (("definition", definition), *self.declare_trigger_rows(watched, tuple(named.values())))
        module = EnclosingRoutine("trigger", name, watched=watched, row=named.get(self.family.rows[0], ""))
        called = self.find(("EXECUTE",), on, end)
        if called + 2 < end and self.words[called + 1] in ("FUNCTION", "PROCEDURE"):
            function = read_dotted_name(self.tokens, called + 2, begin, self.traits)[0]
            self.emit(begin, end, parent, "CREATE TRIGGER", (*parts, ("calls", (ir.Invocation(function),))))
            return
        row = self.find(("ROW",), on, end)
        body = self.find_body(row + 1 if row < end else on + 2)
        if body >= len(self.tokens):
            self.emit(begin, end, parent, "CREATE TRIGGER", parts)
            return
        if self.words[body] == "COMPOUND":
            ordinal = self.emit(begin, body + 2, parent, "CREATE TRIGGER", parts)
            outer, self.module = self.module, module
            self.walk_declare_section(ordinal)
            self.module = outer
            self.finish_block(ordinal)
            return
        self.walk_body(begin, body, (parent, "CREATE TRIGGER", parts), module)

    def walk_rule(self, name: ir.Name, behind: int, parent: int) -> None:
        """PostgreSQL: CREATE RULE runs statements beside or instead of a write, and sees its rows."""
        begin, end = self.index, self.end(behind)
        to = self.find(("TO",), behind, end)
        first = self.find(("DO",), to, end) + 1
        first += self.words[first : first + 1] in (["ALSO"], ["INSTEAD"])
        if first >= end or self.words[first] == "NOTHING":
            self.emit(begin, end, parent, "CREATE RULE")
            return
        watched = read_dotted_name(self.tokens, to + 1, begin, self.traits)[0]
        last = end
        if self.kind(first) is OPEN_PAREN:
            first, end = first + 1, self.skip_brackets(first)
            last = end - 1
        definition = ir.Definition(name, "trigger", replace=True, watches=watched)
        body = self.tokens[first:last]
        ordinal = self.emit(
            begin, end, parent, "CREATE RULE", (("definition", definition), *self.declare_trigger_rows(watched))
        )
        self.walk_inside(body, EnclosingRoutine("trigger", name, watched=watched)).walk_script(ordinal)

    def read_transition_tables(self, begin: int, end: int) -> Iterator[str]:
        """The names of REFERENCING NEW TABLE AS name."""
        if self.find(("REFERENCING",), begin, end) < end:
            for at in range(begin, end - 2):
                if self.words[at] in self.family.rows and self.words[at + 1] == "TABLE":
                    yield self.fold(self.tokens[at + (3 if self.words[at + 2] == "AS" else 2)])

    def read_row_aliases(self, begin: int, end: int) -> Iterator[tuple[str, str]]:
        """The names of REFERENCING NEW AS name."""
        first = self.find(("REFERENCING",), begin, end)
        for at in range(first, min(first + 8, end - 2)):
            named = at + (2 if self.words[at + 1] == "AS" else 1)
            if self.words[at] in self.family.rows and self.words[named] not in ("TABLE", "ROW"):
                yield self.words[at], self.fold(self.tokens[named])

    def declare_trigger_rows(self, watched: ir.Name | None, others: tuple[str, ...] = ()) -> WalkerParts:
        """The new and the old row as records with the columns of the trigger's table, and its row number if used."""
        if watched is None:
            return ()
        table = watched.parts[-1]
        everything = ir.Select((ir.Source(table, name=watched),), (*ALL_COLUMNS, *self.read_row_pseudo_columns(table)))
        # The words are the language's own: case does not matter, even where it does in names of sources.
        spelt = [word for row in self.family.rows for word in (row, row.lower())]
        kinds = (self.traits.columns, self.traits.aliases or self.traits.tables)
        called = [fold_identifier(word, False, kind) for word in spelt for kind in kinds]
        names = dict.fromkeys([*called, *others])
        self.records.update(names)
        assigns = tuple(ir.Assignment((row,), 0, row=True, declares=True) for row in names)
        return ("relations", (everything,)), ("assigns", assigns)

    def read_row_pseudo_columns(self, table: str) -> Iterator[ir.Output]:
        """SQLite, Oracle: columns of the engine's own that the script takes from a row, `new.rowid`."""
        pseudo = self.traits.table_pseudo_columns
        used = {word for at, word in enumerate(self.words) if word in pseudo and self.words[max(at - 1, 0)] == "."}
        for word in sorted(used):
            name = fold_identifier(word.lower(), False, self.traits.columns)
            expr = ir.Ref((table, name), ir.NOWHERE, ir.NOWHERE)
            yield ir.Output(name, name, expr, ir.NOWHERE, ir.NOWHERE)

    def walk_do(self, parent: int) -> None:
        """DO: a block in a string, or an expression whose value is not used."""
        begin, end = self.index, self.end()
        texts = (
            at for at in range(begin, end) if self.kind(at) in STRING_TOKENS and self.word(at - 1 - begin) != "LANGUAGE"
        )
        body = next(texts, end)
        if body == end:
            self.emit(begin, end, parent, "DO")
            return
        self.walk_quoted_body(begin, body, (parent, "DO", ()), EnclosingRoutine("do"))


_WITH_FUNCTION = re.compile(r"\bwith\s+(?:function|procedure)\b", re.IGNORECASE)
_ROUTINE_KEYWORDS = ("FUNCTION", "PROCEDURE")


class InlineFunctionWalker(RoutineWalker):
    """Walks over queries with inline functions: Oracle's `WITH FUNCTION f … END; SELECT f(a) FROM t`."""

    _with_functions: list[int] | None = None

    def find_with_function(self) -> int:
        """The index of the WITH before inline functions of the current statement; -1 if it has none."""
        if self._with_functions is None:
            asked = self.family.plsql and _WITH_FUNCTION.search(self.text) is not None
            words = self.words if asked else []
            self._with_functions = [
                at for at in range(len(words) - 1) if words[at] == "WITH" and words[at + 1] in _ROUTINE_KEYWORDS
            ]
        following = bisect_left(self._with_functions, self.index) if self._with_functions else 0
        if following < len(self._with_functions) and self._with_functions[following] < self.end():
            return self._with_functions[following]
        return -1

    def needs_walk(self) -> bool:
        """Whether a statement outside routines needs the walker before the parser."""
        return self.fills_variables() or self.find_with_function() >= 0

    def walk_simple(self, parent: int) -> None:
        """A statement, with its inline functions inside."""
        begin, head = self.index, self.find_with_function()
        if head < 0:
            super().walk_simple(parent)
            return
        ordinal = self.emit(begin, head + 1, parent)
        while self.word() in _ROUTINE_KEYWORDS:
            self.walk_routine(ordinal)
            while self.kind(self.index) is SEMICOLON:
                self.index += 1
        first, end = self.index, self.end()
        common = self.word() not in ("SELECT", "(")  # further names behind the functions
        tokens = [*self.tokens[begin : head + common], *self.tokens[first:end]]
        start, stop = int(self.tokens[begin].start), int(self.tokens[end - 1].end) + 1
        self.pieces[ordinal] = RawStatement(self.strip_record_colons(tokens), parent, begin=start, stop=stop)
        self.index = end
