"""PIVOT and UNPIVOT, as relations over the source they stand behind."""

from collections.abc import Iterator

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.vocabulary import ir


def pivoted(context: Context, source: ir.Source, pivot: exp.Expr) -> ir.Source:
    """The source as its rows and columns are after turning."""
    everything = ir.Select((source,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    inner = context.add(everything)
    alias = pivot.args.get("alias")
    name = context.table(alias.this) if alias is not None and alias.this is not None else source.alias
    columns = tuple(context.column(item) for item in (alias.args.get("columns") or () if alias is not None else ()))
    relation = _unpivot(context, pivot, inner) if pivot.args.get("unpivot") else _pivot(context, pivot, inner)
    return ir.Source(name, relation=context.add(relation), columns=columns)


def _pivot(context: Context, pivot: exp.Expr, inner: int) -> ir.Pivot:
    keys: list[ir.Ref] = []
    for field in pivot.args.get("fields") or ():
        key = expression(context, field.this)
        if isinstance(key, ir.Ref):
            keys.append(key)
    names = list(pivot.args.get("columns") or ())
    aggregates = [expression(context, item.this if isinstance(item, exp.Alias) else item) for item in pivot.expressions]
    values = list(_values(pivot))
    outputs = []
    for position in range(len(names) or len(values) * max(len(aggregates), 1)):
        aggregate = aggregates[position % len(aggregates)] if aggregates else ir.Literal("null", "NULL")
        identifier = names[position] if position < len(names) else None
        written = identifier.name if identifier is not None else values[position // max(len(aggregates), 1)]
        name = context.column(identifier) if identifier is not None else written
        outputs.append(ir.Output(name, written, aggregate, ir.NOWHERE, ir.NOWHERE))
    return ir.Pivot(inner, tuple(keys), tuple(outputs))


def _values(pivot: exp.Expr) -> Iterator[str]:
    for field in pivot.args.get("fields") or ():
        for item in field.expressions:
            yield item.alias_or_name or item.name


def _unpivot(context: Context, pivot: exp.Expr, inner: int) -> ir.Unpivot:
    values: list[str] = []
    for item in pivot.expressions:
        parts = item.expressions if isinstance(item, exp.Tuple) else [item]
        values.extend(context.column(part.this if isinstance(part, exp.Column) else part) for part in parts)
    label = ""
    inputs: list[tuple[ir.Ref, ...]] = []
    for field in pivot.args.get("fields") or ():
        target = field.this
        label = context.column(target.this if isinstance(target, exp.Column) else target)
        for item in field.expressions:
            compiled = expression(context, item)
            parts_ = compiled.args if isinstance(compiled, ir.Call) else (compiled,)
            inputs.append(tuple(part for part in parts_ if isinstance(part, ir.Ref)))
    return ir.Unpivot(inner, tuple(values), label, tuple(inputs))
