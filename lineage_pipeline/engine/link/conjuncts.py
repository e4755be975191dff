"""The conditions of a clause that all have to hold, however they are written."""

from collections.abc import Sequence

import msgspec

from lineage_pipeline.vocabulary import ir


def conjuncts(condition: ir.Expr | None) -> list[ir.Expr]:
    """The conditions that all have to hold."""
    if condition is None:
        return []
    found, pending = [], [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, ir.Call) and part.op == "AND":
            pending.extend(reversed(part.args))
        elif isinstance(part, ir.Call) and part.op == "NOT" and (denied := _denied(part)):
            pending.extend(reversed(denied))
        else:
            found.append(part)
    return found


def _denied(condition: ir.Call) -> Sequence[ir.Expr]:
    """What has to hold where NOT stands before several conditions of which one is enough, or before another NOT."""
    (inner,) = condition.args
    if not isinstance(inner, ir.Call):
        return ()
    if inner.op == "OR":
        return [msgspec.structs.replace(condition, args=(part,)) for part in inner.args]
    return inner.args if inner.op == "NOT" else ()
