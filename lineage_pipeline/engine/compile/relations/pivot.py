"""PIVOT and UNPIVOT, after a source or as statements of their own."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from sqlglot import exp

from lineage_pipeline.engine.compile.column_names.printer import print_column_name
from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.relations.star import compile_columns_call
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir

_ALL_COLUMNS = ir.Star((), ir.NOWHERE, ir.NOWHERE)


_NAME_COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)


def compile_pivoted_source(context: CompileContext, source: ir.Source, pivot: exp.Expr) -> ir.Source:
    """A source after PIVOT or UNPIVOT."""
    inner = context.add_relation(ir.Select((source,), (_ALL_COLUMNS,)))
    alias = pivot.args.get("alias")
    name = context.alias_name(alias.this) if alias is not None and alias.this is not None else source.alias
    columns = tuple(
        context.column_name(item) for item in (alias.args.get("columns") or () if alias is not None else ())
    )
    relation = (
        _compile_unpivot(context, pivot, inner) if pivot.args.get("unpivot") else _compile_pivot(context, pivot, inner)
    )
    return ir.Source(name, relation=context.add_relation(relation), columns=columns)


def _references_of(compiled: ir.Expr) -> Iterator[ir.Ref]:
    """One column, or several in parentheses."""
    if isinstance(compiled, ir.Ref):
        yield compiled
    elif isinstance(compiled, ir.Call) and compiled.op == "TUPLE":
        for part in compiled.args:
            yield from _references_of(part)


def _key_references(compiled: ir.Expr) -> Iterator[ir.Ref]:
    """The columns that a key is made of."""
    if isinstance(compiled, ir.Cast):
        yield from _key_references(compiled.arg)
    elif isinstance(compiled, ir.Call):
        for part in compiled.args:
            yield from _key_references(part)
    else:
        yield from _references_of(compiled)


def _compile_pivot(context: CompileContext, pivot: exp.Expr, inner: int) -> ir.Pivot:
    fields = pivot.args.get("fields") or ()
    keys = [ref for field in fields for ref in _references_of(compile_expression(context, field.this))]
    names = list(pivot.args.get("columns") or ())
    aggregates = [compile_expression(context, _strip_alias(item)) for item in pivot.expressions]
    listed = [item for field in fields for item in (*field.expressions, field.args.get("query"))]
    for item in listed:
        if isinstance(item, exp.Query):  # its rows are the names of the columns
            context.compile_query(context, item)
    if any(isinstance(item, exp.PivotAny | exp.Query) for item in listed) or any(
        field.args.get("field") for field in fields
    ):
        return ir.Pivot(
            relation=inner,
            keys=tuple(keys),
            outputs=(),
            open=tuple(aggregates),
            group=_compile_pivot_group(context, pivot),
        )
    values = [_pivot_value_name(item) for field in fields for item in field.expressions]
    outputs = []
    for position in range(len(names) or len(values) * max(len(aggregates), 1)):
        aggregate = aggregates[position % len(aggregates)] if aggregates else ir.Literal("null", "NULL")
        identifier = names[position] if position < len(names) else None
        named = _NAME_COMMENT.sub("", identifier.name) if identifier is not None else ""  # sqlglot takes remarks over
        written = named or values[position // max(len(aggregates), 1)]
        name = (_NAME_COMMENT.sub("", context.column_name(identifier)) if identifier is not None else "") or written
        outputs.append(ir.Output(name=name, written=written, expr=aggregate, start=ir.NOWHERE, end=ir.NOWHERE))
    return ir.Pivot(
        relation=inner, keys=tuple(keys), outputs=tuple(outputs), open=(), group=_compile_pivot_group(context, pivot)
    )


def _pivot_value_name(node: exp.Expr) -> str:
    """The column name of a value; Spark prints several values as a struct, and lists as lists."""
    if isinstance(node, exp.Tuple | exp.Array):
        listed = ", ".join(_pivot_value_name(item) for item in node.expressions)
        return f"[{listed}]" if isinstance(node, exp.Array) else f"{{{listed}}}"
    return str(node.alias_or_name or node.name)


def _strip_alias(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias | exp.PivotAlias) else node


def _compile_unpivot(context: CompileContext, pivot: exp.Expr, inner: int) -> ir.Unpivot:
    values: list[str] = []
    for item in pivot.expressions:
        parts = item.expressions if isinstance(item, exp.Tuple) else [item]
        values.extend(_column_name_of(context, part) for part in parts)
    label = ""
    inputs: list[tuple[ir.Ref, ...]] = []
    every: ir.Star | None = None
    for field in pivot.args.get("fields") or ():
        label = _column_name_of(context, field.this)
        columns = next((item for item in field.expressions if isinstance(item, exp.Columns)), None)
        if columns is not None:
            every = compile_columns_call(context, columns)
            continue
        inputs.extend(
            tuple(_references_of(compile_expression(context, _strip_alias(item)))) for item in field.expressions
        )
    return ir.Unpivot(
        relation=inner,
        values=tuple(values),
        label=label,
        inputs=tuple(inputs),
        every=every,
        keeps_nulls=bool(pivot.args.get("include_nulls")),
    )


def _column_name_of(context: CompileContext, node: exp.Expr) -> str:
    return context.column_name(node.this if isinstance(node, exp.Column) else node)


# ── statements of their own ──────────────────────────────────────────────────────────────────────────────────────


def compile_pivot_statement(context: CompileContext, node: exp.Expr, source: ir.Source) -> int:
    """DuckDB: PIVOT … ON … and UNPIVOT … ON …."""
    inner = context.add_relation(ir.Select((source,), (_ALL_COLUMNS,)))
    relation = (
        _compile_unpivot_on(context, node, inner)
        if node.args.get("unpivot")
        else _compile_pivot_on(context, node, inner)
    )
    return context.add_relation(relation)


def _compile_pivot_group(context: CompileContext, node: exp.Expr) -> tuple[ir.Ref, ...] | None:
    """The GROUP BY columns of a pivot, or None."""
    group = node.args.get("group")
    if group is None:
        return None
    return tuple(ref for item in group.expressions for ref in _references_of(compile_expression(context, item)))


def _compile_pivot_on(context: CompileContext, node: exp.Expr, inner: int) -> ir.Pivot:
    keys = [
        ref
        for item in node.expressions
        for ref in _key_references(compile_expression(context, item.this if isinstance(item, exp.In) else item))
    ]
    used = list(node.args.get("using") or ())
    aggregates = [
        (
            compile_expression(context, _strip_alias(item)),
            item.alias or (_aggregate_name(context, item) if len(used) > 1 else ""),
        )
        for item in used
    ]
    kept = _compile_pivot_group(context, node)
    if not all(isinstance(item, exp.In) for item in node.expressions):
        return ir.Pivot(
            relation=inner, keys=tuple(keys), outputs=(), open=tuple(value for value, _ in aggregates), group=kept
        )
    lists = [[value.alias_or_name or value.name for value in item.expressions] for item in node.expressions]
    outputs = [
        ir.Output(name=name, written=name, expr=value, start=ir.NOWHERE, end=ir.NOWHERE)
        for name, value in _pivot_column_names(context, lists, aggregates)
    ]
    return ir.Pivot(relation=inner, keys=tuple(keys), outputs=tuple(outputs), open=(), group=kept)


def _aggregate_name(context: CompileContext, node: exp.Expr) -> str:
    """The printed form of an aggregate without an alias, if there are several."""
    text = node.sql(context.dialect, comments=False)
    tokens = tokenize(text, context.traits)
    rules = context.traits.printed_names
    if rules is None or not isinstance(tokens, list):
        return text.lower()
    return print_column_name(tokens, text, tokens, rules) or text.lower()


def _pivot_column_names(
    context: CompileContext, lists: Sequence[Sequence[str]], aggregates: Sequence[tuple[ir.Expr, str]]
) -> Iterator[tuple[str, ir.Expr]]:
    """The columns of a pivot statement: the values joined by `_`, and the alias of the aggregate."""
    for values in product(*lists):
        for value, alias in aggregates:
            yield context.fold_column("_".join([*values, *([alias] if alias else [])])), value


def _compile_unpivot_on(context: CompileContext, node: exp.Expr, inner: int) -> ir.Unpivot:
    into = node.args.get("into")
    if into is not None and not isinstance(into.this, exp.Expr):
        raise MalformedTree("UNPIVOT INTO without a name")
    label = _column_name_of(context, into.this) if into is not None else context.fold_column("name")
    values = (
        [_column_name_of(context, item) for item in into.expressions]
        if into is not None
        else [context.fold_column("value")]
    )
    every = next((item for item in node.expressions if isinstance(item, exp.Columns)), None)
    if every is not None:
        return ir.Unpivot(
            relation=inner,
            values=tuple(values),
            label=label,
            inputs=(),
            every=compile_columns_call(context, every),
        )
    inputs = tuple(tuple(_references_of(compile_expression(context, _strip_alias(item)))) for item in node.expressions)
    return ir.Unpivot(inner, tuple(values), label, inputs)
