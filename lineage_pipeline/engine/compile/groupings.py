"""Groups: keys in ROLLUP, CUBE and GROUPING SETS, those that group only some rows or none, and windows of time."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expressions
from lineage_pipeline.vocabulary import ir

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_CLAUSES = ("grouping_sets", "cube", "rollup")


def grouping_keys(group: exp.Expr) -> list[exp.Expr]:
    """The columns that group, however they are bracketed into sets."""
    plain = () if group.args.get("grouping_sets") else group.expressions
    return list(_flat([*plain, *_clauses(group)]))


def partial_keys(group: exp.Expr) -> set[int]:
    """The ids of the keys that are missing from a grouping, and null in its rows."""
    sets = [*_clauses(group), *(key for key in group.expressions if isinstance(key, _SETS))]
    if not sets:
        return set()
    plain = [key for key in group.expressions if not isinstance(key, _SETS)]
    listed = [key for part in sets for key in _flat([part])]
    groupings = [names for part in sets for names in _groupings(part)]
    texts = {id(key): key.sql(comments=False) for key in (*plain, *listed)}
    named = {texts[id(key)] for key in plain}
    # WITH ROLLUP has no keys of its own; Hive lists all keys first, and the sets of them behind
    apart = listed and named.isdisjoint(texts[id(key)] for key in listed)
    everywhere = set(texts.values()).intersection(*groupings)
    return {key for key, text in texts.items() if text not in everywhere and not (apart and text in named)}


def grouping_words(group: exp.Expr, places: Mapping[int, int]) -> str:
    """What keys are bracketed into: ROLLUP, CUBE or GROUPING SETS of the keys at their places."""
    sets = [*_clauses(group), *(item for item in group.expressions if isinstance(item, _SETS))]
    flags = [kind for kind in _CLAUSES if group.args.get(kind) and not isinstance(group.args[kind], list)]
    words = [*flags, *(_bracketed(item, places) for item in sets), *(["totals"] if group.args.get("totals") else [])]
    return " ".join(words).upper()


def _bracketed(node: exp.Expr, places: Mapping[int, int]) -> str:
    """A set of keys, each as its place in braces."""
    if id(node) in places:
        return f"{{{places[id(node)]}}}"
    if isinstance(node, exp.Paren):
        return f"({_bracketed(node.this, places)})"
    inside = ", ".join(_bracketed(item, places) for item in node.expressions)
    return f"{type(node).__name__ if isinstance(node, _SETS) else ''}({inside})"


def _clauses(group: exp.Expr) -> list[exp.Expr]:
    """The clauses behind the keys."""
    return [part for kind in _CLAUSES for part in group.args.get(kind) or () if isinstance(part, exp.Expr)]


def _flat(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, (*_SETS, exp.Tuple)):
            yield from _flat(node.expressions)
        elif isinstance(node, exp.Paren):
            yield from _flat([node.this])
        else:
            yield node


def _groupings(part: exp.Expr) -> list[set[str]]:
    """The keys of each grouping that a part makes; ROLLUP and CUBE make one that has none."""
    if not isinstance(part, exp.GroupingSets):
        return [set()]
    return [
        names
        for item in part.expressions
        for names in (
            _groupings(item) if isinstance(item, _SETS) else [{key.sql(comments=False) for key in _flat([item])}]
        )
    ]


def time_windows(context: Context, group: exp.Expr) -> Iterator[ir.Source]:
    """The windows of time among the keys, as sources of the query: `window.start` is a column of one."""
    for key in grouping_keys(group):
        name = key.name.upper() if isinstance(key, exp.Anonymous) else ""
        if name in functions.TIME_WINDOWS[context.traits.family]:
            call = ir.Call(name, expressions(context, key.expressions), ir.GENERATOR)
            produced = (context.fold_column("start"), context.fold_column("end"))
            yield ir.Source(name.lower(), function=call, produces=produced, lateral=True, join=ir.Join("cross"))


def absent_keys(group: exp.Expr) -> list[exp.Expr]:
    """The keys that no grouping set behind them names: they are null in all rows."""
    sets = [part for part in group.args.get("grouping_sets") or () if isinstance(part, exp.Expr)]
    named = {key.sql(comments=False) for key in _flat(sets)}
    return [key for key in group.expressions if key.sql(comments=False) not in named] if sets else []


def blanked(outputs: Sequence[ir.Output | ir.Star], absent: Sequence[ir.Expr]) -> list[ir.Output | ir.Star]:
    """The outputs with null in the place of such keys."""
    gone = {repr(_bare(key)) for key in absent}
    named = {key.parts[-1] for key in absent if isinstance(key, ir.Ref)}
    return [
        msgspec.structs.replace(
            output, expr=_blank(output.expr) if output.name in named else _without(output.expr, gone)
        )
        if isinstance(output, ir.Output)
        else output
        for output in outputs
    ]


def _blank(expr: ir.Expr) -> ir.Expr:
    """Null of the type that an expression has."""
    return ir.Call("BLANK", (expr,))


def _without(expr: ir.Expr, gone: set[str]) -> ir.Expr:
    """An expression with null in the place of keys outside of aggregates."""
    if repr(_bare(expr)) in gone:
        return _blank(expr)
    if isinstance(expr, ir.Call) and not expr.traits & ir.AGGREGATE and not expr.op.startswith("GROUPING"):
        return msgspec.structs.replace(expr, args=tuple(_without(arg, gone) for arg in expr.args))
    if isinstance(expr, ir.Cast | ir.Field):
        return msgspec.structs.replace(expr, arg=_without(expr.arg, gone))
    if isinstance(expr, ir.Case):
        whens = tuple((_without(condition, gone), _without(value, gone)) for condition, value in expr.whens)
        return ir.Case(whens, _without(expr.default, gone) if expr.default is not None else None)
    return expr


def _bare(expr: ir.Expr) -> ir.Expr:
    """An expression without places and qualifiers."""
    if isinstance(expr, ir.Ref):
        return ir.Ref(expr.parts[-1:], 0, 0)
    if isinstance(expr, ir.Call):
        return ir.Call(expr.op, tuple(_bare(arg) for arg in expr.args))
    return expr
