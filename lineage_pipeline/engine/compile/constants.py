"""Constants that say their type themselves: `date '2024-01-31'`, `200S`, `1.5BD`; the parser makes them conversions."""

import re

from sqlglot import exp

from lineage_pipeline.dialects.functions import UNITS
from lineage_pipeline.dialects.typing.casts import LENIENT
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.units import timed
from lineage_pipeline.vocabulary import ir

_UNIT_FIRST = re.compile(r"\s*\(\s*[A-Za-z]+\s*,")
_TYPE_BEFORE = re.compile(r"\b(?:DATE|TIME|TIMESTAMP(?:_\w+)?)\s*$", re.IGNORECASE)
_REACH = 24
"""How far before a string its type may begin."""


def typed_constant(context: Context, node: exp.Expr) -> ir.Literal | None:
    """The constant that a conversion of one is, where conversions of strings may fail and this one does not."""
    if context.traits.family not in LENIENT:
        return None
    start, end = node.meta.get("start", ir.NOWHERE), node.meta.get("end", ir.NOWHERE)
    if start < 0:  # 1.5BD: the only string that nobody wrote
        return ir.Literal("typed", str(node.this)) if node.args.get("is_string") else None
    text = context.text
    if text[start : start + 1] in ("'", '"'):
        typed = _TYPE_BEFORE.search(text, max(start - _REACH, 0), start)
        return ir.Literal("typed", str(node.this)) if typed is not None else None
    if text[end : end + 1].isalpha() and end - start >= len(str(node.this)):
        return ir.Literal("suffixed", str(node.this))
    return None


def difference(context: Context, node: exp.Expr) -> ir.Expr:
    """DATEDIFF: one that names its unit first is TIMESTAMPDIFF, and no longer gives days but a long number."""
    found = timed(context, node)
    end = node.meta.get("end", ir.NOWHERE)
    if context.traits.family in LENIENT and end >= 0 and isinstance(found, ir.Call):
        first = _UNIT_FIRST.match(context.text, end + 1)
        if first is not None and len(found.args) == 3 and first[0].strip("( ,\n").upper() in UNITS:
            return ir.Call("TIMESTAMPDIFF", found.args, found.traits, found.result)
    return found
