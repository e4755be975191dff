"""PIVOT and UNPIVOT, behind a source or as statements of their own, as relations over what they turn."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from sqlglot import exp

from lineage_pipeline.engine.compile.columnsets import star
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.printed import printed
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir

EVERYTHING = ir.Star((), ir.NOWHERE, ir.NOWHERE)


REMARK = re.compile(r"\s*/\*.*?\*/", re.DOTALL)


def pivoted(context: Context, source: ir.Source, pivot: exp.Expr) -> ir.Source:
    """The source as its rows and columns are after turning."""
    inner = context.add(ir.Select((source,), (EVERYTHING,)))
    alias = pivot.args.get("alias")
    name = context.alias(alias.this) if alias is not None and alias.this is not None else source.alias
    columns = tuple(context.column(item) for item in (alias.args.get("columns") or () if alias is not None else ()))
    relation = _unpivot(context, pivot, inner) if pivot.args.get("unpivot") else _pivot(context, pivot, inner)
    return ir.Source(name, relation=context.add(relation), columns=columns)


def _refs(compiled: ir.Expr) -> Iterator[ir.Ref]:
    """The columns of one, or of several in brackets."""
    if isinstance(compiled, ir.Ref):
        yield compiled
    elif isinstance(compiled, ir.Call) and compiled.op == "TUPLE":
        for part in compiled.args:
            yield from _refs(part)


def _keys(compiled: ir.Expr) -> Iterator[ir.Ref]:
    """The columns that a key is made of."""
    if isinstance(compiled, ir.Cast):
        yield from _keys(compiled.arg)
    elif isinstance(compiled, ir.Call):
        for part in compiled.args:
            yield from _keys(part)
    else:
        yield from _refs(compiled)


def _pivot(context: Context, pivot: exp.Expr, inner: int) -> ir.Pivot:
    fields = pivot.args.get("fields") or ()
    keys = [ref for field in fields for ref in _refs(expression(context, field.this))]
    names = list(pivot.args.get("columns") or ())
    aggregates = [expression(context, _unaliased(item)) for item in pivot.expressions]
    if any(isinstance(item, exp.PivotAny | exp.Query) for field in fields for item in field.expressions) or any(
        field.args.get("query") or field.args.get("field") for field in fields
    ):
        return ir.Pivot(inner, tuple(keys), (), tuple(aggregates), _grouped(context, pivot))
    values = [_value_name(item) for field in fields for item in field.expressions]
    outputs = []
    for position in range(len(names) or len(values) * max(len(aggregates), 1)):
        aggregate = aggregates[position % len(aggregates)] if aggregates else ir.Literal("null", "NULL")
        identifier = names[position] if position < len(names) else None
        named = REMARK.sub("", identifier.name) if identifier is not None else ""  # sqlglot takes remarks over
        written = named or values[position // max(len(aggregates), 1)]
        name = (REMARK.sub("", context.column(identifier)) if identifier is not None else "") or written
        outputs.append(ir.Output(name, written, aggregate, ir.NOWHERE, ir.NOWHERE))
    return ir.Pivot(inner, tuple(keys), tuple(outputs), (), _grouped(context, pivot))


def _value_name(node: exp.Expr) -> str:
    """What the column of a value is called; Spark prints several values as a struct, and lists as lists."""
    if isinstance(node, exp.Tuple | exp.Array):
        listed = ", ".join(_value_name(item) for item in node.expressions)
        return f"[{listed}]" if isinstance(node, exp.Array) else f"{{{listed}}}"
    return str(node.alias_or_name or node.name)


def _unaliased(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias | exp.PivotAlias) else node


def _unpivot(context: Context, pivot: exp.Expr, inner: int) -> ir.Unpivot:
    values: list[str] = []
    for item in pivot.expressions:
        parts = item.expressions if isinstance(item, exp.Tuple) else [item]
        values.extend(_name(context, part) for part in parts)
    label = ""
    inputs: list[tuple[ir.Ref, ...]] = []
    for field in pivot.args.get("fields") or ():
        label = _name(context, field.this)
        inputs.extend(tuple(_refs(expression(context, _unaliased(item)))) for item in field.expressions)
    return ir.Unpivot(inner, tuple(values), label, tuple(inputs))


def _name(context: Context, node: exp.Expr) -> str:
    return context.column(node.this if isinstance(node, exp.Column) else node)


# ── statements of their own ──────────────────────────────────────────────────────────────────────────────────────


def turned(context: Context, node: exp.Expr, source: ir.Source) -> int:
    """PIVOT or UNPIVOT with an ON of its own."""
    inner = context.add(ir.Select((source,), (EVERYTHING,)))
    relation = _turned_down(context, node, inner) if node.args.get("unpivot") else _turned_up(context, node, inner)
    return context.add(relation)


def _grouped(context: Context, node: exp.Expr) -> tuple[ir.Ref, ...] | None:
    """The columns by which a pivot groups, where it says so."""
    group = node.args.get("group")
    if group is None:
        return None
    return tuple(ref for item in group.expressions for ref in _refs(expression(context, item)))


def _turned_up(context: Context, node: exp.Expr, inner: int) -> ir.Pivot:
    keys = [
        ref
        for item in node.expressions
        for ref in _keys(expression(context, item.this if isinstance(item, exp.In) else item))
    ]
    used = list(node.args.get("using") or ())
    aggregates = [
        (expression(context, _unaliased(item)), item.alias or (_shown(context, item) if len(used) > 1 else ""))
        for item in used
    ]
    kept = _grouped(context, node)
    if not all(isinstance(item, exp.In) for item in node.expressions):
        return ir.Pivot(inner, tuple(keys), (), tuple(value for value, _ in aggregates), kept)
    lists = [[value.alias_or_name or value.name for value in item.expressions] for item in node.expressions]
    outputs = [
        ir.Output(name, name, value, ir.NOWHERE, ir.NOWHERE) for name, value in _named(context, lists, aggregates)
    ]
    return ir.Pivot(inner, tuple(keys), tuple(outputs), (), kept)


def _shown(context: Context, node: exp.Expr) -> str:
    """What is printed of an aggregate without an alias, where there are several."""
    text = node.sql(context.dialect, comments=False)
    tokens = tokenize(text, context.traits)
    return (printed(tokens, text, tokens) if isinstance(tokens, list) else None) or text.lower()


def _named(
    context: Context, lists: Sequence[Sequence[str]], aggregates: Sequence[tuple[ir.Expr, str]]
) -> Iterator[tuple[str, ir.Expr]]:
    """The columns of a pivot statement: the values joined by a bar, and the alias of the aggregate."""
    for values in product(*lists):
        for value, alias in aggregates:
            yield context.fold_column("_".join([*values, *([alias] if alias else [])])), value


def _turned_down(context: Context, node: exp.Expr, inner: int) -> ir.Unpivot:
    into = node.args.get("into")
    if into is not None and not isinstance(into.this, exp.Expr):
        raise MalformedTree("UNPIVOT INTO without a name")
    label = _name(context, into.this) if into is not None else context.fold_column("name")
    values = [_name(context, item) for item in into.expressions] if into is not None else [context.fold_column("value")]
    every = next((item for item in node.expressions if isinstance(item, exp.Columns)), None)
    if every is not None:
        return ir.Unpivot(inner, tuple(values), label, (), star(context, every.this, exp.Select()))
    inputs = tuple(tuple(_refs(expression(context, _unaliased(item)))) for item in node.expressions)
    return ir.Unpivot(inner, tuple(values), label, inputs)
