"""Select lists: what each column is called, where its expression stands, and what a star leaves out."""

import re
from collections.abc import Iterator, Sequence

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.naming import Naming
from lineage_pipeline.engine.compile.captions import caption
from lineage_pipeline.engine.compile.columnsets import column_set, quoted_pattern, star
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.figures import figured
from lineage_pipeline.engine.compile.items import place_of, text_alias
from lineage_pipeline.engine.compile.printed import printed
from lineage_pipeline.engine.compile.rowsets import produced_names
from lineage_pipeline.engine.compile.scripts import transformed
from lineage_pipeline.engine.compile.words import SIGN
from lineage_pipeline.vocabulary import ir


def outputs(context: Context, select: exp.Expr) -> Iterator[ir.Output | ir.Star]:
    """The items of a select list, in order."""
    found = _items(context, select)
    return _numbered(found) if context.traits.naming is Naming.F0 else found


def _numbered(items: Iterator[ir.Output | ir.Star]) -> Iterator[ir.Output | ir.Star]:
    """BigQuery counts only the columns that have no name."""
    unnamed = 0
    for item in items:
        if type(item) is ir.Output and item.name[-1:] == "_" and _F0.match(item.name):
            name = Naming.F0.value.format(unnamed)
            item, unnamed = msgspec.structs.replace(item, name=name, written=name), unnamed + 1
        yield item


_F0 = re.compile(r"f\d+_\Z")


def _items(context: Context, select: exp.Expr) -> Iterator[ir.Output | ir.Star]:
    items = select.args.get("expressions") or ()
    if items and type(items[0].args.get("this") if type(items[0]) is exp.Alias else items[0]) is exp.QueryTransform:
        yield from transformed(context, items)
        return
    plain = not (context.named or context.traits.column_sets or context.traits.pattern_columns)
    for position, node in enumerate(items):
        simple = _simple(context, node) if plain else None
        if simple is not None:
            yield simple
        else:
            yield from _item(context, select, items, position)


def _item(
    context: Context, select: exp.Expr, items: Sequence[exp.Expr], position: int
) -> Iterator[ir.Output | ir.Star]:
    """What one item of a select list stands for."""
    node = items[position]
    if type(node) is exp.Alias and node.this.is_star and not isinstance(node.args.get("alias"), exp.Identifier):
        node = node.this  # `t.*$1`: what no name can be is none
    kind = type(node)
    if kind is exp.Star or (kind is exp.Column and type(node.args["this"]) is exp.Star):
        yield star(context, node, select)
    elif kind is exp.Aliases:
        yield from _several(context, node)
    elif kind is exp.Dot and type(node.expression) is exp.Star:
        yield _struct_star(context, node)
    elif context.traits.column_sets and (chosen := column_set(context, node)) is not None:
        yield chosen
    elif context.traits.pattern_columns and (pattern := quoted_pattern(node)):
        yield ir.Star((), *context.place(node.this), pattern=pattern)
    else:
        found = output(context, node, position)
        if context.traits.generator_names and kind is not exp.Alias and (parts := _generated(found)):
            yield from parts
        elif context.traits.naming is Naming.C0 and found.name.startswith("_c"):
            yield _recommended(context, found, node, items[:position])
        else:
            yield found


def _simple(context: Context, node: exp.Expr) -> ir.Output | None:
    """A column under its own name or an alias, as most items are; None for everything else."""
    args, alias = node.args, None
    if type(node) is exp.Alias:
        alias, node = args.get("alias"), args["this"]
        if type(node) is not exp.Column or type(alias) is not exp.Identifier:
            return None
        args = node.args
    elif type(node) is not exp.Column:
        return None
    name, table = args["this"], args.get("table")
    if type(name) is not exp.Identifier or args.get("db") is not None:
        return None
    ref = expression(context, node) if table is None else context.reference(table, name)
    if type(ref) is not ir.Ref or ref.start < 0:
        return None
    if alias is None:
        return ir.Output(ref.parts[-1], name.name, ref, ref.start, ref.end)
    return ir.Output(context.column(alias), alias.name, ref, ref.start, ref.end)


def _recommended(context: Context, found: ir.Output, node: exp.Expr, before: Sequence[exp.Expr]) -> ir.Output:
    """Hive calls a column that is only cast by its own name if that is free, and numbers windows by themselves."""
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        name, written = context.column(node.this.this), node.this.this.name
        if all(item.alias_or_name.lower() != name for item in before):
            return msgspec.structs.replace(found, name=name, written=written)
    if isinstance(node, exp.Window):
        number = sum(1 for item in before for _ in item.find_all(exp.Window))
        function = node.find(exp.Func)
        name = f"{_function_name(function)}_window_{number}" if function is not None else found.name
        return msgspec.structs.replace(found, name=name, written=name)
    return found


def output(context: Context, node: exp.Expr, position: int) -> ir.Output:
    """One column of a select list."""
    args = node.args
    alias, value = (args.get("alias"), args["this"]) if type(node) is exp.Alias else (None, node)
    shown = value
    if isinstance(value, exp.PropertyEQ):  # STRUCT-like items carry their name with them; `@v := value` has none
        alias, value = alias or value.this, value.expression
    elif type(value) is exp.EQ and _is_title(context, value.this):
        alias = node = text_alias(context, value)
        value = value.expression
    compiled = expression(context, value)
    if type(shown) is exp.Column and type(compiled) is ir.Ref and compiled.start >= 0 and not context.named:
        start, end = compiled.start, compiled.end
    else:
        start, end = place_of(context, node, alias)
        if start == ir.NOWHERE and isinstance(compiled, ir.Ref):
            start, end = compiled.start, compiled.end
    if isinstance(alias, exp.Identifier):
        return ir.Output(context.column(alias), alias.name, compiled, start, end)
    name, written = _implicit_name(context, shown, position, start, end)
    return ir.Output(name, written, compiled, start, end)


def _is_title(context: Context, node: exp.Expr) -> bool:
    """Whether a text before = names a column: a select list of T-SQL has no comparisons."""
    return context.traits.select_assigns and (isinstance(node, exp.National) or node.is_string)


def _struct_star(context: Context, node: exp.Expr) -> ir.Star:
    """`s.*` of a struct: sqlglot makes a chain of dots of it."""
    context.features.add("star")
    base = expression(context, node.this)
    place = context.place(node.expression)
    return ir.Star(base.parts, *place) if isinstance(base, ir.Ref) else ir.Star((), *place, of=base)


def _several(context: Context, node: exp.Expr) -> Iterator[ir.Output]:
    """A generator with several aliases: `EXPLODE(m) AS (k, v)`."""
    compiled = expression(context, node.this)
    start, end = place_of(context, node, node.expressions[0] if node.expressions else None)
    for position, alias in enumerate(node.expressions):
        part = ir.Call("PART", (compiled, _number(position), _number(len(node.expressions))))
        yield ir.Output(context.column(alias), alias.name, part, start, end)


def _number(number: int) -> ir.Literal:
    return ir.Literal("number", str(number))


def _generated(made: ir.Output) -> list[ir.Output]:
    """The columns of a generator in a select list, under the names that it gives them; nothing for other items."""
    call = made.expr
    if not isinstance(call, ir.Call) or not call.traits & ir.GENERATOR:
        return []
    op = call.op.split(":", 1)[0]
    names = produced_names(op, call.args) or ("",) if op in functions.SPREADING else ()
    return [
        ir.Output(name, name, ir.Call("PART", (call, _number(at), _number(len(names)))), made.start, made.end)
        for at, name in enumerate(names)
    ]


def _implicit_name(context: Context, node: exp.Expr, position: int, start: int, end: int) -> tuple[str, str]:
    """What the dialect calls a column without an alias, folded and as it is shown."""
    inner = node
    while type(inner) is exp.Paren and SIGN not in inner.meta:
        inner = inner.this
    if isinstance(inner, exp.Parameter) or (type(inner) is exp.Column and type(inner.this) is exp.Parameter):
        number = inner.name if isinstance(inner, exp.Parameter) else inner.this.name
        return (f"${number}", f"${number}") if context.traits.positions else ("", "")
    if type(inner) is exp.Column:
        return context.column(inner.this), inner.this.name
    naming = context.traits.naming
    if _is_member(inner, naming):
        return context.column(inner.expression), inner.expression.name
    if naming is Naming.NONE:
        return "", ""
    if naming is Naming.FUNCTION:
        text = context.text[context.origin + start : context.origin + end] if start >= 0 else ""
        name = figured(node, text)
        return name, name
    if naming is Naming.CAPTION and (shown := _caption(context, node, inner)):
        return shown.lower(), shown
    if naming is Naming.PRINTED and (shown := _printed(context, node)):
        return shown.lower(), shown
    if naming in (Naming.VALUE, Naming.CAPTION) and isinstance(inner, exp.Literal):
        return inner.name.lower(), inner.name
    text = context.text[context.origin + start : context.origin + end] if start != ir.NOWHERE else ""
    return _by_text(naming, text, position)


def _by_text(naming: Naming, text: str, position: int) -> tuple[str, str]:
    """The name of a column that is called after its text or its position, folded and as it is shown."""
    if naming not in (Naming.TEXT, Naming.PRINTED, Naming.VALUE, Naming.CAPTION, Naming.UPPER, Naming.PACKED):
        name = naming.value.format(position)
        return name, name
    name = ("" if naming is Naming.PACKED else " ").join(text.split())
    if naming in (Naming.UPPER, Naming.PACKED):
        return name.upper() or f"_col{position}", name.upper()
    return name.lower() if name else f"_col{position}", name


def _is_member(node: exp.Expr, naming: Naming) -> bool:
    """Whether a column is called after the member that it takes; where expressions are printed, one of a column."""
    if not isinstance(node, exp.Dot) or not isinstance(node.expression, exp.Identifier) or naming is Naming.PRINTED:
        return False
    base: exp.Expr = node
    while naming is Naming.CAPTION and isinstance(base, exp.Dot | exp.Paren):
        base = base.this
    return naming is not Naming.CAPTION or isinstance(base, exp.Column | exp.Identifier)


def _caption(context: Context, node: exp.Expr, inner: exp.Expr) -> str | None:
    """What is printed of an expression where columns are named after it; a column that is only cast keeps its name."""
    select = node.find_ancestor(exp.Select)
    aliases = {name.lower() for name in _source_names(select)} if select is not None else set()
    found = context.items.nodes.get(id(node))
    tokens = context.items.tokens[found[1] : found[2] + 1] if found is not None else ()
    cast = inner.this if isinstance(inner, exp.Cast) and not (tokens and tokens[0].text.upper() in _NAMED) else None
    if isinstance(cast, exp.Column) and (not cast.table or cast.table.lower() in aliases):
        return str(cast.name)
    taken = _taken(inner)
    return taken or caption(tokens, context.text, aliases, context.items.tokens)


def _taken(node: exp.Expr) -> str:
    """The last name on the way into a document, `doc:a.b[0]`, be it converted or not."""
    node = node.this if isinstance(node, exp.Cast) else node
    if not isinstance(node, exp.JSONExtract) or not node.args.get("variant_extract"):
        return ""
    path = node.args.get("expression")
    keys = [part.name for part in path.expressions if isinstance(part, exp.JSONPathKey)] if path is not None else []
    return keys[-1] if keys else ""


_NAMED = frozenset({"TO_TIMESTAMP"})
"""Functions that the parser takes for casts, and that are called after themselves."""


def _printed(context: Context, node: exp.Expr) -> str:
    """What is printed of an expression where columns are named after all of it."""
    found = context.items.nodes.get(id(node))
    tokens = context.items.tokens[found[1] : found[2] + 1] if found is not None else ()
    return printed(tokens, context.text, context.items.tokens) or ""


def _source_names(select: exp.Expr) -> Iterator[str]:
    """The names by which the sources of a select are asked."""
    from_ = select.args.get("from_")
    sources = [from_.this] if from_ is not None else []
    for join in (*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())):
        sources.append(join.this if isinstance(join, exp.Join) else join)
    for source in sources:
        yield source.alias_or_name


def _function_name(node: exp.Func) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else node.sql_name().lower()
