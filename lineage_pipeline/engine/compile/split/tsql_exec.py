"""T-SQL EXEC: procedure calls with arguments, INSERT … EXEC, sp_executesql and sp_rename."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.engine.compile.split.raw_statements import DynamicExecution
from lineage_pipeline.engine.compile.tokens import TEXT_TOKENS, is_name_at, keyword, read_dotted_name, skip_brackets
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
