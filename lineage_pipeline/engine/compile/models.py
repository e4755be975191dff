"""Models in the place of tables: they give back the rows that they are handed, beside columns of their own."""

from collections.abc import Callable

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.vocabulary import ir


def applied(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """What a model makes of the rows of a table or a query."""
    given = node.this if isinstance(node, exp.AIForecast) else node.args.get("expression")
    op = type(node).__name__.upper()
    if isinstance(node, exp.Predict) and isinstance(node.this, exp.Table):  # who only reads it gets no value of it
        context.compile_query(context, node.this)
    handed = isinstance(given, exp.Query | exp.Table)
    args = (ir.Sub("rows", context.compile_query(context, given)),) if isinstance(given, exp.Expr) and handed else ()
    return ir.Source(op.lower(), function=ir.Call(op, args, ir.GENERATOR))


def searched(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    """VECTOR_SEARCH: a row of the query, the row of the base that is near it, and how near."""
    sources = (
        ir.Source("query", relation=context.compile_query(context, node.args["query_table"])),
        ir.Source("base", relation=context.compile_query(context, node.this), join=ir.Join("cross")),
    )
    compared = node.args["column_to_search"]
    column = ir.Ref(("base", context.fold_column(compared.name)), *context.place(compared))
    rows: dict[str, ir.Expr] = {name: ir.Whole((name,), ir.NOWHERE, ir.NOWHERE) for name in ("query", "base")}
    made: dict[str, ir.Expr] = {**rows, "distance": ir.Call("DISTANCE", (column,), 0, "FLOAT64")}
    outputs = tuple(ir.Output(name, name, value, ir.NOWHERE, ir.NOWHERE) for name, value in made.items())
    return ir.Source("vector_search", relation=context.add(ir.Select(sources, outputs)))


_APPLIED = (
    *(exp.AIForecast, exp.GenerateBool, exp.GenerateDouble, exp.GenerateEmbedding, exp.GenerateInt, exp.GenerateTable),
    *(exp.GenerateText, exp.MLForecast, exp.MLTranslate, exp.Predict),
)

MODELS: dict[type[exp.Expr], Callable[[Context, exp.Expr, exp.Expr], ir.Source]] = {
    **dict.fromkeys(_APPLIED, applied),
    exp.VectorSearch: searched,
}
"""Who compiles a function of BigQuery that applies a model."""
