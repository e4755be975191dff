"""Documents in the place of tables: each column has a way into the document, and a type where one is declared."""

from collections.abc import Callable, Iterator

from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.documents import written_path
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.operators import traits_of_name
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.vocabulary import ir

Column = tuple[str, tuple[str, ...], str]
"""A column of a document: its name, the way into the document, and its type."""


def _json_table(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    path = node.args.get("path")
    base = written_path([path.name]) if isinstance(path, exp.Literal) else ()
    return _document(context, node.this, list(_json_columns(context, node.args["schema"], base)))


def _json_columns(context: Context, schema: exp.Expr, base: tuple[str, ...]) -> Iterator[Column]:
    for item in [item for item in schema.expressions if item.this or item.args.get("nested_schema")]:
        path = item.args.get("path")
        nested = item.args.get("nested_schema")
        own = written_path([path.name]) if isinstance(path, exp.Literal) else None
        if nested is not None:
            yield from _json_columns(context, nested, (*base, *(own or ())))
        else:
            name = context.column(item.this)
            counted = bool(item.args.get("ordinality"))
            way = () if counted else (*base, *(own if own is not None else (item.this.name,)))
            yield name, way, _declared(context, item)


def _open_json(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    path = node.args.get("path")
    base = written_path([path.name]) if isinstance(path, exp.Literal) else ()
    if not node.expressions:
        produced = tuple(context.fold_column(name) for name in functions.PRODUCED["OPENJSON"])
        return _document(context, node.this, [(name, base if name == "value" else (), "") for name in produced])
    columns = []
    for item in node.expressions:
        own = item.args.get("path")
        keys = written_path([own.name]) if isinstance(own, exp.Literal) else (item.this.name,)
        columns.append((context.column(item.this), (*base, *keys), _declared(context, item)))
    return _document(context, node.this, columns)


def _xml_table(context: Context, node: exp.Expr, table: exp.Expr) -> ir.Source:
    args = tuple(expression(context, item.unalias()) for item in node.args.get("passing") or ())
    listed = [item for item in node.args.get("columns") or () if isinstance(item.this, exp.Expr)]
    names = tuple(context.column(item.this) for item in listed) or (context.fold_column("column_value"),)
    call = ir.Call("XMLTABLE", args, traits_of_name("XMLTABLE"))
    types = tuple(_declared(context, item) for item in listed)
    return ir.Source("xmltable", function=call, produces=names, types=types)


def _declared(context: Context, item: exp.Expr) -> str:
    """The type that a column is declared to have; one that counts the rows is an integer."""
    if item.args.get("ordinality"):
        return functions.COUNTERS.get(context.traits.family, "")
    kind = item.args.get("kind")
    return spelling(kind, context.dialect) if isinstance(kind, exp.DataType) else ""


def _document(context: Context, node: exp.Expr, columns: list[Column]) -> ir.Source:
    names, paths = tuple(name for name, _, _ in columns), tuple(way for _, way, _ in columns)
    types = tuple(kind for _, _, kind in columns)
    call = ir.Call("JSONTABLE", (expression(context, node),), ir.GENERATOR | ir.KEEPING)
    return ir.Source("", function=call, produces=names, paths=paths, types=types)


DOCUMENTS: dict[type[exp.Expr], Callable[[Context, exp.Expr, exp.Expr], ir.Source]] = {
    exp.JSONTable: _json_table,
    exp.OpenJSON: _open_json,
    exp.XMLTable: _xml_table,
}
