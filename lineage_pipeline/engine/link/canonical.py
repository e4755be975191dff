"""Canonical text: the same for two expressions that mean the same whatever the aliases, brackets and order of terms."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence

from lineage_pipeline.vocabulary import ir

_COMMUTATIVE = frozenset("AND OR ADD MUL EQ NEQ NULLSAFEEQ BITWISEAND BITWISEOR".split())
_SYMBOLS = {
    "ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "%", "EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=",
    "LT": "<", "LTE": "<=", "AND": "and", "OR": "or", "LIKE": "like", "IS": "is", "DPIPE": "||",
}  # fmt: skip
_MIRRORED = {"GT": "LT", "GTE": "LTE"}
LONGEST = 2000

JOINED = "JOINED"
"""ADD of what is no number: the order counts."""


def call_text(op: str, args: list[str]) -> str:
    """An operator or function with its arguments."""
    special = _SPECIAL.get(op)
    return _plain(op, args) if special is None else special(args)


def _plain(op: str, args: list[str]) -> str:
    if op in _MIRRORED and len(args) == 2:
        op, args = _MIRRORED[op], args[::-1]
    if op in _COMMUTATIVE:
        args = sorted(args)
    elif op.partition(":")[0] == "COUNT" and len(args) == 1 and args[0].isdigit():
        args = []  # COUNT(1) counts rows, as COUNT(*) does
    symbol = _SYMBOLS.get(op)
    if symbol is not None and len(args) > 1:
        return shortened("(" + f" {symbol} ".join(args) + ")")
    return shortened(f"{op.lower()}({', '.join(args)})")


def _either(args: list[str]) -> str:
    terms = _listed(args)
    return terms[0] if len(terms) == 1 else _plain("OR", terms)


def _within(args: list[str]) -> str:
    if len(args) == 2 and _CONSTANT.fullmatch(args[1]):
        return _plain("EQ", args)
    return _plain("IN", [*args[:1], *sorted(args[1:])])


def _between(args: list[str]) -> str:
    return _plain("AND", list(between_texts(args))) if len(args) == 3 else _plain("BETWEEN", args)


_COMPARED = re.compile(r"\(('[^']*'|[^()' ]+) (<|<=|=|<>) ('[^']*'|[^()' ]+)\)")
_OPPOSITES = {"<": "GTE", "<=": "GT", "=": "NEQ", "<>": "EQ"}


def _not(args: list[str]) -> str:
    """NOT of a comparison is the opposite one, and of a NOT what that is about."""
    found = _COMPARED.fullmatch(args[0]) if len(args) == 1 else None
    if found:
        return _plain(_OPPOSITES[found[2]], [found[1], found[3]])
    if len(args) == 1 and args[0].startswith("not(") and len(args[0]) < LONGEST:
        return args[0].removeprefix("not(").removesuffix(")")
    return _plain("NOT", args)


_SPECIAL: dict[str, Callable[[list[str]], str]] = {
    "IS:negate": lambda args: _not([_plain("IS", args)]),
    "COALESCE:is_nvl": lambda args: _plain("COALESCE", args),
    JOINED: lambda args: shortened(f"({' + '.join(args)})"),
    "NOT": _not,
    "OR": _either,
    "IN": _within,
    "BETWEEN": _between,
}
"""Operators that have more than one way to say the same."""

_CONSTANT = re.compile(r"'[^']*'|-?\d[\d.]*")
_EQUAL = re.compile(rf"\((?:({_CONSTANT.pattern}) = (.+)|(.+) = ({_CONSTANT.pattern}))\)", re.DOTALL)


def _listed(args: Sequence[str]) -> list[str]:
    """The terms of an OR; those that compare one value with constants are one IN."""
    grouped: dict[str, list[str]] = {}
    for arg in dict.fromkeys(args):
        found = _EQUAL.fullmatch(arg)
        constant, value = (found[1] or found[4], found[2] or found[3]) if found else ("", arg)
        grouped.setdefault(value, []).append(constant)
    return [_in_list(value, constants) for value, constants in grouped.items()]


def _in_list(value: str, constants: Sequence[str]) -> str:
    return _within([value, *constants]) if all(constants) else value


def between_texts(args: Sequence[str]) -> tuple[str, str]:
    """The two comparisons that BETWEEN is."""
    value, low, high = args
    return call_text("LTE", [low, value]), call_text("LTE", [value, high])


def literal_text(literal: ir.Literal) -> str:
    """A constant."""
    return f"'{literal.text}'" if literal.kind in ("string", "typed") else literal.text.lower()


def cast_text(cast: ir.Cast, text: str) -> str:
    """A conversion of a value with a text; `200S` is no conversion of `200`."""
    suffixed = type(cast.arg) is ir.Literal and cast.arg.kind == "suffixed"
    word = "try_cast" if cast.safe else "cast"
    return f"{text}::{cast.to.lower()}" if suffixed else shortened(f"{word}({text} as {cast.to.lower()})")


def shortened(text: str) -> str:
    """A text that stays within bounds however often definitions are written into each other."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:200]}…#{fingerprint(text)}"


def fingerprint(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def lines(parts: Iterable[str]) -> str:
    """Several texts as sorted lines."""
    return "\n".join(sorted(parts))
