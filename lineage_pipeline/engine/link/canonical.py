"""Canonical text of expressions and facets: independent of aliases, brackets and the order of terms."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.engine.link.model import BoundRelation, ExprResult
from lineage_pipeline.model import ir

_COMMUTATIVE = frozenset("AND OR ADD MUL EQ NEQ NULLSAFEEQ BITWISEAND BITWISEOR".split())
_SYMBOLS = {
    "ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "%", "EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=",
    "LT": "<", "LTE": "<=", "AND": "and", "OR": "or", "LIKE": "like", "IS": "is", "DPIPE": "||",
}  # fmt: skip
_MIRRORED = {"GT": "LT", "GTE": "LTE"}
MAX_TEXT_LENGTH = 2000

VARIABLE_FACET = "variable"
"""The facet for what the variables of a write hold, one a line."""

CONCATENATION = "JOINED"
"""The operator name for ADD of texts, where the order counts."""


def render_call(op: str, args: list[str]) -> str:
    """An operator or function with its arguments."""
    special = _RENDERERS.get(op)
    return _render_plain_call(op, args) if special is None else special(args)


def _render_plain_call(op: str, args: list[str]) -> str:
    if op in _MIRRORED and len(args) == 2:
        op, args = _MIRRORED[op], args[::-1]
    if op in _COMMUTATIVE:
        args = sorted(args)
    elif op.partition(":")[0] == "COUNT" and len(args) == 1 and args[0].isdigit():
        args = []  # COUNT(1) counts rows, as COUNT(*) does
    symbol = _SYMBOLS.get(op)
    if symbol is not None and len(args) > 1:
        return shorten_text("(" + f" {symbol} ".join(args) + ")")
    return shorten_text(f"{op.lower()}({', '.join(args)})")


def _render_or(args: list[str]) -> str:
    terms = _merge_equalities(args)
    return terms[0] if len(terms) == 1 else _render_plain_call("OR", terms)


def _render_in(args: list[str]) -> str:
    if len(args) == 2 and _CONSTANT.fullmatch(args[1]):
        return _render_plain_call("EQ", args)
    return _render_plain_call("IN", [*args[:1], *sorted(args[1:])])


def _render_between(args: list[str]) -> str:
    return (
        _render_plain_call("AND", list(split_between(args))) if len(args) == 3 else _render_plain_call("BETWEEN", args)
    )


_COMPARISON = re.compile(r"\(('[^']*'|[^()' ]+) (<|<=|=|<>) ('[^']*'|[^()' ]+)\)")
_OPPOSITES = {"<": "GTE", "<=": "GT", "=": "NEQ", "<>": "EQ"}


def _render_not(args: list[str]) -> str:
    """NOT of a comparison as the opposite comparison, and NOT of NOT as its operand."""
    found = _COMPARISON.fullmatch(args[0]) if len(args) == 1 else None
    if found:
        return _render_plain_call(_OPPOSITES[found[2]], [found[1], found[3]])
    if len(args) == 1 and args[0].startswith("not(") and len(args[0]) < MAX_TEXT_LENGTH:
        return args[0].removeprefix("not(").removesuffix(")")
    return _render_plain_call("NOT", args)


_RENDERERS: dict[str, Callable[[list[str]], str]] = {
    "IS:negate": lambda args: _render_not([_render_plain_call("IS", args)]),
    "COALESCE:is_nvl": lambda args: _render_plain_call("COALESCE", args),
    CONCATENATION: lambda args: shorten_text(f"({' + '.join(args)})"),
    "NOT": _render_not,
    "OR": _render_or,
    "IN": _render_in,
    "BETWEEN": _render_between,
}
"""Operators that can be written in more than one way."""

_CONSTANT = re.compile(r"'[^']*'|-?\d[\d.]*")
_EQUAL = re.compile(rf"\((?:({_CONSTANT.pattern}) = (.+)|(.+) = ({_CONSTANT.pattern}))\)", re.DOTALL)


def _merge_equalities(args: Sequence[str]) -> list[str]:
    """The terms of an OR; those that compare one value with constants become one IN."""
    grouped: dict[str, list[str]] = {}
    for arg in dict.fromkeys(args):
        found = _EQUAL.fullmatch(arg)
        constant, value = (found[1] or found[4], found[2] or found[3]) if found else ("", arg)
        grouped.setdefault(value, []).append(constant)
    return [_render_in_list(value, constants) for value, constants in grouped.items()]


def _render_in_list(value: str, constants: Sequence[str]) -> str:
    return _render_in([value, *constants]) if all(constants) else value


def split_between(args: Sequence[str]) -> tuple[str, str]:
    """The two comparisons that a BETWEEN consists of."""
    value, low, high = args
    return render_call("LTE", [low, value]), render_call("LTE", [value, high])


def render_literal(literal: ir.Literal) -> str:
    """The text of a constant."""
    return f"'{literal.text}'" if literal.kind in ("string", "typed") else literal.text.lower()


def render_cast(cast: ir.Cast, text: str) -> str:
    """The text of a conversion; a suffixed literal such as `200S` is written as a typed constant."""
    suffixed = type(cast.arg) is ir.Literal and cast.arg.kind == "suffixed"
    word = "try_cast" if cast.safe else "cast"
    return f"{text}::{cast.to.lower()}" if suffixed else shorten_text(f"{word}({text} as {cast.to.lower()})")


def shorten_text(text: str) -> str:
    """A text within the length limit; a longer one is cut and gets a hash."""
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    return f"{text[:200]}…#{fingerprint_text(text)}"


def fingerprint_text(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sort_lines(parts: Iterable[str]) -> str:
    """Several texts as sorted lines."""
    return "\n".join(sorted(parts))


_COMPARISON_OPERATORS = frozenset("EQ NEQ GT GTE LT LTE BETWEEN IN".split())
_TRUE = "true"

_TSQL_ISNULL = "COALESCE:is_null"
"""T-SQL: ISNULL casts its second argument to the type of the first, which changes nothing where both agree."""


def render_typed_call(expr: ir.Call, op: str, args: Sequence[ExprResult], family: TypeFamily) -> str:
    """The canonical text of a call, using the types and nullability of its arguments."""
    texts = [arg.text for arg in args]
    if op == "COUNT" and len(args) == 1 and type(expr.args[0]) is ir.Ref and not args[0].nullable:
        texts = []  # whoever counts what is never null counts rows
    elif op == "ADD" and _is_concatenation(args, family):
        return render_call(CONCATENATION, texts)
    elif expr.op == _TSQL_ISNULL and args[0].type is not None and all(arg.type == args[0].type for arg in args):
        return render_call(op, texts)
    elif op in _COMPARISON_OPERATORS and len(args) == len(expr.args):
        texts = [_render_comparand(part, arg, args) for part, arg in zip(expr.args, args, strict=True)]
        if op == "EQ" and _TRUE in texts and all(arg.type == family.boolean for arg in args):
            return next((text for text in texts if text != _TRUE), _TRUE)
    return render_call(expr.op, texts)


def _is_concatenation(args: Sequence[ExprResult], family: TypeFamily) -> bool:
    """Say whether `+` concatenates texts, bytes or arrays, so that the order of its operands counts."""
    known = [arg.type.partition("(")[0].partition("<")[0] for arg in args if arg.type]
    joined = (*family.strings, family.binary, "BINARY", "ARRAY")
    return any(kind in joined or kind.endswith("[]") for kind in known) or (
        family.adds_texts and len(known) < len(args)
    )


def _render_comparand(part: ir.Expr, value: ExprResult, args: Sequence[ExprResult]) -> str:
    """A string literal cast to the type it is compared with, as the plain literal: the engine casts it anyway."""
    if type(part) is not ir.Cast or type(part.arg) is not ir.Literal or part.arg.kind != "string":
        return value.text
    return render_literal(part.arg) if any(arg is not value and arg.type == value.type for arg in args) else value.text


def split_condition(condition: ir.Expr, value: ExprResult) -> Sequence[str]:
    """The lines of a condition: BETWEEN gives two, NOT IN one for each listed constant."""
    if value.text in ALWAYS_TRUE:
        return ()
    if type(condition) is ir.Call and condition.op == "BETWEEN" and value.text.endswith(")"):
        return value.text[1:-1].split(" and ") if value.text.count(" and ") == 1 else (value.text,)
    if type(condition) is ir.Call and condition.op == "NOT" and value.text.startswith("not(in("):
        return _split_not_in(condition.args[0], value.text) or (value.text,)
    return (value.text,)


ALWAYS_TRUE = frozenset({"(1 = 1)", "(0 = 0)", "true"})
"""Conditions that every row meets."""


def _split_not_in(listed: ir.Expr, text: str) -> Sequence[str]:
    """NOT IN over constants as one inequality for each of them."""
    items = listed.args[1:] if type(listed) is ir.Call and listed.op == "IN" else ()
    constants = sorted(render_literal(item) for item in items if type(item) is ir.Literal and item.kind != "null")
    end = f", {', '.join(constants)}))"
    if not constants or len(constants) < len(items) or not text.endswith(end):
        return ()
    value = text.removeprefix("not(in(").removesuffix(end)
    return [render_call("NEQ", [value, constant]) for constant in constants]


def apply_outer_join_marks(facets: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Facets with Oracle's `(+)` conditions moved from the filters to the joins they belong to."""
    marked = [text for name, text in facets if name == "filter" and text.startswith(_OUTER_JOIN_PREFIX)]
    found, placed = [], set()
    for name, text in facets:
        own = [one for one in marked if f"{text.removeprefix('left ')}." in one] if name == "join" else []
        if own and " ON " not in text:
            placed.update(own)
            text += " ON " + " and ".join(sorted(one.removeprefix(_OUTER_JOIN_PREFIX).removesuffix(")") for one in own))
        found.append((name, text))
    return [facet for facet in found if facet[1] not in placed]


_OUTER_JOIN_PREFIX = "outerjoin("


def describe_select_shape(body: ir.Select, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Facets for how a select groups, sorts and limits its rows, by the texts of its keys."""
    if body.distinct:
        yield "grouping", "distinct"
    if body.group_all:
        yield "grouping", "all"
    if body.grouping:
        yield "grouping", body.grouping.lower().format(*keys)
    if body.order_all:
        yield "order", "all"
    if body.limit:
        yield "limit", body.limit


def group_facets(facets: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The facets of a statement: sorted lines by name."""
    grouped: dict[str, list[str]] = {}
    for name, text in facets:
        grouped.setdefault(name, []).append(text)
    return {
        name: sort_lines(dict.fromkeys(texts)) if name != "order" else "\n".join(texts)
        for name, texts in grouped.items()
    }


def with_write_facet(write: ir.Write, linked: BoundRelation) -> BoundRelation:
    """The rows of a write with a `write` facet: the MERGE arm or conflict action, and its conditions."""
    if not write.manner:
        return linked
    conditions = sorted({text for name, text in linked.facets if name == "filter"})
    text = " and ".join([f"{write.manner}: {write.mode}", *conditions])
    return msgspec.structs.replace(linked, facets=(*linked.facets, ("write", text)))
