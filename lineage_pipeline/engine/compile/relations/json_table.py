"""JSON_TABLE, OPENJSON and XMLTABLE: each column has a path into the document, and perhaps a type."""

from collections.abc import Callable, Iterator

from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.data_types import spell_type
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression, function_traits_of
from lineage_pipeline.engine.compile.expressions.structs import split_path
from lineage_pipeline.model import ir

DocumentColumn = tuple[str, tuple[str, ...], str]
"""A column of a document: its name, its path, and its type."""


def _compile_json_table(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    path = node.args.get("path")
    base = split_path([path.name]) if isinstance(path, exp.Literal) else ()
    return _build_document_source(context, node.this, list(_compile_json_columns(context, node.args["schema"], base)))


def _compile_json_columns(context: CompileContext, schema: exp.Expr, base: tuple[str, ...]) -> Iterator[DocumentColumn]:
    for item in [item for item in schema.expressions if item.this or item.args.get("nested_schema")]:
        path = item.args.get("path")
        nested = item.args.get("nested_schema")
        own = split_path([path.name]) if isinstance(path, exp.Literal) else None
        if nested is not None:
            yield from _compile_json_columns(context, nested, (*base, *(own or ())))
        else:
            name = context.column_name(item.this)
            counted = bool(item.args.get("ordinality"))
            way = () if counted else (*base, *(own if own is not None else (item.this.name,)))
            yield name, way, _declared_type(context, item)


def _compile_open_json(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    path = node.args.get("path")
    base = split_path([path.name]) if isinstance(path, exp.Literal) else ()
    if not node.expressions:
        produced = tuple(context.fold_column(name) for name in functions.TABLE_FUNCTION_COLUMNS["OPENJSON"])
        return _build_document_source(
            context, node.this, [(name, base if name == "value" else (), "") for name in produced]
        )
    columns = []
    for item in node.expressions:
        own = item.args.get("path")
        keys = split_path([own.name]) if isinstance(own, exp.Literal) else (item.this.name,)
        columns.append((context.column_name(item.this), (*base, *keys), _declared_type(context, item)))
    return _build_document_source(context, node.this, columns)


def _compile_xml_table(context: CompileContext, node: exp.Expr, table: exp.Expr) -> ir.Source:
    args = tuple(compile_expression(context, item.unalias()) for item in node.args.get("passing") or ())
    listed = [item for item in node.args.get("columns") or () if isinstance(item.this, exp.Expr)]
    names = tuple(context.column_name(item.this) for item in listed) or (context.fold_column("column_value"),)
    call = ir.Call("XMLTABLE", args, function_traits_of("XMLTABLE"))
    types = tuple(_declared_type(context, item) for item in listed)
    return ir.Source("xmltable", function=call, produces=names, types=types)


def _declared_type(context: CompileContext, item: exp.Expr) -> str:
    """The declared type of a column; FOR ORDINALITY is an integer."""
    if item.args.get("ordinality"):
        return context.traits.ordinality_type
    kind = item.args.get("kind")
    return spell_type(kind, context.dialect) if isinstance(kind, exp.DataType) else ""


def _build_document_source(context: CompileContext, node: exp.Expr, columns: list[DocumentColumn]) -> ir.Source:
    names, paths = tuple(name for name, _, _ in columns), tuple(way for _, way, _ in columns)
    types = tuple(kind for _, _, kind in columns)
    call = ir.Call("JSONTABLE", (compile_expression(context, node),), ir.GENERATOR | ir.KEEPING)
    return ir.Source("", function=call, produces=names, paths=paths, types=types)


DOCUMENT_COMPILERS: dict[type[exp.Expr], Callable[[CompileContext, exp.Expr, exp.Expr], ir.Source]] = {
    exp.JSONTable: _compile_json_table,
    exp.OpenJSON: _compile_open_json,
    exp.XMLTable: _compile_xml_table,
}
"""Compilers of functions that read rows from a document."""
