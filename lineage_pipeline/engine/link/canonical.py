"""Canonical text: the same for two expressions that mean the same whatever the aliases, brackets and order of terms."""

import hashlib
from collections.abc import Iterable, Sequence

from lineage_pipeline.vocabulary import ir

_COMMUTATIVE = frozenset("AND OR ADD MUL EQ NEQ NULLSAFEEQ BITWISEAND BITWISEOR".split())
_SYMBOLS = {
    "ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "%", "EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=",
    "LT": "<", "LTE": "<=", "AND": "and", "OR": "or", "LIKE": "like", "IS": "is", "DPIPE": "||",
}  # fmt: skip
_MIRRORED = {"GT": "LT", "GTE": "LTE"}
LONGEST = 2000


def call_text(op: str, args: list[str]) -> str:
    """An operator or function with its arguments."""
    if op == "IS:negate":
        return call_text("NOT", [call_text("IS", args)])
    if op in _MIRRORED and len(args) == 2:
        op, args = _MIRRORED[op], args[::-1]
    if op in _COMMUTATIVE:
        args = sorted(args)
    elif op == "IN":
        args = [*args[:1], *sorted(args[1:])]
    elif op == "BETWEEN" and len(args) == 3:
        return call_text("AND", list(between_texts(args)))
    elif op.partition(":")[0] == "COUNT" and len(args) == 1 and args[0].isdigit():
        args = []  # COUNT(1) counts rows, as COUNT(*) does
    symbol = _SYMBOLS.get(op)
    if symbol is not None and len(args) > 1:
        return shortened("(" + f" {symbol} ".join(args) + ")")
    return shortened(f"{op.lower()}({', '.join(args)})")


def between_texts(args: Sequence[str]) -> tuple[str, str]:
    """The two comparisons that BETWEEN is."""
    value, low, high = args
    return call_text("LTE", [low, value]), call_text("LTE", [value, high])


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
