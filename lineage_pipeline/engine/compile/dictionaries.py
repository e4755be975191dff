"""Dictionaries of ClickHouse: tables that are loaded, column by column, from another one."""

from typing import Any

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.vocabulary import ir


def dictionary(context: Context, tree: exp.Expr, columns: tuple[ir.ColumnDef, ...]) -> dict[str, Any]:
    """CREATE DICTIONARY: an object with columns, and a write where its source is a table."""
    name = name_of(context, tree.this.this)
    found: dict[str, Any] = {"kind": "CREATE DICTIONARY", "definition": ir.Definition(name, "table", columns)}
    source = _source(context, tree)
    if source is None:
        return found
    outputs = tuple(
        ir.Output(
            column.name, column.written, ir.Ref((column.name,), column.start, column.end), column.start, column.end
        )
        for column in columns
    )
    relation = context.add(ir.Select((ir.Source(context.called(source), name=source),), outputs))
    return {**found, "writes": (ir.Write(name, relation, "insert", None, by_name=True),)}


def _source(context: Context, tree: exp.Expr) -> ir.Name | None:
    """The table that a dictionary is loaded from."""
    properties = tree.args.get("properties")
    for item in properties.expressions if properties is not None else ():
        if isinstance(item, exp.DictProperty) and str(item.this).upper() == "SOURCE":
            said = {part.this.name.lower(): part.args["value"] for part in item.args.get("settings") or ()}
            texts = [said[key].name for key in ("db", "table") if key in said]
            if "table" in said:
                return ir.Name(tuple(context.fold_table(text) for text in texts), texts[-1])
    return None
