"""EXEC of T-SQL: procedures called by name with their arguments, results that are inserted, text that is run."""

from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.renames import renamed
from lineage_pipeline.engine.compile.words import behind_brackets, dotted_name, is_name, keyword
from lineage_pipeline.vocabulary import ir

STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_RUNNER = "sp_executesql"

Parts = tuple[tuple[str, object], ...]


class Run(msgspec.Struct, frozen=True):
    """Text that a statement runs: the tokens that make it, its parameters' arguments, and who takes the result.

    That is a `target` with its columns, variables, or the module with `columns` of its own; a `row` takes all columns.
    Or nobody does, and it is `lost`.
    """

    text: tuple[Token, ...]
    declared: tuple[Token, ...] = ()
    given: tuple[tuple[str, ir.Expr], ...] = ()
    target: ir.Name | None = None
    columns: tuple[str, ...] | None = None
    into: tuple[str, ...] = ()
    row: bool = False
    lost: bool = False


def call_parts(tokens: Sequence[Token], call: int, traits: Traits) -> Parts | Run:
    """What a statement does whose EXEC stands at `call`; before it there may be an INSERT."""
    index, returned = _behind_status(tokens, call + 1)
    target, columns = _target(tokens, call, traits) if call > 0 else (None, None)
    if index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN:
        end = behind_brackets(tokens, index)
        return Run(tuple(_first(tokens[index + 1 : end - 1])), target=target, columns=columns)
    if not is_name(tokens, index):
        return Run((), target=target, columns=columns)
    name, after = dotted_name(tokens, index, 0, traits)
    if after < len(tokens) and keyword(tokens[after]) == ";":
        after += 2  # the number of one of several procedures of the same name
    arguments, options = _arguments(tokens, after)
    if name.parts[-1] == "sp_rename" and (found := renamed(tokens, traits)):
        return found
    if name.parts[-1] == _RUNNER:
        return _run(tokens, arguments, target, columns)
    return _called(tokens, name, arguments, options, (returned, target, columns), traits)


def _behind_status(tokens: Sequence[Token], index: int) -> tuple[int, str]:
    """The token behind `@status =`, and that variable."""
    if index + 2 < len(tokens) and tokens[index].token_type is TokenType.PARAMETER:
        if tokens[index + 2].token_type is TokenType.EQ:
            return index + 3, "@" + tokens[index + 1].text.lower()
        return len(tokens), ""  # the name of the procedure is in a variable
    return index, ""


def _first(tokens: Sequence[Token]) -> Sequence[Token]:
    """The text of `EXEC (text, argument, …)`."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type is TokenType.COMMA:
            return tokens[:index]
    return tokens


def _target(tokens: Sequence[Token], call: int, traits: Traits) -> tuple[ir.Name, tuple[str, ...] | None]:
    """What stands between INSERT and EXEC: the target, and its column list where there is one."""
    at = 2 if keyword(tokens[1]) == "INTO" else 1
    if tokens[at].token_type is TokenType.PARAMETER:
        start, end = tokens[at].start - tokens[0].start, tokens[at + 1].end + 1 - tokens[0].start
        name, after = ir.Name(("@" + tokens[at + 1].text.lower(),), "@" + tokens[at + 1].text, start, end), at + 2
    else:
        name, after = dotted_name(tokens, at, 0, traits)
    while after < call and tokens[after].token_type is not TokenType.L_PAREN:
        after += 1
    listed = tokens[after:call] if after and keyword(tokens[after - 1]) != "WITH" else ()
    columns = tuple(fold(token.text, False, traits.columns) for token in listed if token.token_type in _NAMES)
    return name, columns or None


class Argument(msgspec.Struct, frozen=True):
    """One argument of a call: the parameter it names, its value, its tokens, and the variable that gets it back."""

    name: str
    value: ir.Expr
    tokens: tuple[Token, ...]
    into: str = ""


def _arguments(tokens: Sequence[Token], index: int) -> tuple[list[Argument], int]:
    """The arguments behind the name of a procedure, and the token behind them."""
    end = index
    while end < len(tokens) and keyword(tokens[end]) not in ("WITH", "AT"):
        end += 1
    found = []
    for part in _parts(tokens[index:end]):
        found.append(_argument(part, tokens[0].start))
    return found, end


def _parts(tokens: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    begin = 0
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.COMMA:
            yield tuple(tokens[begin:index])
            begin = index + 1
    if begin < len(tokens):
        yield tuple(tokens[begin:])


def _argument(tokens: tuple[Token, ...], origin: int) -> Argument:
    name = ""
    if len(tokens) > 2 and tokens[0].token_type is TokenType.PARAMETER and tokens[2].token_type is TokenType.EQ:
        name, tokens = "@" + tokens[1].text.lower(), tokens[3:]
    back = len(tokens) > 2 and keyword(tokens[-1]) in ("OUT", "OUTPUT")
    tokens = tokens[:-1] if back else tokens
    value = _value(tokens, origin)
    return Argument(name, value, tokens, value.name if back and isinstance(value, ir.Variable) else "")


def _value(tokens: Sequence[Token], origin: int) -> ir.Expr:
    """An argument is a variable or a constant: nothing else may stand there."""
    if not tokens:
        return ir.Literal("null", "NULL")
    first = tokens[0]
    if first.token_type is TokenType.PARAMETER and len(tokens) == 2:
        return ir.Variable("@" + tokens[1].text.lower(), first.start - origin, tokens[1].end + 1 - origin)
    if first.token_type in STRINGS:
        return ir.Literal("string", first.text)
    if first.token_type is TokenType.NULL:
        return ir.Literal("null", "NULL")
    text = "".join(token.text for token in tokens)
    return ir.Literal("number" if tokens[-1].token_type is TokenType.NUMBER else "word", text)


def _run(
    tokens: Sequence[Token], arguments: Sequence[Argument], target: ir.Name | None, columns: tuple[str, ...] | None
) -> Run:
    """`sp_executesql text, declarations, arguments`, by position or by name."""
    named = {argument.name: argument for argument in arguments if argument.name}
    text = named.get("@stmt") or named.get("@statement") or (arguments[0] if arguments else None)
    declared = named.get("@params") or named.get("@parameters") or (arguments[1] if len(arguments) > 1 else None)
    given = tuple((item.name, item.value) for item in arguments if item not in (text, declared))
    return Run(
        text.tokens if text is not None else (),
        declared.tokens if declared is not None else (),
        given,
        target,
        columns,
    )


def _called(
    tokens: Sequence[Token],
    name: ir.Name,
    arguments: Sequence[Argument],
    options: int,
    received: tuple[str, ir.Name | None, tuple[str, ...] | None],
    traits: Traits,
) -> Parts:
    returned, target, columns = received
    invocation = ir.Invocation(
        name,
        tuple(argument.value for argument in arguments),
        tuple(argument.name for argument in arguments),
        tuple(argument.into for argument in arguments),
    )
    status = ir.Assignment((returned,), ir.NOWHERE) if returned else None
    parts: Parts = (("calls", (invocation,)), ("assigns", (status,) if status is not None else ()))
    everything = ir.Select((ir.Source("", name=name),), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    if target is not None:
        return (*parts, ("relations", (everything,)), ("writes", (ir.Write(target, 0, "insert", columns),)))
    sets = _result_set(tokens[options:], traits)
    if sets:
        return (*parts, ("relations", (everything, ir.Renamed(0, sets))), ("result", 1))
    return parts


def _result_set(tokens: Sequence[Token], traits: Traits) -> tuple[str, ...]:
    """The names in `WITH RESULT SETS ((a int, b int))`: those of the first set."""
    words = [keyword(token) for token in tokens[:5]]
    if words != ["WITH", "RESULT", "SETS", "(", "("]:
        return ()
    names, depth = [], 2
    for index, token in enumerate(tokens[5:], 5):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth < 2:
            break
        before = tokens[index - 1].token_type
        if depth == 2 and before in (TokenType.L_PAREN, TokenType.COMMA) and is_name(tokens, index):
            names.append(fold(token.text, False, traits.columns))
    return tuple(names)
