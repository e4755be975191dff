"""Names of columns that are called after their expressions, where how these are printed depends on types."""

import re
from collections.abc import Iterator

import msgspec

from lineage_pipeline.dialects.captions import moved, settled_constants
from lineage_pipeline.dialects.naming import Naming
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir

_SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_PRINTED = re.compile(r" ([-+*]|[<>]=?) ")
_MARKED = re.compile(r" \0(\d+)\0 ")
_INTERVAL = re.compile(r"INTERVAL '[^']*' \w+(?: TO \w+)?")
_BEFORE = re.compile(r", | THEN | WHEN | ELSE | AND | OR | BY |DISTINCT | <?=?>? ")
"""What may stand before a moment that is moved and has no brackets of its own."""

_TURNED = ir.Call("NEG", (ir.Literal("number", "1"),))
"""What the days of a DATE_SUB are multiplied with, which nobody wrote."""

_MOST_SIGNS = 50
"""Names with more signs stay as they are: each is asked for the types of all that it is made of."""


def recaptioned(output: ir.Output, scope: Scope, links: Links) -> ir.Output:
    """An output under the name that fits the types of its operands."""
    if links.traits.naming is not Naming.CAPTION or isinstance(output.expr, ir.Ref):
        return output
    printed = _PRINTED.findall(output.written)
    if not printed or len(printed) > _MOST_SIGNS:
        return output
    calls = list(_signed(output.expr))
    if len(calls) > len(printed):
        calls = [call for call in calls if call.args[1] != _TURNED]
    if [_SIGNS[call.op] for call in calls] != printed:  # a string has signs in it, or it is an alias
        return output
    text = _marked(output.written)
    for at in sorted(range(len(calls)), key=lambda at: _depth(calls[at], calls), reverse=True):
        left, right = (value_of(arg, scope, links).type or "" for arg in calls[at].args)
        text = _reprinted(text, at, calls[at], left, right)
    written = _MARKED.sub(lambda found: f" {printed[int(found[1])]} ", text)
    return msgspec.structs.replace(output, name=written.lower(), written=written)


def _signed(expr: ir.Expr | None) -> Iterator[ir.Call]:
    """The calls in an expression that are printed as signs, from left to right."""
    if isinstance(expr, ir.Call) and expr.op in _SIGNS and len(expr.args) == 2:
        yield from _signed(expr.args[0])
        yield expr
        yield from _signed(expr.args[1])
        return
    for part in _parts(expr):
        yield from _signed(part)


def _parts(expr: ir.Expr | None) -> tuple[ir.Expr | None, ...]:
    """What an expression is made of, in the order in which it is written."""
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


def _depth(call: ir.Call, calls: list[ir.Call]) -> int:
    """How many of the calls have this one inside: inner ones are printed first."""
    return sum(any(inner is call for inner in _signed(other)) for other in calls)


def _marked(text: str) -> str:
    """A text with a number in the place of each sign."""
    parts = _PRINTED.split(text)[::2]
    return parts[0] + "".join(f" \0{at}\0 {part}" for at, part in enumerate(parts[1:]))


def _reprinted(text: str, at: int, call: ir.Call, left: str, right: str) -> str:
    """The text with the operands of one sign as they are printed for these types."""
    mark = f" \0{at}\0 "
    comparing = call.op not in _MOVES
    shape = "" if comparing else moved(call.op, left, right)
    if not shape and not comparing:
        return text
    at = text.index(mark)
    bare = None if comparing or call.op == "MUL" else _INTERVAL.match(text, at + len(mark))
    begin, end = _reach(text, at, bare)
    first, second = text[begin:end].split(mark, 1)
    if comparing:
        return text[:begin] + mark.join(settled_constants(call.op, (first, left), (second, right))) + text[end:]
    around = bare is None and text[begin - 1 : begin] == "("
    return text[: begin - around] + shape.format(first, second) + text[end + around :]


_MOVES = ("ADD", "SUB", "MUL")


def _reach(text: str, at: int, interval: re.Match[str] | None) -> tuple[int, int]:
    """From where to where the operands of a sign go: all that is in its brackets, or a moment and an interval."""
    begin = _opened(text, at)
    if interval is None:
        return begin, _closed(text, at)
    inside = _levelled(text[begin:at])
    return begin + max((found.end() for found in _BEFORE.finditer(inside)), default=0), interval.end()


def _levelled(text: str) -> str:
    """A text with all that is in brackets blotted out."""
    depth, kept = 0, []
    for character in text:
        depth -= character == ")"
        kept.append(character if depth == 0 else "\1")
        depth += character == "("
    return "".join(kept)


def _opened(text: str, at: int) -> int:
    """The place behind the bracket that is open at a place; the beginning where none is."""
    depth = 0
    while at > 0:
        at -= 1
        depth += (text[at] == ")") - (text[at] == "(")
        if depth < 0:
            return at + 1
    return 0


def _closed(text: str, at: int) -> int:
    """Where the bracket is closed that is open at a place; the end where none is."""
    depth = 0
    while at < len(text):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth < 0:
            return at
        at += 1
    return at
