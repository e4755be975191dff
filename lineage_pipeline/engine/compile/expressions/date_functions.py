"""Date functions: units that sqlglot reads as columns, and columns that it reads as units."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.functions import TIME_UNIT_ABBREVIATIONS, TIME_UNITS, UNIT_FIRST_FUNCTIONS
from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.dispatch import (
    compile_expression,
    compile_generic_call,
    operator_traits_of,
)
from lineage_pipeline.engine.compile.tokens import skip_brackets, split_list
from lineage_pipeline.model import ir

_TOKEN_START = attrgetter("start")


def compile_date_function(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """A date function; in `DATEDIFF(day, a, b)` sqlglot takes the leading unit for a date."""
    unit, first = node.args.get("unit"), node.args.get("this")
    taken = isinstance(unit, exp.Var | exp.Literal)
    if unit is None or first is None or not is_date_unit(first) or (taken and unit.name.upper() in TIME_UNITS):
        return compile_generic_call(context, node)
    known = operator_traits_of(type(node), context.dialect)
    word = ir.Literal("word", first.name.upper())
    compared = node.args.get("expression")
    others = (compile_expression(context, compared),) if isinstance(compared, exp.Expr) else ()
    moment = _compile_argument_column(context, node, 2 if others else 0) if taken else None
    args = (moment or compile_expression(context, unit), *others, word)
    return ir.Call(known.name, args if others else args[::-1], known.traits, known.result)


def is_date_unit(node: object, short: bool = False) -> bool:
    """Whether an unqualified, unquoted column has the name of a date unit."""
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return False
    name = node.name.upper()
    known = name in TIME_UNITS or name.startswith("SQL_TSI_") or (short and name in TIME_UNIT_ABBREVIATIONS)
    return known and not node.this.args.get("quoted")


def read_leading_unit(name: str, arguments: list[Any]) -> list[Any]:
    """The arguments of a function that sqlglot does not know, a leading unit as a keyword."""
    first = arguments[0] if len(arguments) >= UNIT_FIRST_FUNCTIONS.get(name, len(arguments) + 1) else None
    if first is None or not is_date_unit(first, short=True):
        return arguments
    return [exp.Var(this=first.name.upper()), *arguments[1:]]


def _compile_argument_column(context: CompileContext, node: exp.Expr, index: int) -> ir.Expr | None:
    """The column that is written as an argument where sqlglot expects a unit."""
    tokens = context.tokens
    begin = bisect_left(tokens, node.meta.get("start", -1), key=_TOKEN_START) + 1
    if begin >= len(tokens) or tokens[begin].token_type is not TokenType.L_PAREN:
        return None
    listed = split_list(tokens[begin + 1 : skip_brackets(tokens, begin) - 1])
    return _compile_column_token(context, listed[index]) if index < len(listed) else None


def _compile_column_token(context: CompileContext, tokens: Sequence[Token]) -> ir.Expr | None:
    if len(tokens) != 1 or tokens[0].token_type is TokenType.STRING:
        return None
    token = tokens[0]
    name = exp.to_identifier(token.text, quoted=token.token_type is TokenType.IDENTIFIER)
    return ir.Ref((context.column_name(name),), token.start - context.origin, token.end + 1 - context.origin)


_UNIT_FIRST = re.compile(r"\s*\(\s*[A-Za-z]+\s*,")


def compile_date_difference(context: CompileContext, node: exp.Expr) -> ir.Expr:
    """Spark, Hive: DATEDIFF with a leading unit is TIMESTAMPDIFF, which returns a long and not days."""
    found = compile_date_function(context, node)
    end = node.meta.get("end", ir.NOWHERE)
    if context.traits.types.null_on_failure and end >= 0 and isinstance(found, ir.Call):
        first = _UNIT_FIRST.match(context.text, end + 1)
        if first is not None and len(found.args) == 3 and first[0].strip("( ,\n").upper() in TIME_UNITS:
            return ir.Call("TIMESTAMPDIFF", found.args, found.traits, found.result)
    return found
