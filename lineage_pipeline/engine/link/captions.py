"""Names of columns that are called after their expressions, where how these are printed depends on types."""

import msgspec

from lineage_pipeline.dialects.captions import moved
from lineage_pipeline.dialects.naming import Naming
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.model import Value
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir

_SIGNS = {"ADD": " + ", "SUB": " - ", "MUL": " * "}
_MOMENTS = ("INTERVAL", "DATE", "TIMESTAMP", "STRING")
"""What begins the types of moments that are moved."""


def recaptioned(output: ir.Output, value: Value, scope: Scope, links: Links) -> ir.Output:
    """An output under the name that fits the types of its operands."""
    call = output.expr
    if type(call) is not ir.Call or call.op not in _SIGNS or len(call.args) != 2:
        return output
    if links.traits.naming is not Naming.CAPTION or not (value.type or "").startswith(_MOMENTS):
        return output
    left, right = (value_of(arg, scope, links).type or "" for arg in call.args)
    shape, parts = moved(call.op, left, right), _parts(output.written, _SIGNS[call.op])
    if not shape or len(parts) != 2:
        return output
    written = shape.format(*parts)
    return msgspec.structs.replace(output, name=written.lower(), written=written)


def _parts(text: str, sign: str) -> list[str]:
    """What stands on the two sides of a sign that is in no brackets, or in the outermost alone."""
    at = _outside(text, sign)
    if at < 0 and text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
        at = _outside(text, sign)
    return [text[:at], text[at + len(sign) :]] if at >= 0 else []


def _outside(text: str, sign: str) -> int:
    """Where the first sign is that stands in no brackets."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and text.startswith(sign, at):
            return at
    return -1
