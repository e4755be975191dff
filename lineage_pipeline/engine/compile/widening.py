"""Functions that take all rows of a table and give them back with more columns, or with fewer."""

from collections.abc import Iterator, Sequence

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.vocabulary import ir


def widened(context: Context, function: ir.Expr) -> int:
    """The relation that such a function makes of the query among its arguments, or nowhere."""
    if not isinstance(function, ir.Call) or function.op not in functions.WIDENING:
        return ir.NOWHERE
    given = _spoken(function.args) if context.traits.name in functions.TABLE_FIRST else function.args
    arguments = [_plain(context, argument) for argument in given]
    tables = [argument.relation for argument in arguments if isinstance(argument, ir.Sub)]
    if not tables:
        return ir.NOWHERE
    described = tuple(_described(arguments))
    added = functions.TABLE_FIRST.get(context.traits.name, functions.WIDENING[function.op])
    everything = ir.Star((), ir.NOWHERE, ir.NOWHERE, () if added else tuple(ref.parts[-1] for ref in described))
    made = ir.Call(function.op, described)
    outputs = (ir.Output(context.fold_column(name), name, made, ir.NOWHERE, ir.NOWHERE) for name in added)
    return context.add(ir.Select((ir.Source("", relation=tables[0]),), (everything, *outputs)))


def _spoken(arguments: Sequence[ir.Expr]) -> list[ir.Expr]:
    """Arguments of which the first names a table and the second a column, as others say it: TABLE t, DESCRIPTOR(c)."""
    words = (("TABLE", arguments[:1]), ("DESCRIPTOR", arguments[1:2]))
    named = [ir.Call(word, (item,)) for word, items in words for item in items if isinstance(item, ir.Ref)]
    return [*named, *arguments[2:]]


def _plain(context: Context, argument: ir.Expr) -> ir.Expr:
    """The value of an argument that is given by name; a table among them is the query of all its rows."""
    if isinstance(argument, ir.Call) and argument.op == "KWARG":
        argument = argument.args[-1]
    if isinstance(argument, ir.Call) and argument.op == "TABLE" and isinstance(argument.args[0], ir.Ref):
        table = argument.args[0]
        name = ir.Name(table.parts, table.parts[-1], table.start, table.end)
        star = ir.Star((), ir.NOWHERE, ir.NOWHERE)
        return ir.Sub("scalar", context.add(ir.Select((ir.Source("", name=name),), (star,))))
    return argument


def _described(arguments: list[ir.Expr]) -> Iterator[ir.Ref]:
    """The columns that DESCRIPTOR names."""
    for argument in arguments:
        if isinstance(argument, ir.Call) and argument.op == "DESCRIPTOR":
            yield from (item for item in argument.args if isinstance(item, ir.Ref))
