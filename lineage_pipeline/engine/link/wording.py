"""The canonical text of a call, where types and nullability tell that two ways of writing it mean the same."""

from collections.abc import Sequence

from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.engine.link.canonical import JOINED, call_text, literal_text
from lineage_pipeline.engine.link.model import Value
from lineage_pipeline.vocabulary import ir

_COMPARING = frozenset("EQ NEQ GT GTE LT LTE BETWEEN IN".split())
_TRUE = "true"

_CUTTING = "COALESCE:is_null"
"""ISNULL of T-SQL: what stands for a null is cut to the type of the value, which is no matter where both have it."""


def worded(expr: ir.Call, op: str, args: Sequence[Value], family: Family) -> str:
    """Give the text of a call whose arguments have texts, types and nullability."""
    texts = [arg.text for arg in args]
    if op == "COUNT" and len(args) == 1 and type(expr.args[0]) is ir.Ref and not args[0].nullable:
        texts = []  # whoever counts what is never null counts rows
    elif op == "ADD" and _are_joined(args, family):
        return call_text(JOINED, texts)
    elif expr.op == _CUTTING and args[0].type is not None and all(arg.type == args[0].type for arg in args):
        return call_text(op, texts)
    elif op in _COMPARING and len(args) == len(expr.args):
        texts = [_compared(part, arg, args) for part, arg in zip(expr.args, args, strict=True)]
        if op == "EQ" and _TRUE in texts and all(arg.type == family.boolean for arg in args):
            return next((text for text in texts if text != _TRUE), _TRUE)
    return call_text(expr.op, texts)


def _are_joined(args: Sequence[Value], family: Family) -> bool:
    """Whether a sign that adds numbers puts texts, bytes or lists together, so that their order counts."""
    known = [arg.type.partition("(")[0].partition("<")[0] for arg in args if arg.type]
    joined = (*family.strings, family.binary, "BINARY", "ARRAY")
    return any(kind in joined or kind.endswith("[]") for kind in known) or (
        family.adds_texts and len(known) < len(args)
    )


def _compared(part: ir.Expr, value: Value, args: Sequence[Value]) -> str:
    """Give a text that is converted to what it is compared with as the text itself: the engine converts it anyway."""
    if type(part) is not ir.Cast or type(part.arg) is not ir.Literal or part.arg.kind != "string":
        return value.text
    return literal_text(part.arg) if any(arg is not value and arg.type == value.type for arg in args) else value.text
