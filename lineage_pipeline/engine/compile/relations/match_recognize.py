"""MATCH_RECOGNIZE: a select over the rows that a pattern matches."""

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression, compile_expressions
from lineage_pipeline.engine.compile.relations.projection import compile_output
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir


def compile_match_recognize(context: CompileContext, items: list[ir.Source], match: exp.Expr) -> list[ir.Source]:
    """The sources with the last one replaced by its matched rows."""
    if not items:
        raise MalformedTree("MATCH_RECOGNIZE without a table")
    *others, source = items
    _strip_pattern_variables(match)
    partition = [*(match.args.get("partition_by") or ())]
    order = match.args.get("order")
    measures = [item.this for item in match.args.get("measures") or ()]
    defined = [compile_expression(context, item.this) for item in match.args.get("define") or ()]
    rows = match.args.get("rows")
    kept: list[ir.Output | ir.Star]
    if rows is not None and rows.name.upper().startswith("ALL"):
        kept = [ir.Star((), ir.NOWHERE, ir.NOWHERE)]
    else:
        kept = [compile_output(context, item, 0) for item in partition]
    body = ir.Select(
        sources=(msgspec.structs.replace(source, join=None),),
        outputs=(*kept, *(compile_output(context, item, 0) for item in measures)),
        where=ir.Call("AND", tuple(defined), 0, "BOOLEAN") if defined else None,
        group=compile_expressions(context, partition),
        order=compile_expressions(context, order.expressions if order is not None else ()),
    )
    alias = match.args.get("alias")
    name = (
        context.alias_name(alias.this) if isinstance(alias, exp.TableAlias) and alias.this is not None else source.alias
    )
    return [*others, ir.Source(name, relation=context.add_relation(body), join=source.join)]


def _strip_pattern_variables(match: exp.Expr) -> None:
    """`down.price` is a column of a row that matches `down`: pattern variables are not sources."""
    names = {item.args["alias"].name.lower() for item in match.args.get("define") or ()}
    pattern = match.args.get("pattern")
    words = pattern.name if pattern is not None else ""
    names |= {"".join(part).lower() for part in _pattern_words(words)}
    for column in match.find_all(exp.Column):
        table = column.args.get("table")
        if table is not None and table.name.lower() in names:
            column.set("table", None)


def _pattern_words(pattern: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter in "_$" else " " for letter in pattern).split()
