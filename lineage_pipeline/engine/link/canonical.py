"""Canonical text: the same for two expressions that mean the same whatever the aliases, brackets and order of terms."""

import hashlib
from collections.abc import Iterable

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
    if op in _MIRRORED and len(args) == 2:
        op, args = _MIRRORED[op], args[::-1]
    if op in _COMMUTATIVE:
        args = sorted(args)
    symbol = _SYMBOLS.get(op)
    if symbol is not None and len(args) > 1:
        return shortened("(" + f" {symbol} ".join(args) + ")")
    return shortened(f"{op.lower()}({', '.join(args)})")


def cast_text(cast: ir.Cast, text: str) -> str:
    """A conversion of a value with a text; `200S` is no conversion of `200`."""
    suffixed = type(cast.arg) is ir.Literal and cast.arg.kind == "suffixed"
    return f"{text}::{cast.to.lower()}" if suffixed else shortened(f"cast({text} as {cast.to.lower()})")


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
