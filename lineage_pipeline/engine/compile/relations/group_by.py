"""GROUP BY: keys in ROLLUP, CUBE and GROUPING SETS, keys missing in some groupings, and time windows."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expressions
from lineage_pipeline.model import ir

_GROUPING_NODES = (exp.Rollup, exp.Cube, exp.GroupingSets)
_GROUPING_ARGS = ("grouping_sets", "cube", "rollup")


def grouping_keys_of(group: exp.Expr) -> list[exp.Expr]:
    """The grouping columns, in whatever sets they are."""
    plain = () if group.args.get("grouping_sets") else group.expressions
    return list(_flatten_keys([*plain, *_grouping_clauses(group)]))


def partial_keys_of(group: exp.Expr) -> set[int]:
    """The ids of keys that are missing in some grouping, and null in its rows."""
    sets = [*_grouping_clauses(group), *(key for key in group.expressions if isinstance(key, _GROUPING_NODES))]
    if not sets:
        return set()
    plain = [key for key in group.expressions if not isinstance(key, _GROUPING_NODES)]
    listed = [key for part in sets for key in _flatten_keys([part])]
    groupings = [names for part in sets for names in _grouping_sets(part)]
    texts = {id(key): key.sql(comments=False) for key in (*plain, *listed)}
    named = {texts[id(key)] for key in plain}
    # WITH ROLLUP has no keys of its own; Hive lists all keys first, and the sets of them behind
    apart = listed and named.isdisjoint(texts[id(key)] for key in listed)
    everywhere = set(texts.values()).intersection(*groupings)
    return {key for key, text in texts.items() if text not in everywhere and not (apart and text in named)}


def grouping_text_of(group: exp.Expr, places: Mapping[int, int]) -> str:
    """ROLLUP, CUBE or GROUPING SETS over the positions of the keys, as text."""
    sets = [*_grouping_clauses(group), *(item for item in group.expressions if isinstance(item, _GROUPING_NODES))]
    flags = [kind for kind in _GROUPING_ARGS if group.args.get(kind) and not isinstance(group.args[kind], list)]
    words = [
        *flags,
        *(_grouping_set_text(item, places) for item in sets),
        *(["totals"] if group.args.get("totals") else []),
    ]
    return " ".join(words).upper()


def _grouping_set_text(node: exp.Expr, places: Mapping[int, int]) -> str:
    """A set of keys, each as its position in braces."""
    if id(node) in places:
        return f"{{{places[id(node)]}}}"
    if isinstance(node, exp.Paren):
        return f"({_grouping_set_text(node.this, places)})"
    inside = ", ".join(_grouping_set_text(item, places) for item in node.expressions)
    return f"{type(node).__name__ if isinstance(node, _GROUPING_NODES) else ''}({inside})"


def _grouping_clauses(group: exp.Expr) -> list[exp.Expr]:
    """The grouping clauses after the keys."""
    return [part for kind in _GROUPING_ARGS for part in group.args.get(kind) or () if isinstance(part, exp.Expr)]


def _flatten_keys(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, (*_GROUPING_NODES, exp.Tuple)):
            yield from _flatten_keys(node.expressions)
        elif isinstance(node, exp.Paren):
            yield from _flatten_keys([node.this])
        else:
            yield node


def _grouping_sets(part: exp.Expr) -> list[set[str]]:
    """The keys of each grouping of a part; ROLLUP and CUBE include an empty one."""
    if not isinstance(part, exp.GroupingSets):
        return [set()]
    return [
        names
        for item in part.expressions
        for names in (
            _grouping_sets(item)
            if isinstance(item, _GROUPING_NODES)
            else [{key.sql(comments=False) for key in _flatten_keys([item])}]
        )
    ]


def compile_time_windows(context: CompileContext, group: exp.Expr) -> Iterator[ir.Source]:
    """Time windows among the keys, as sources of the query: `window.start` is a column of one."""
    for key in grouping_keys_of(group):
        name = key.name.upper() if isinstance(key, exp.Anonymous) else ""
        if name in context.traits.time_window_functions:
            call = ir.Call(name, compile_expressions(context, key.expressions), ir.GENERATOR)
            produced = (context.fold_column("start"), context.fold_column("end"))
            yield ir.Source(name.lower(), function=call, produces=produced, lateral=True, join=ir.Join("cross"))


def absent_keys_of(group: exp.Expr) -> list[exp.Expr]:
    """Hive: the keys that no following grouping set names; they are null in all rows."""
    sets = [part for part in group.args.get("grouping_sets") or () if isinstance(part, exp.Expr)]
    named = {key.sql(comments=False) for key in _flatten_keys(sets)}
    return [key for key in group.expressions if key.sql(comments=False) not in named] if sets else []


def nullify_absent_keys(outputs: Sequence[ir.Output | ir.Star], absent: Sequence[ir.Expr]) -> list[ir.Output | ir.Star]:
    """The outputs with NULL in place of absent keys."""
    gone = {repr(_strip_spans(key)) for key in absent}
    named = {key.parts[-1] for key in absent if isinstance(key, ir.Ref)}
    return [
        msgspec.structs.replace(
            output, expr=_typed_null(output.expr) if output.name in named else _replace_absent(output.expr, gone)
        )
        if isinstance(output, ir.Output)
        else output
        for output in outputs
    ]


def _typed_null(expr: ir.Expr) -> ir.Expr:
    """NULL of the type of an expression."""
    return ir.Call("BLANK", (expr,))


def _replace_absent(expr: ir.Expr, gone: set[str]) -> ir.Expr:
    """An expression with NULL in place of absent keys outside aggregates."""
    if repr(_strip_spans(expr)) in gone:
        return _typed_null(expr)
    if isinstance(expr, ir.Call) and not expr.traits & ir.AGGREGATE and not expr.op.startswith("GROUPING"):
        return msgspec.structs.replace(expr, args=tuple(_replace_absent(arg, gone) for arg in expr.args))
    if isinstance(expr, ir.Cast | ir.Field):
        return msgspec.structs.replace(expr, arg=_replace_absent(expr.arg, gone))
    if isinstance(expr, ir.Case):
        whens = tuple(
            (_replace_absent(condition, gone), _replace_absent(value, gone)) for condition, value in expr.whens
        )
        return ir.Case(whens, _replace_absent(expr.default, gone) if expr.default is not None else None)
    return expr


def _strip_spans(expr: ir.Expr) -> ir.Expr:
    """An expression without spans and qualifiers."""
    if isinstance(expr, ir.Ref):
        return ir.Ref(expr.parts[-1:], 0, 0)
    if isinstance(expr, ir.Call):
        return ir.Call(expr.op, tuple(_strip_spans(arg) for arg in expr.args))
    return expr
