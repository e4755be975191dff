"""Splits procedural T-SQL: routines, blocks, branches and statements, none of which needs a semicolon.
Which keywords begin a statement, and which only seem to, is in the tables of `dialects.tsql`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.dialects.tsql import (
    CONTINUATIONS,
    EXPECTED_WORDS,
    MODULE_OPTIONS,
    NOT_PROCEDURES,
    SILENT_BATCH_STATEMENTS,
    SQLCMD_COMMANDS,
    STATEMENT_STARTS,
)
from lineage_pipeline.engine.compile.expressions.data_types import NOT_A_TYPE, spell_type
from lineage_pipeline.engine.compile.split.raw_statements import DynamicExecution, RawStatement, StatementRole
from lineage_pipeline.engine.compile.tokens import (
    TEXT_TOKENS,
    is_name_at,
    keyword,
    read_dotted_name,
    skip_brackets,
    synthetic_token,
)
from lineage_pipeline.model import ir

_STRING_TOKENS = (TokenType.STRING, TokenType.NATIONAL_STRING)
_NAME_TOKENS = (TokenType.VAR, TokenType.IDENTIFIER)
_EXECUTE_SQL_PROCEDURE = "sp_executesql"

ExecParts = tuple[tuple[str, object], ...]


def read_exec(tokens: Sequence[Token], call: int, traits: DialectTraits) -> ExecParts | DynamicExecution:
    """What a statement with EXEC at `call` does; an INSERT may precede it."""
    index, returned = _skip_status(tokens, call + 1)
    target, columns = _read_insert_target(tokens, call, traits) if call > 0 else (None, None)
    if index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN:
        end = skip_brackets(tokens, index)
        return DynamicExecution(tuple(_first_argument(tokens[index + 1 : end - 1])), target=target, columns=columns)
    if not is_name_at(tokens, index):
        return DynamicExecution((), target=target, columns=columns)
    name, after = read_dotted_name(tokens, index, 0, traits)
    if after < len(tokens) and keyword(tokens[after]) == ";":
        after += 2  # the number of one of several procedures of the same name
    arguments, options = _read_arguments(tokens, after)
    if name.parts[-1] == "sp_rename" and (found := read_sp_rename(tokens, traits)):
        return found
    if name.parts[-1] == _EXECUTE_SQL_PROCEDURE:
        return _read_execute_sql(tokens, arguments, target, columns)
    return _build_call(tokens, name, arguments, options, (returned, target, columns), traits)


def _skip_status(tokens: Sequence[Token], index: int) -> tuple[int, str]:
    """The index after `@status =`, and that variable."""
    if index + 2 < len(tokens) and tokens[index].token_type is TokenType.PARAMETER:
        if tokens[index + 2].token_type is TokenType.EQ:
            return index + 3, "@" + tokens[index + 1].text.lower()
        return len(tokens), ""  # the name of the procedure is in a variable
    return index, ""


def _first_argument(tokens: Sequence[Token]) -> Sequence[Token]:
    """The text of `EXEC (text, argument, …)`."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.COMMA:
            return tokens[:index]
    return tokens


def _read_insert_target(
    tokens: Sequence[Token], call: int, traits: DialectTraits
) -> tuple[ir.Name, tuple[str, ...] | None]:
    """The target between INSERT and EXEC, and its column list if there is one."""
    at = 2 if keyword(tokens[1]) == "INTO" else 1
    if tokens[at].token_type is TokenType.PARAMETER:
        start, end = tokens[at].start - tokens[0].start, tokens[at + 1].end + 1 - tokens[0].start
        name, after = ir.Name(("@" + tokens[at + 1].text.lower(),), "@" + tokens[at + 1].text, start, end), at + 2
    else:
        name, after = read_dotted_name(tokens, at, 0, traits)
    while after < call and tokens[after].token_type is not TokenType.L_PAREN:
        after += 1
    listed = tokens[after:call] if after and keyword(tokens[after - 1]) != "WITH" else ()
    columns = tuple(
        fold_identifier(token.text, False, traits.columns) for token in listed if token.token_type in _NAME_TOKENS
    )
    return name, columns or None


class ExecArgument(msgspec.Struct, frozen=True):
    """One argument of a call: the parameter it names, its value, its tokens, and the variable of OUTPUT."""

    name: str
    value: ir.Expr
    tokens: tuple[Token, ...]
    into: str = ""


def _read_arguments(tokens: Sequence[Token], index: int) -> tuple[list[ExecArgument], int]:
    """The arguments after the name of a procedure, and the index after them."""
    end = index
    while end < len(tokens) and keyword(tokens[end]) not in ("WITH", "AT"):
        end += 1
    found = []
    for part in _split_arguments(tokens[index:end]):
        found.append(_read_argument(part, tokens[0].start))
    return found, end


def _split_arguments(tokens: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    begin = 0
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.COMMA:
            yield tuple(tokens[begin:index])
            begin = index + 1
    if begin < len(tokens):
        yield tuple(tokens[begin:])


def _read_argument(tokens: tuple[Token, ...], origin: int) -> ExecArgument:
    name = ""
    if len(tokens) > 2 and tokens[0].token_type is TokenType.PARAMETER and tokens[2].token_type is TokenType.EQ:
        name, tokens = "@" + tokens[1].text.lower(), tokens[3:]
    back = len(tokens) > 2 and keyword(tokens[-1]) in ("OUT", "OUTPUT")
    tokens = tokens[:-1] if back else tokens
    value = _read_argument_value(tokens, origin)
    return ExecArgument(name, value, tokens, value.name if back and isinstance(value, ir.Variable) else "")


def _read_argument_value(tokens: Sequence[Token], origin: int) -> ir.Expr:
    """An argument: a variable or a constant, since nothing else is allowed."""
    if not tokens:
        return ir.Literal("null", "NULL")
    first = tokens[0]
    if first.token_type is TokenType.PARAMETER and len(tokens) == 2:
        return ir.Variable("@" + tokens[1].text.lower(), first.start - origin, tokens[1].end + 1 - origin)
    if first.token_type in _STRING_TOKENS:
        return ir.Literal("string", first.text)
    if first.token_type is TokenType.NULL:
        return ir.Literal("null", "NULL")
    text = "".join(token.text for token in tokens)
    return ir.Literal("number" if tokens[-1].token_type is TokenType.NUMBER else "word", text)


def _read_execute_sql(
    tokens: Sequence[Token], arguments: Sequence[ExecArgument], target: ir.Name | None, columns: tuple[str, ...] | None
) -> DynamicExecution:
    """`sp_executesql text, declarations, arguments`, by position or by name."""
    named = {argument.name: argument for argument in arguments if argument.name}
    text = named.get("@stmt") or named.get("@statement") or (arguments[0] if arguments else None)
    declared = named.get("@params") or named.get("@parameters") or (arguments[1] if len(arguments) > 1 else None)
    given = tuple((item.name, item.value) for item in arguments if item not in (text, declared))
    return DynamicExecution(
        text=text.tokens if text is not None else (),
        declared=declared.tokens if declared is not None else (),
        given=given,
        target=target,
        columns=columns,
    )


def _build_call(
    tokens: Sequence[Token],
    name: ir.Name,
    arguments: Sequence[ExecArgument],
    options: int,
    received: tuple[str, ir.Name | None, tuple[str, ...] | None],
    traits: DialectTraits,
) -> ExecParts:
    returned, target, columns = received
    invocation = ir.Invocation(
        name,
        tuple(argument.value for argument in arguments),
        tuple(argument.name for argument in arguments),
        tuple(argument.into for argument in arguments),
    )
    status = ir.Assignment((returned,), ir.NOWHERE) if returned else None
    parts: ExecParts = (("calls", (invocation,)), ("assigns", (status,) if status is not None else ()))
    everything = ir.Select((ir.Source("", name=name),), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    if target is not None:
        return (*parts, ("relations", (everything,)), ("writes", (ir.Write(target, 0, "insert", columns),)))
    sets = _read_result_sets(tokens[options:], traits)
    if sets:
        return (*parts, ("relations", (everything, ir.Renamed(0, sets))), ("result", 1))
    return parts


def _read_result_sets(tokens: Sequence[Token], traits: DialectTraits) -> tuple[str, ...]:
    """The column names of the first set in `WITH RESULT SETS ((a int, b int))`."""
    words = [keyword(token) for token in tokens[:5]]
    if words != ["WITH", "RESULT", "SETS", "(", "("]:
        return ()
    names, depth = [], 2
    for index, token in enumerate(tokens[5:], 5):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth < 2:
            break
        before = tokens[index - 1].token_type
        if depth == 2 and before in (TokenType.L_PAREN, TokenType.COMMA) and is_name_at(tokens, index):
            names.append(fold_identifier(token.text, False, traits.columns))
    return tuple(names)


_NAME_PART = re.compile(r'\[([^\]]*)\]|"([^"]*)"|([^.]+)')


def read_sp_rename(tokens: Sequence[Token], traits: DialectTraits) -> tuple[tuple[str, Any], ...]:
    """The alteration that sp_rename makes, if its arguments are constants."""
    given = [token for token in tokens if token.token_type in TEXT_TOKENS]
    if len(given) < 2:
        return ()
    parts = tuple("".join(match) for match in _NAME_PART.findall(given[0].text))
    place = given[0].start - tokens[0].start, given[0].end + 1 - tokens[0].start
    new = given[1].text
    if len(given) > 2 and given[2].text.upper() == "COLUMN":
        table = ir.Name(tuple(fold_identifier(part, True, traits.tables) for part in parts[:-1]), parts[-2], *place)
        column = ir.ColumnDef(fold_identifier(new, True, traits.columns), new, "")
        change = ir.Alteration(table, "rename", fold_identifier(parts[-1], True, traits.columns), column)
    elif len(given) > 2 and given[2].text.upper() != "OBJECT":
        return ()
    else:
        name = ir.Name(tuple(fold_identifier(part, True, traits.tables) for part in parts), parts[-1], *place)
        change = ir.Alteration(name, "rename table", to=ir.Name((fold_identifier(new, True, traits.tables),), new))
    return (("alterations", (change,)),)


_COLON_TOKEN = TokenType.COLON
_NAME_PREFIXES = frozenset({"@", ".", "#", "##"})
_BOUNDARY_KEYWORDS = STATEMENT_STARTS | _NAME_PREFIXES | {"(", ")", ";", ":", "CASE", "END", "VALUES"}
"""Keywords and signs that decide where a statement ends."""


class BatchReader:
    """Reads a T-SQL batch; a token after `@` or a dot is a name and not a keyword."""

    def __init__(self, tokens: Sequence[Token], words: list[str], traits: DialectTraits) -> None:
        """Start at the first token."""
        self.tokens = tokens
        self.words = [*words, ""]  # what stands behind the last mark may be looked at
        self.marks = []
        for index in [index for index, word in enumerate(words) if word in _BOUNDARY_KEYWORDS]:
            word = self.words[index]
            if word in _NAME_PREFIXES:
                self.words[index + 1] = ""
            elif word == "END" and self.words[index + 1] == "CONVERSATION":  # which ends no block
                self.words[index] = "END CONVERSATION"
                self.marks.append(index)
            elif word:
                self.marks.append(index)
        self.words.pop()
        self.traits = traits
        self.index = 0

    def word(self, ahead: int = 0) -> str:
        """The keyword at or ahead of the current token."""
        index = self.index + ahead
        return self.words[index] if index < len(self.words) else ""

    def is_label(self) -> bool:
        """Whether `name:` comes next."""
        if self.index + 1 >= len(self.tokens) or not self.tokens[self.index].text.isidentifier():
            return False
        if self.word() in STATEMENT_STARTS or self.tokens[self.index].token_type in (
            TokenType.IDENTIFIER,
            TokenType.STRING,
        ):
            return False
        return self.tokens[self.index + 1].token_type is _COLON_TOKEN and not self.is_directive(self.index + 1)

    def is_directive(self, index: int) -> bool:
        """Whether a sqlcmd command begins at a token: a colon at the start of a line and a known word."""
        if self.tokens[index].token_type is not _COLON_TOKEN or index + 1 >= len(self.tokens):
            return False
        first = index == 0 or self.tokens[index - 1].line < self.tokens[index].line
        return first and self.words[index + 1] in SQLCMD_COMMANDS

    def line_end(self) -> int:
        """The index after the last token on the current line."""
        end = self.index
        while end < len(self.tokens) and self.tokens[end].line == self.tokens[self.index].line:
            end += 1
        return end

    def condition_end(self) -> int:
        """The index of the statement that follows a condition."""
        depth = cases = 0
        for position in range(bisect_right(self.marks, self.index), len(self.marks)):
            index = self.marks[position]
            word = self.words[index]
            depth += (word == "(") - (word == ")")
            closing = word == "END" and cases > 0
            cases += (word == "CASE") - closing
            called = word == "UPDATE" and self.words[index + 1 : index + 2] == ["("]
            if depth == 0 and (word == ";" or (cases == 0 and word in STATEMENT_STARTS and not (called or closing))):
                return index
        return len(self.tokens)

    def statement_end(self) -> int:
        """The index after a plain statement."""
        first = self.word()
        expected = EXPECTED_WORDS.get(first, frozenset())
        depth, cases = int(first == "("), 0  # a query in brackets
        for position in range(bisect_right(self.marks, self.index), len(self.marks)):
            index = self.marks[position]
            word = self.words[index]
            depth += (word == "(") - (word == ")")
            closing = word == "END" and cases > 0
            cases += (word == "CASE") - closing
            if depth or cases or closing:
                continue
            if word == ";" or (word == ":" and self.is_directive(index)):
                return index
            if word == ":" and index > self.index + 1:
                return index - 1  # a label
            if word == "VALUES" and first == "INSERT":
                expected = frozenset()
            elif word in expected:
                expected = EXPECTED_WORDS.get(word, frozenset())
                first = word if first == "WITH" else first
            elif word in STATEMENT_STARTS:
                if not self.belongs_to_statement(first, index):
                    return index
                if self.words[index - 1] in ("AS", "RETURN", "FOR"):
                    expected = EXPECTED_WORDS.get(word, frozenset())
        return len(self.tokens)

    def belongs_to_statement(self, first: str, index: int) -> bool:
        """Whether a keyword that could begin a statement is part of the one that `first` began."""
        word, before = self.words[index], self.words[index - 1]
        after = self.words[index + 1] if index + 1 < len(self.words) else ""
        if word == "WITH" and not self.begins_cte(index):
            return True
        if word == "UPDATE" and after == "(":
            return True
        return any(
            word in row.words
            and (not row.first or first in row.first)
            and (not row.before or before in row.before)
            and after not in row.unless
            for row in CONTINUATIONS
        )

    def begins_cte(self, index: int) -> bool:
        """Whether a WITH begins common table expressions, and not a hint or an option."""
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        if following is None or following.token_type is TokenType.L_PAREN or self.words[index + 1] in MODULE_OPTIONS:
            return False
        if self.words[index + 1] == "XMLNAMESPACES":
            return True
        after = index + 2
        if after < len(self.tokens) and self.tokens[after].token_type is TokenType.L_PAREN:
            after = skip_brackets(self.tokens, after)
        return after < len(self.tokens) and self.words[after] == "AS"

    def header_end(self, index: int) -> int:
        """The index after the AS that begins the body of a routine."""
        depth = 0
        while index < len(self.tokens):
            kind = self.tokens[index].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            somebody = self.words[index - 1] in ("EXEC", "EXECUTE")  # who runs it: OWNER, or a user's name in quotes
            declared = index > 1 and self.tokens[index - 2].token_type is TokenType.PARAMETER  # `@name AS type`
            if depth == 0 and self.words[index] == "AS" and not (declared or somebody):
                return index + 1
            if depth == 0 and self.words[index] in ("BEGIN", "RETURN"):
                return index
            index += 1
        return index


_OPEN_PAREN, _CLOSE_PAREN = TokenType.L_PAREN, TokenType.R_PAREN
_NOT_IN_TYPES = frozenset("AS NULL NOT VARYING OUT OUTPUT READONLY =".split())
_HEADER_END_KEYWORDS = frozenset("RETURNS WITH FOR AS BEGIN".split())


class RoutineHeader(msgspec.Struct, frozen=True):
    """What the header of a T-SQL routine declares.
    A function that fills a `table` variable returns it, an `inline` one is a query; a trigger `watches` a table.
    """

    kind: str
    name: ir.Name
    parameters: tuple[ir.ColumnDef, ...]
    outputs: tuple[str, ...] = ()
    inline: bool = False
    table: str = ""
    watches: ir.Name | None = None
    rows: tuple[RawStatement, ...] = ()
    returns: tuple[Token, ...] = ()

    def parts(self) -> tuple[tuple[str, object], ...]:
        """The fields of the statement that creates the routine."""
        definition = ir.Definition(
            self.name,
            self.kind.lower(),
            replace=True,
            parameters=self.parameters,
            outputs=self.outputs,
            watches=self.watches,
        )
        return ("definition", definition), ("reads", (self.watches,) if self.watches is not None else ())

    def table_variables(self, parent: int) -> list[RawStatement]:
        """The table variables of the header, as statements inside the routine."""
        return [msgspec.structs.replace(piece, parent=parent) for piece in self.rows]


def read_routine_header(
    kind: str, name: ir.Name, tokens: Sequence[Token], origin: int, traits: DialectTraits
) -> RoutineHeader:
    """The header of a routine; `tokens` begin after its name, spans are relative to `origin`."""
    parts = list(_split_parameters(tokens))
    words = [keyword(token) for token in tokens]
    returns = words.index("RETURNS") + 1 if "RETURNS" in words else len(words)
    table, rows = "", [piece for part in parts for piece in _read_table_parameter(part, traits)]
    if returns + 2 < len(tokens) and tokens[returns].token_type is TokenType.PARAMETER:
        table = "@" + tokens[returns + 1].text.lower()
        end = skip_brackets(tokens, returns + 3)
        before = tokens[returns - 1]
        declares = Token(TokenType.DECLARE, "DECLARE", before.line, before.col, before.start, before.end)
        rows.append(RawStatement([declares, *tokens[returns:end]]))
    return RoutineHeader(
        kind=kind,
        name=name,
        parameters=tuple(_read_parameter(part, origin, traits) for part in parts),
        outputs=tuple("@" + part[1].text.lower() for part in parts if _has_keyword(part, "OUT", "OUTPUT")),
        inline=words[returns : returns + 1] == ["TABLE"],
        table=table,
        watches=_read_trigger_table(tokens, words, origin, traits) if kind == "TRIGGER" else None,
        rows=tuple(rows),
        returns=tuple(takewhile(lambda token: keyword(token) not in _HEADER_END_KEYWORDS, tokens[returns:])),
    )


def _has_keyword(tokens: Sequence[Token], *words: str) -> bool:
    return any(keyword(token) in words for token in tokens[2:])


def _read_trigger_table(
    tokens: Sequence[Token], words: Sequence[str], origin: int, traits: DialectTraits
) -> ir.Name | None:
    """The table or view of a trigger; a trigger on a database or server has none."""
    at = words.index("ON") + 1 if "ON" in words else len(words)
    if at >= len(tokens) or words[at] in ("DATABASE", "ALL") or not is_name_at(tokens, at):
        return None
    name, _ = read_dotted_name(tokens, at, 0, traits)
    moved = int(tokens[0].start) - origin
    return msgspec.structs.replace(name, start=name.start + moved, end=name.end + moved)


def _read_table_parameter(tokens: Sequence[Token], traits: DialectTraits) -> Iterator[RawStatement]:
    """`@rows dbo.ids READONLY`: a table with the columns of its type."""
    if _has_keyword(tokens, "READONLY"):
        yield build_table_variable(tokens, 2 + (keyword(tokens[2]) == "AS"), traits)


def build_table_variable(tokens: Sequence[Token], type_at: int, traits: DialectTraits) -> RawStatement:
    """A variable, the first two of the tokens, that is a table of a named type."""
    kind, _ = read_dotted_name(tokens, type_at, 0, traits)
    size = tokens[1].end + 1 - tokens[0].start
    name = ir.Name(("@" + tokens[1].text.lower(),), "@" + tokens[1].text, 0, size)
    definition = ir.Definition(name, "table", like=kind, temporary=True, replace=True)
    return RawStatement(tokens, kind="DECLARE", parts=(("definition", definition),))


def _split_parameters(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of each parameter: from its `@` to the comma or parenthesis after it."""
    depth, begin = 0, -1
    base = 1 if tokens and tokens[0].token_type is _OPEN_PAREN else 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is _OPEN_PAREN) - (token.token_type is _CLOSE_PAREN)
        word = keyword(token) if depth == base and tokens[index - 1].token_type is not TokenType.PARAMETER else ""
        ended = depth < base or word in _HEADER_END_KEYWORDS - {"AS" if begin >= 0 else ""}
        if begin >= 0 and (ended or (token.token_type is TokenType.COMMA and depth == base)):
            yield tokens[begin:index]
            begin = -1
        if ended:
            return
        if begin < 0 and depth == base and token.token_type is TokenType.PARAMETER:
            begin = index
    if begin >= 0:
        yield tokens[begin:]


def _read_parameter(tokens: Sequence[Token], origin: int, traits: DialectTraits) -> ir.ColumnDef:
    name = tokens[1] if len(tokens) > 1 else tokens[0]
    declared: list[str] = []
    default = ""
    for index, token in enumerate(tokens[2:], 2):
        if token.token_type is TokenType.EQ:
            default = "".join(item.text for item in tokens[index + 1 :] if keyword(item) not in _NOT_IN_TYPES)
            break
        if keyword(token) not in _NOT_IN_TYPES:
            declared.append(token.text)
    return ir.ColumnDef(
        "@" + name.text.lower(),
        "@" + name.text,
        _read_type(declared, traits),
        default=default,
        start=tokens[0].start - origin,
        end=name.end + 1 - origin,
    )


def _read_type(words: Sequence[str], traits: DialectTraits) -> str:
    text = "".join(words)
    try:
        return spell_type(exp.DataType.build(text, dialect=traits.name, udt=True), traits.name) if text else ""
    except NOT_A_TYPE:
        return text.upper()


ALL_COLUMNS = (ir.Star((), ir.NOWHERE, ir.NOWHERE),)
_CURSOR_QUERY_ENDS = (["FOR", "UPDATE"], ["FOR", "READ"])

_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "INSERT", "UPDATE", "DELETE"})

StatementParts = tuple[tuple[str, object], ...]


class CursorSplitter(BatchReader):
    """Emits the raw statements of a batch, and reads cursors; `ordinal` is the number of the first one in the file."""

    def __init__(self, tokens: Sequence[Token], words: list[str], traits: DialectTraits, ordinal: int) -> None:
        """Start at the first token of a batch."""
        super().__init__(tokens, words, traits)
        self.ordinal = ordinal
        self.pieces: list[RawStatement] = []
        self.header: RoutineHeader | None = None

    def emit(self, begin: int, end: int, parent: int, kind: str | None = None, parts: StatementParts = ()) -> int:
        """Add a raw statement, move behind it, and return its position in the list."""
        words = self.words[begin:end] if kind is None else ()
        self.pieces.append(RawStatement(self.tokens[begin:end], parent, kind, parts, words=words))
        self.index = end
        return len(self.pieces) - 1

    def emit_rewritten(self, begin: int, end: int, parent: int, tokens: list[Token], use: StatementRole) -> int:
        """Add a raw statement whose tokens are rewritten and have a role."""
        start, stop = int(self.tokens[begin].start), int(self.tokens[end - 1].end) + 1
        self.pieces.append(RawStatement(tokens, parent, begin=start, stop=stop, use=use))
        self.index = end
        return len(self.pieces) - 1

    def close(self, place: int) -> None:
        """Extend a statement with others inside to the current position."""
        stop = int(self.tokens[self.index - 1].end) + 1
        self.pieces[place] = msgspec.structs.replace(self.pieces[place], stop=stop)

    def split_plain(self, parent: int) -> None:
        """A statement without others inside."""
        self.emit(self.index, self.statement_end(), parent)

    def split_declare(self, parent: int) -> None:
        """DECLARE: a cursor over a query, or variables."""
        begin, end = self.index, self.statement_end()
        at = next((index for index in range(begin, end) if self.words[index] == "CURSOR"), end)
        if at < end:
            self.split_cursor(begin, at, end, parent)
        elif self.is_table_of_type(begin, end):
            piece = build_table_variable(self.tokens[begin + 1 : end], 2 + (self.words[begin + 3] == "AS"), self.traits)
            self.emit(
                begin,
                end,
                parent,
                "DECLARE",
                _shift_definition(piece, int(piece.start) - int(self.tokens[begin].start)),
            )
        else:
            self.emit(begin, end, parent)

    def is_table_of_type(self, begin: int, end: int) -> bool:
        """Whether `DECLARE @rows name` declares a table: its type is not built in, and it is used as a table."""
        if end - begin not in (4, 5, 6, 7) or any(word in ("=", ",", "(") for word in self.words[begin:end]):
            return False
        kind = self.tokens[begin + 3 + (self.words[begin + 3] == "AS")]
        if kind.token_type not in (TokenType.VAR, TokenType.IDENTIFIER):
            return False
        name = self.tokens[begin + 2].text.lower()
        return any(
            token.text.lower() == name and self.words[index - 1] == "@" and self.words[index - 2] in _BEFORE_TABLES
            for index, token in enumerate(self.tokens[end:], end)
        )

    def split_set(self, parent: int) -> None:
        """SET: a cursor in a variable, other variables, options."""
        if self.word(4) == "CURSOR":
            self.split_cursor(self.index, self.index + 4, self.statement_end(), parent)
        else:
            self.split_plain(parent)

    def split_cursor(self, begin: int, at: int, end: int, parent: int) -> None:
        """A cursor is a record that holds the columns of its query."""
        query = next((index for index in range(at, end) if self.words[index] == "FOR"), end)
        stop = next(
            (index for index in range(query + 1, end) if self.words[index : index + 2] in _CURSOR_QUERY_ENDS), end
        )
        if query + 1 >= stop:
            self.emit(begin, end, parent, self.words[begin])
            return
        use = StatementRole("row", self.words[begin], (self.read_cursor_name(begin + 1),))
        self.emit_rewritten(begin, end, parent, list(self.tokens[query + 1 : stop]), use)

    def read_cursor_name(self, index: int) -> str:
        """The name of a cursor, or of the variable that holds one."""
        if self.tokens[index].token_type is TokenType.PARAMETER:
            return "@" + self.tokens[index + 1].text.lower()
        return self.tokens[index].text.lower()

    def split_fetch(self, parent: int) -> None:
        """FETCH assigns the columns of a cursor to variables, by position."""
        begin, end = self.index, self.statement_end()
        into = next((index for index in range(begin, end) if self.words[index] == "INTO"), end)
        marked = self.tokens[into - 2].token_type is TokenType.PARAMETER
        row = ir.Select((ir.Source("", record=self.read_cursor_name(into - 2 if marked else into - 1)),), ALL_COLUMNS)
        names = tuple(
            "@" + self.tokens[index + 1].text.lower()
            for index in range(into, end - 1)
            if self.tokens[index].token_type is TokenType.PARAMETER
        )
        parts: StatementParts = (("relations", (row,)), ("assigns", (ir.Assignment(names, 0),))) if names else ()
        self.emit(begin, end, parent, "FETCH", parts)


def _shift_definition(piece: RawStatement, distance: int) -> StatementParts:
    """The fields of a raw statement that begins `distance` characters after the statement it becomes."""
    definition = dict(piece.parts)["definition"]
    names = {
        key: msgspec.structs.replace(name, start=name.start + distance, end=name.end + distance)
        for key, name in (("name", definition.name), ("like", definition.like))
    }
    return (("definition", msgspec.structs.replace(definition, **names)),)


_OPEN, _SEMICOLON = TokenType.L_PAREN, TokenType.SEMICOLON
_ROUTINE_KINDS = {"PROC": "PROCEDURE", "PROCEDURE": "PROCEDURE", "FUNCTION": "FUNCTION", "TRIGGER": "TRIGGER"}


class BatchSplitter(CursorSplitter):
    """Splits one T-SQL batch; `ordinal` is the number of its first statement in the file."""

    def split_batch(self) -> list[RawStatement]:
        """The raw statements of the whole batch."""
        if self.is_bare_call():
            self.emit_call(0, -1, -1)
        while self.index < len(self.tokens):
            before = self.index
            self.split_statement(-1)
            if self.index == before:  # a stray END or ELSE is a piece of its own, so that nothing is lost
                self.emit(self.index, self.index + 1, -1)
        return self.pieces

    def is_bare_call(self) -> bool:
        """Whether the batch begins with a procedure name without EXEC."""
        if not self.tokens or self.tokens[0].token_type not in (TokenType.VAR, TokenType.IDENTIFIER) or self.is_label():
            return False
        return self.word() not in _STATEMENT_SPLITTERS and self.word() not in NOT_PROCEDURES

    def split_statement(self, parent: int) -> None:
        """One statement, block or routine, with everything inside."""
        word = self.word()
        known = _STATEMENT_SPLITTERS.get(word)
        if self.tokens[self.index].token_type is _SEMICOLON:
            self.index += 1
        elif word in ("END", "ELSE") and parent >= 0:
            return
        elif self.is_directive(self.index):
            self.emit(self.index, self.line_end(), parent, ":" + self.word(1))
        elif self.is_label():
            self.emit(self.index, self.index + 2, parent, "LABEL")
        elif word in SILENT_BATCH_STATEMENTS:
            self.emit(self.index, self.statement_end(), parent, word)
        elif known is not None:
            known(self, parent)
        else:
            self.split_plain(parent)

    def split_create(self, parent: int) -> None:
        """CREATE or ALTER: a routine, a table type, or anything else."""
        begin = self.index
        if self.routine_kind():
            self.split_routine(parent)
        elif self.word(1) == "TYPE" and "TABLE" in self.words[begin : begin + 8]:
            end = self.statement_end()
            at = self.words.index("TABLE", begin)
            head = [
                self.tokens[begin],
                synthetic_token("TABLE", self.tokens[begin + 1]),
                *self.tokens[begin + 2 : at - 1],
            ]
            self.emit_rewritten(
                begin, end, parent, [*head, *self.tokens[at + 1 : end]], StatementRole("type", "CREATE TYPE")
            )
        else:
            self.split_plain(parent)

    def split_insert(self, parent: int) -> None:
        """INSERT; INSERT … EXEC takes the result of a call."""
        begin, end = self.index, self.statement_end()
        called = next((at for at in range(begin, end) if self.words[at] in ("EXEC", "EXECUTE")), end)
        if called < end:
            self.emit_call(begin, called, parent)
        else:
            self.emit(begin, end, parent)

    def split_receive(self, parent: int) -> None:
        """RECEIVE, perhaps inside WAITFOR: a query of a queue, whose rows may go INTO a table."""
        begin, end = self.index, self.statement_end()
        first = begin + (2 if self.word() == "WAITFOR" else 0)
        if self.words[first : first + 1] != ["RECEIVE"]:
            self.split_plain(parent)
            return
        stop = skip_brackets(self.tokens, begin + 1) - 1 if first > begin else end
        into = next((at for at in range(first, stop) if self.words[at] == "INTO"), stop)
        word, tokens = self.tokens[first], self.tokens
        target = [synthetic_token("INSERT", word), *tokens[into : into + 3]] if into < stop else []
        query = [synthetic_token("SELECT", word), *tokens[first + 1 : into], *tokens[into + 3 : stop]]
        self.emit(begin, end, parent)
        place = {"begin": int(tokens[begin].start), "stop": int(tokens[end - 1].end) + 1}
        self.pieces[-1] = msgspec.structs.replace(self.pieces[-1], tokens=[*target, *query], words=(), **place)

    def split_exec(self, parent: int) -> None:
        """EXEC; EXECUTE AS only changes the user."""
        if self.word(1) == "AS":
            self.emit(self.index, self.statement_end(), parent, "EXECUTE AS")
        else:
            self.emit_call(self.index, self.index, parent)

    def emit_call(self, begin: int, call: int, parent: int) -> None:
        """A procedure call, its result inserted if an INSERT precedes it; or a text that is executed."""
        self.index = begin
        end = self.statement_end()
        found = read_exec(self.tokens[begin:end], call - begin if call >= 0 else -1, self.traits)
        kind = "EXECUTE" if begin >= call else "INSERT"
        if not isinstance(found, DynamicExecution):
            self.emit(begin, end, parent, kind, found)
            return
        self.emit(begin, end, parent, "EXECUTE")
        self.pieces[-1] = msgspec.structs.replace(self.pieces[-1], run=found)

    def split_return(self, parent: int) -> None:
        """RETURN: the query of an inline function, the value of a scalar one, or the end of a routine."""
        begin, end = self.index, self.statement_end()
        header = self.header
        first = begin + 1
        if header is None or header.kind != "FUNCTION" or (first == end and not header.table):
            self.emit(begin, end, parent, "RETURN")
        elif header.table:
            everything = ir.Select((ir.Source("", name=ir.Name((header.table,), header.table)),), ALL_COLUMNS)
            self.emit(begin, end, parent, "RETURN", (("relations", (everything,)), ("result", 0)))
        elif header.inline:
            while first < end and self.tokens[first].token_type is _OPEN and skip_brackets(self.tokens, first) == end:
                first, end = first + 1, end - 1
            stop = end + (first - begin - 1)
            self.emit_rewritten(begin, stop, parent, list(self.tokens[first:end]), StatementRole("result", "RETURN"))
        else:
            word = self.tokens[begin]  # what is returned is converted to the type that the header declares
            value = [
                synthetic_token("SELECT", word),
                synthetic_token("CAST", word),
                synthetic_token("(", word),
                *self.tokens[first:end],
            ]
            value += [synthetic_token("AS", word), *header.returns, synthetic_token(")", word)]
            self.emit_rewritten(
                begin, end, parent, value, StatementRole("result", "RETURN", columns=(header.name.parts[-1],))
            )

    def routine_kind(self) -> str:
        """PROCEDURE, FUNCTION or TRIGGER if a routine begins here."""
        return _ROUTINE_KINDS.get(self.word(3 if self.word(1) == "OR" else 1), "")

    def split_routine(self, parent: int) -> None:
        """A routine: its header up to AS, then statements up to the end of the batch."""
        kind, begin = self.routine_kind(), self.index
        name_at = begin + (4 if self.word(1) == "OR" else 2)
        if not is_name_at(self.tokens, name_at):
            self.split_plain(parent)
            return
        name, after = read_dotted_name(self.tokens, name_at, begin, self.traits)
        end = self.header_end(after)
        self.header = header = read_routine_header(
            kind, name, self.tokens[after:end], self.tokens[begin].start, self.traits
        )
        place = self.emit(begin, end, parent, f"CREATE {kind}", header.parts())
        inside = self.ordinal + place
        self.pieces.extend(header.table_variables(inside))
        while self.index < len(self.tokens):
            before = self.index
            self.split_statement(inside)
            if self.index == before:
                self.emit(self.index, self.index + 1, inside)
        self.close(place)

    def split_begin(self, parent: int) -> None:
        """BEGIN … END, TRY and CATCH, with the statements inside; or a transaction."""
        if self.word(1) in ("TRAN", "TRANSACTION", "DISTRIBUTED", "DIALOG", "CONVERSATION"):
            self.split_plain(parent)
            return
        begin = self.index
        end = begin + (2 if self.word(1) in ("TRY", "CATCH", "ATOMIC") else 1)
        if self.word(1) == "ATOMIC":
            end = skip_brackets(self.tokens, end + 1)
        place = self.emit(begin, end, parent, self.word(1) if self.word(1) in ("TRY", "CATCH") else "BEGIN")
        inside = self.ordinal + place
        while self.index < len(self.tokens) and self.word() != "END":
            before = self.index
            self.split_statement(inside)
            if self.index == before:
                self.emit(self.index, self.index + 1, inside)
        if self.index < len(self.tokens):
            self.index += 2 if self.word(1) in ("TRY", "CATCH") else 1
        self.close(place)

    def split_branch(self, parent: int) -> None:
        """IF or WHILE: its condition, the guarded statement, and that of ELSE."""
        word = self.word()
        place = self.split_condition(word, parent)
        self.split_guarded(self.ordinal + place)
        if word == "IF":
            while self.index + 1 < len(self.tokens) and self.word() == ";" and self.word(1) == "ELSE":
                self.index += 1
            if self.index < len(self.tokens) and self.word() == "ELSE":
                other = self.emit(self.index, self.index + 1, self.ordinal + place, "ELSE")
                self.split_guarded(self.ordinal + other)
                self.close(other)
        self.close(place)

    def split_condition(self, word: str, parent: int) -> int:
        """A condition; a query in it is read."""
        begin, end = self.index, self.condition_end()
        if "SELECT" not in self.words[begin:end]:
            return self.emit(begin, end, parent, word)
        first, last = self.tokens[begin], self.tokens[end - 1]
        brackets = (
            Token(_OPEN, "(", first.line, first.col, first.start, first.end),
            Token(TokenType.R_PAREN, ")", last.line, last.col, last.start, last.end),
        )
        asked = [
            synthetic_token("UPDATED", token) if self.is_updated_test(at) else token
            for at, token in self.enumerate_tokens(begin + 1, end)
        ]
        value = [synthetic_token("SELECT", first), brackets[0], *asked, brackets[1]]
        return self.emit_rewritten(begin, end, parent, value, StatementRole("condition", word))

    def enumerate_tokens(self, begin: int, end: int) -> Iterator[tuple[int, Token]]:
        """Tokens with their indexes."""
        return zip(range(begin, end), self.tokens[begin:end], strict=True)

    def is_updated_test(self, index: int) -> bool:
        """Whether a trigger tests if a column was updated: `UPDATE(c)`."""
        return self.words[index] == "UPDATE" and self.words[index + 1 : index + 2] == ["("]

    def split_guarded(self, parent: int) -> None:
        """The one statement after a condition."""
        if self.index < len(self.tokens) and self.word() not in ("END", "ELSE"):
            self.split_statement(parent)


_STATEMENT_SPLITTERS: dict[str, Callable[[BatchSplitter, int], None]] = {
    "ALTER": BatchSplitter.split_create,
    "BEGIN": BatchSplitter.split_begin,
    "CREATE": BatchSplitter.split_create,
    "DECLARE": BatchSplitter.split_declare,
    "EXEC": BatchSplitter.split_exec,
    "EXECUTE": BatchSplitter.split_exec,
    "FETCH": BatchSplitter.split_fetch,
    "IF": BatchSplitter.split_branch,
    "INSERT": BatchSplitter.split_insert,
    "RECEIVE": BatchSplitter.split_receive,
    "RETURN": BatchSplitter.split_return,
    "SET": BatchSplitter.split_set,
    "WAITFOR": BatchSplitter.split_receive,
    "WHILE": BatchSplitter.split_branch,
}
"""Which method splits a statement, by its first keyword."""
