"""Generated names of unaliased columns, where the printed expression depends on the types of its operands."""

import re
from collections.abc import Iterator

import msgspec

from lineage_pipeline.dialects.dialect import UnaliasedNaming
from lineage_pipeline.dialects.spark_column_names import print_moment_arithmetic, round_compared_constants
from lineage_pipeline.engine.link.expression import evaluate_expression
from lineage_pipeline.engine.link.resolver import RelationResolver
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.model import ir

_OPERATOR_SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_SIGN_PATTERN = re.compile(r" ([-+*]|[<>]=?) ")
_MARK_PATTERN = re.compile(r" \0(\d+)\0 ")
_INTERVAL = re.compile(r"INTERVAL '[^']*' \w+(?: TO \w+)?")
_OPERAND_BOUNDARY = re.compile(r", | THEN | WHEN | ELSE | AND | OR | BY |DISTINCT | <?=?>? ")
"""What may stand before a date or timestamp operand that is not in brackets."""

_MINUS_ONE = ir.Call("NEG", (ir.Literal("number", "1"),))
"""The factor that the compiler adds to the days of a DATE_SUB."""

_MAX_SIGNS = 50
"""Names with more operators stay as they are, since each needs the types of its operands."""


def regenerate_name(output: ir.Output, scope: Scope, links: RelationResolver) -> ir.Output:
    """An output under the generated name that fits the types of its operands."""
    if links.traits.naming is not UnaliasedNaming.CAPTION or isinstance(output.expr, ir.Ref):
        return output
    printed = _SIGN_PATTERN.findall(output.written)
    if not printed or len(printed) > _MAX_SIGNS:
        return output
    calls = list(_iter_signed_calls(output.expr))
    if len(calls) > len(printed):
        calls = [call for call in calls if call.args[1] != _MINUS_ONE]
    if [_OPERATOR_SIGNS[call.op] for call in calls] != printed:  # a string has signs in it, or it is an alias
        return output
    text = _mark_signs(output.written)
    for at in sorted(range(len(calls)), key=lambda at: _nesting_depth(calls[at], calls), reverse=True):
        left, right = (evaluate_expression(arg, scope, links).type or "" for arg in calls[at].args)
        text = _reprint_operands(text, at, calls[at], left, right)
    written = _MARK_PATTERN.sub(lambda found: f" {printed[int(found[1])]} ", text)
    return msgspec.structs.replace(output, name=written.lower(), written=written)


def _iter_signed_calls(expr: ir.Expr | None) -> Iterator[ir.Call]:
    """The calls in an expression that are printed as signs, from left to right."""
    if isinstance(expr, ir.Call) and expr.op in _OPERATOR_SIGNS and len(expr.args) == 2:
        yield from _iter_signed_calls(expr.args[0])
        yield expr
        yield from _iter_signed_calls(expr.args[1])
        return
    for part in _child_expressions(expr):
        yield from _iter_signed_calls(part)


def _child_expressions(expr: ir.Expr | None) -> tuple[ir.Expr | None, ...]:
    """The parts of an expression in written order."""
    match expr:
        case ir.Call() | ir.Sub():
            return expr.args
        case ir.Cast() | ir.Field():
            return (expr.arg,)
        case ir.Case():
            return (*(part for branch in expr.whens for part in branch), expr.default)
        case ir.Over():
            return (expr.arg, *expr.partition, *expr.order)
        case ir.Lambda():
            return (expr.body,)
    return ()


def _nesting_depth(call: ir.Call, calls: list[ir.Call]) -> int:
    """How many of the calls contain this one: inner ones are printed first."""
    return sum(any(inner is call for inner in _iter_signed_calls(other)) for other in calls)


def _mark_signs(text: str) -> str:
    """The text with a numbered mark in place of each sign."""
    parts = _SIGN_PATTERN.split(text)[::2]
    return parts[0] + "".join(f" \0{at}\0 {part}" for at, part in enumerate(parts[1:]))


def _reprint_operands(text: str, at: int, call: ir.Call, left: str, right: str) -> str:
    """The text with the operands of one sign printed as these types require."""
    mark = f" \0{at}\0 "
    comparing = call.op not in _ARITHMETIC
    shape = "" if comparing else print_moment_arithmetic(call.op, left, right)
    if not shape and not comparing:
        return text
    at = text.index(mark)
    bare = None if comparing or call.op == "MUL" else _INTERVAL.match(text, at + len(mark))
    begin, end = _find_operands(text, at, bare)
    first, second = text[begin:end].split(mark, 1)
    if comparing:
        return text[:begin] + mark.join(round_compared_constants(call.op, (first, left), (second, right))) + text[end:]
    around = bare is None and text[begin - 1 : begin] == "("
    return text[: begin - around] + shape.format(first, second) + text[end + around :]


_ARITHMETIC = ("ADD", "SUB", "MUL")


def _find_operands(text: str, at: int, interval: re.Match[str] | None) -> tuple[int, int]:
    """Where the operands of a sign start and end: all of its brackets, or a timestamp and an interval."""
    begin = _find_opening(text, at)
    if interval is None:
        return begin, _find_closing(text, at)
    inside = _blank_brackets(text[begin:at])
    return begin + max((found.end() for found in _OPERAND_BOUNDARY.finditer(inside)), default=0), interval.end()


def _blank_brackets(text: str) -> str:
    """A text with everything inside brackets blanked out."""
    depth, kept = 0, []
    for character in text:
        depth -= character == ")"
        kept.append(character if depth == 0 else "\1")
        depth += character == "("
    return "".join(kept)


def _find_opening(text: str, at: int) -> int:
    """The position behind the bracket that encloses a position; 0 where there is none."""
    depth = 0
    while at > 0:
        at -= 1
        depth += (text[at] == ")") - (text[at] == "(")
        if depth < 0:
            return at + 1
    return 0


def _find_closing(text: str, at: int) -> int:
    """The position of the bracket that closes around a position; the end where there is none."""
    depth = 0
    while at < len(text):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth < 0:
            return at
        at += 1
    return at
