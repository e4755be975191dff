"""Units of time among arguments: words that the parser takes for columns, and columns that it takes for units."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.functions import SHORT_UNITS, UNIT_FIRST, UNITS
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.cursor import items
from lineage_pipeline.engine.compile.operators import operator
from lineage_pipeline.engine.compile.walk import call, expression
from lineage_pipeline.engine.compile.words import behind_brackets
from lineage_pipeline.vocabulary import ir

_START = attrgetter("start")


def timed(context: Context, node: exp.Expr) -> ir.Expr:
    """A function of moments; where the unit stands first, `DATEDIFF(day, a, b)`, the parser takes it for a moment."""
    unit, first = node.args.get("unit"), node.args.get("this")
    taken = isinstance(unit, exp.Var | exp.Literal)
    if unit is None or first is None or not is_unit(first) or (taken and unit.name.upper() in UNITS):
        return call(context, node)
    known = operator(type(node), context.dialect)
    word = ir.Literal("word", first.name.upper())
    compared = node.args.get("expression")
    others = (expression(context, compared),) if isinstance(compared, exp.Expr) else ()
    moment = _written(context, node, 2 if others else 0) if taken else None
    args = (moment or expression(context, unit), *others, word)
    return ir.Call(known.name, args if others else args[::-1], known.traits, known.result)


def is_unit(node: object, short: bool = False) -> bool:
    """Whether a column that no table is named for, and that is not quoted, is called like a unit of time."""
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return False
    name = node.name.upper()
    known = name in UNITS or name.startswith("SQL_TSI_") or (short and name in SHORT_UNITS)
    return known and not node.this.args.get("quoted")


def without_unit(name: str, arguments: list[Any]) -> list[Any]:
    """The arguments of a function that the parser does not know, its unit a word where it is one."""
    first = arguments[0] if len(arguments) >= UNIT_FIRST.get(name, len(arguments) + 1) else None
    if first is None or not is_unit(first, short=True):
        return arguments
    return [exp.Var(this=first.name.upper()), *arguments[1:]]


def _written(context: Context, node: exp.Expr, index: int) -> ir.Expr | None:
    """The column that stands as an argument where the parser expects a unit, keeping its letters alone."""
    tokens = context.tokens
    begin = bisect_left(tokens, node.meta.get("start", -1), key=_START) + 1
    if begin >= len(tokens) or tokens[begin].token_type is not TokenType.L_PAREN:
        return None
    listed = items(tokens[begin + 1 : behind_brackets(tokens, begin) - 1])
    return _column(context, listed[index]) if index < len(listed) else None


def _column(context: Context, tokens: Sequence[Token]) -> ir.Expr | None:
    if len(tokens) != 1 or tokens[0].token_type is TokenType.STRING:
        return None
    token = tokens[0]
    name = exp.to_identifier(token.text, quoted=token.token_type is TokenType.IDENTIFIER)
    return ir.Ref((context.column(name),), token.start - context.origin, token.end + 1 - context.origin)
