"""Keys by which only some of the rows are grouped: in the others they are null, and so is what is made of them."""

from collections.abc import Sequence

import msgspec

from lineage_pipeline.engine.link.model import Out
from lineage_pipeline.vocabulary import ir

_BRACKETS = frozenset({"TUPLE", "ROLLUP", "CUBE", "GROUPINGSETS"})


def with_gaps(body: ir.Select, columns: Sequence[Out]) -> list[Out]:
    """The outputs of a select, those that show such a key marked as nullable."""
    keys = [key for place in body.partial for key in _columns(body.group[place])]
    named = {key.parts[-1] for key in keys if isinstance(key, ir.Ref)}
    whole = {repr(_bare(key)) for key in keys if not isinstance(key, ir.Ref)}
    shown = {output.name for output in body.outputs if type(output) is ir.Output and _shows(output.expr, named, whole)}
    starred = any(type(output) is ir.Star for output in body.outputs)
    return [
        msgspec.structs.replace(column, value=msgspec.structs.replace(column.value, nullable=True))
        if column.name in shown or column.name in named or starred
        else column
        for column in columns
    ]


def _columns(key: ir.Expr) -> Sequence[ir.Expr]:
    """The keys in brackets, one by one; of grouping sets those that are not in all of them."""
    if not isinstance(key, ir.Call) or key.op not in _BRACKETS:
        return (key,)
    if key.op != "GROUPINGSETS":
        return [column for arg in key.args for column in _columns(arg)]
    sets = [_columns(arg) for arg in key.args]
    every = [{repr(_bare(column)) for column in columns} for columns in sets]
    flat = [column for columns in sets for column in columns]
    return [column for column in flat if not all(repr(_bare(column)) in names for names in every)]


def _shows(expr: ir.Expr, named: set[str], whole: set[str]) -> bool:
    """Whether an expression shows a key outside of aggregates."""
    if isinstance(expr, ir.Ref):
        return expr.parts[-1] in named
    if isinstance(expr, ir.Call):
        if expr.traits & ir.AGGREGATE or expr.op.startswith("GROUPING"):
            return False
        return repr(_bare(expr)) in whole or any(_shows(arg, named, whole) for arg in expr.args)
    if isinstance(expr, ir.Case):
        parts = [value for _, value in expr.whens] + ([expr.default] if expr.default is not None else [])
        return any(_shows(part, named, whole) for part in parts)
    return _shows(expr.arg, named, whole) if isinstance(expr, ir.Cast | ir.Field) else False


def _bare(expr: ir.Expr) -> ir.Expr:
    """An expression without places."""
    if isinstance(expr, ir.Ref):
        return ir.Ref(expr.parts[-1:], 0, 0)
    if isinstance(expr, ir.Call):
        return ir.Call(expr.op, tuple(_bare(arg) for arg in expr.args))
    return expr
