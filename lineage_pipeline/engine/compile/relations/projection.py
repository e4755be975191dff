"""Projection: the items of a select list, their names, spans and stars."""

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.dialect import UnaliasedNaming
from lineage_pipeline.engine.compile.column_names.postgres import derive_postgres_name
from lineage_pipeline.engine.compile.column_names.printer import print_column_name
from lineage_pipeline.engine.compile.context import CompileContext, build_text_alias, find_item_span
from lineage_pipeline.engine.compile.expressions.data_types import spell_type
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression, compile_expressions
from lineage_pipeline.engine.compile.relations.star import compile_column_set, compile_star, quoted_name_to_regex
from lineage_pipeline.engine.compile.relations.table_functions import produced_column_names
from lineage_pipeline.engine.compile.tokens import UNARY_PLUS
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir

_TRANSFORM_COLUMNS = ("key", "value")
"""The columns of TRANSFORM without names."""


def compile_transform(context: CompileContext, items: Sequence[exp.Expr]) -> Iterator[ir.Output]:
    """Hive, Spark: the columns of SELECT TRANSFORM; each may depend on every input."""
    node = items[0].this if isinstance(items[0], exp.Alias) else items[0]
    made_of = ir.Call("TRANSFORM", tuple(compile_expressions(context, node.expressions)))
    for name, written, kind in _transform_columns(context, node, items):
        value = ir.Cast(made_of, kind) if kind else made_of
        yield ir.Output(name=name, written=written, expr=value, start=ir.NOWHERE, end=ir.NOWHERE)


def _transform_columns(
    context: CompileContext, node: exp.Expr, items: Sequence[exp.Expr]
) -> Iterator[tuple[str, str, str]]:
    """The names and types of the columns after AS, in parentheses or as further items of the select list."""
    schema = node.args.get("schema")
    named = schema.expressions if schema is not None else [item for item in items if item is not node]
    for item in named:
        identifier = item.args["alias"] if isinstance(item, exp.Alias) else item
        while not isinstance(identifier, exp.Identifier):
            if not isinstance(identifier, exp.Expr):
                raise MalformedTree("a column without a name")
            identifier = identifier.this
        kind = spell_type(item.args.get("kind"), context.dialect) if isinstance(item, exp.ColumnDef) else ""
        yield context.column_name(identifier), identifier.name, kind
    if not named:
        yield from ((name, name, "") for name in _TRANSFORM_COLUMNS)


def compile_outputs(context: CompileContext, select: exp.Expr) -> Iterator[ir.Output | ir.Star]:
    """The items of a select list, in order."""
    found = _compile_items(context, select)
    return _number_unnamed(found) if context.traits.naming is UnaliasedNaming.F0 else found


def _number_unnamed(items: Iterator[ir.Output | ir.Star]) -> Iterator[ir.Output | ir.Star]:
    """BigQuery: numbers only the columns without a name."""
    unnamed = 0
    for item in items:
        if type(item) is ir.Output and item.name[-1:] == "_" and _UNNAMED_COLUMN.match(item.name):
            name = UnaliasedNaming.F0.value.format(unnamed)
            item, unnamed = msgspec.structs.replace(item, name=name, written=name), unnamed + 1
        yield item


_UNNAMED_COLUMN = re.compile(r"f\d+_\Z")


def _compile_items(context: CompileContext, select: exp.Expr) -> Iterator[ir.Output | ir.Star]:
    items = select.args.get("expressions") or ()
    if items and type(items[0].args.get("this") if type(items[0]) is exp.Alias else items[0]) is exp.QueryTransform:
        yield from compile_transform(context, items)
        return
    plain = not (context.named or context.traits.column_sets or context.traits.pattern_columns)
    for position, node in enumerate(items):
        simple = _compile_simple_item(context, node) if plain else None
        if simple is not None:
            yield simple
        else:
            yield from _compile_item(context, select, items, position)


def _compile_item(
    context: CompileContext, select: exp.Expr, items: Sequence[exp.Expr], position: int
) -> Iterator[ir.Output | ir.Star]:
    """The outputs of one item of a select list."""
    node = items[position]
    if type(node) is exp.Alias and node.this.is_star and not isinstance(node.args.get("alias"), exp.Identifier):
        node = node.this  # `t.*$1`: what no name can be is none
    if type(node) is exp.Paren and not context.traits.star_rows:
        inner = node.unnest()
        node = inner if inner.is_star or (type(inner) is exp.Dot and type(inner.expression) is exp.Star) else node
    kind = type(node)
    if kind is exp.Star or (kind is exp.Column and type(node.args["this"]) is exp.Star):
        yield compile_star(context, node, select)
    elif kind is exp.Aliases:
        yield from _compile_multi_alias(context, node)
    elif kind is exp.Dot and type(node.expression) is exp.Star:
        yield _compile_struct_star(context, node)
    elif context.traits.column_sets and (chosen := compile_column_set(context, node)) is not None:
        yield chosen
    elif context.traits.pattern_columns and (pattern := quoted_name_to_regex(node)):
        yield ir.Star((), *context.span_of(node.this), pattern=pattern)
    else:
        found = compile_output(context, node, position)
        if context.traits.generator_names and kind is not exp.Alias and (parts := _expand_generator(found)):
            yield from parts
        elif context.traits.naming is UnaliasedNaming.C0 and found.name.startswith("_c"):
            yield _name_as_hive(context, found, node, items[:position])
        else:
            yield found


def _compile_simple_item(context: CompileContext, node: exp.Expr) -> ir.Output | None:
    """A plain column with or without an alias, the usual case; None for anything else."""
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
    ref = compile_expression(context, node) if table is None else context.column_reference(table, name)
    if type(ref) is not ir.Ref or ref.start < 0:
        return None
    if alias is None:
        return ir.Output(name=ref.parts[-1], written=name.name, expr=ref, start=ref.start, end=ref.end)
    return ir.Output(name=context.column_name(alias), written=alias.name, expr=ref, start=ref.start, end=ref.end)


def _name_as_hive(context: CompileContext, found: ir.Output, node: exp.Expr, before: Sequence[exp.Expr]) -> ir.Output:
    """Hive: a column that is only cast keeps its name if that is free; windows are numbered separately."""
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        name, written = context.column_name(node.this.this), node.this.this.name
        if all(item.alias_or_name.lower() != name for item in before):
            return msgspec.structs.replace(found, name=name, written=written)
    if isinstance(node, exp.Window):
        number = sum(1 for item in before for _ in item.find_all(exp.Window))
        function = node.find(exp.Func)
        name = f"{_function_name_of(function)}_window_{number}" if function is not None else found.name
        return msgspec.structs.replace(found, name=name, written=name)
    return found


def compile_output(context: CompileContext, node: exp.Expr, position: int) -> ir.Output:
    """One column of a select list."""
    args = node.args
    alias, value = (args.get("alias"), args["this"]) if type(node) is exp.Alias else (None, node)
    shown = value
    if isinstance(value, exp.PropertyEQ):  # STRUCT-like items carry their name with them; `@v := value` has none
        alias, value = alias or value.this, value.expression
    elif type(value) is exp.EQ and _is_string_alias(context, value.this):
        alias = node = build_text_alias(context, value)
        value = value.expression
    compiled = compile_expression(context, value)
    if type(shown) is exp.Column and type(compiled) is ir.Ref and compiled.start >= 0 and not context.named:
        start, end = compiled.start, compiled.end
    else:
        start, end = find_item_span(context, node, alias)
        if start == ir.NOWHERE and isinstance(compiled, ir.Ref):
            start, end = compiled.start, compiled.end
    if isinstance(alias, exp.Identifier):
        return ir.Output(name=context.column_name(alias), written=alias.name, expr=compiled, start=start, end=end)
    name, written = _name_unaliased(context, shown, position, start, end)
    return ir.Output(name=name, written=written, expr=compiled, start=start, end=end)


def _is_string_alias(context: CompileContext, node: exp.Expr) -> bool:
    """T-SQL: whether a string before = is an alias, since a select list has no comparisons."""
    return context.traits.select_assigns and (isinstance(node, exp.National) or node.is_string)


def _compile_struct_star(context: CompileContext, node: exp.Expr) -> ir.Star:
    """`s.*` of a struct, which sqlglot parses as a chain of dots."""
    context.features.add("star")
    base = compile_expression(context, node.this)
    place = context.span_of(node.expression)
    return ir.Star(base.parts, *place) if isinstance(base, ir.Ref) else ir.Star((), *place, of=base)


def _compile_multi_alias(context: CompileContext, node: exp.Expr) -> Iterator[ir.Output]:
    """A generator with several aliases: `EXPLODE(m) AS (k, v)`."""
    compiled = compile_expression(context, node.this)
    start, end = find_item_span(context, node, node.expressions[0] if node.expressions else None)
    for position, alias in enumerate(node.expressions):
        part = ir.Call("PART", (compiled, _number_literal(position), _number_literal(len(node.expressions))))
        yield ir.Output(name=context.column_name(alias), written=alias.name, expr=part, start=start, end=end)


def _number_literal(number: int) -> ir.Literal:
    return ir.Literal("number", str(number))


def _expand_generator(made: ir.Output) -> list[ir.Output]:
    """The columns of a generator in a select list, under its own names; empty for other items."""
    call = made.expr
    if not isinstance(call, ir.Call) or not call.traits & ir.GENERATOR:
        return []
    op = call.op.split(":", 1)[0]
    names = produced_column_names(op, call.args) or ("",) if op in functions.EXPANDING_FUNCTIONS else ()
    return [
        ir.Output(
            name=name,
            written=name,
            expr=ir.Call("PART", (call, _number_literal(at), _number_literal(len(names)))),
            start=made.start,
            end=made.end,
        )
        for at, name in enumerate(names)
    ]


def _name_unaliased(context: CompileContext, node: exp.Expr, position: int, start: int, end: int) -> tuple[str, str]:
    """The name of a column without an alias, folded and as displayed."""
    inner = node
    while type(inner) is exp.Paren and UNARY_PLUS not in inner.meta:
        inner = inner.this
    if isinstance(inner, exp.Parameter) or (type(inner) is exp.Column and type(inner.this) is exp.Parameter):
        number = inner.name if isinstance(inner, exp.Parameter) else inner.this.name
        return (f"${number}", f"${number}") if context.traits.positions else ("", "")
    if type(inner) is exp.Column:
        return context.column_name(inner.this), inner.this.name
    naming = context.traits.naming
    if _is_named_after_member(inner, naming):
        return context.column_name(inner.expression), inner.expression.name
    if naming is UnaliasedNaming.NONE:
        return "", ""
    if naming is UnaliasedNaming.FUNCTION:
        name = derive_postgres_name(node, context.source_tokens(start, end) if start >= 0 else ())
        return name, name
    if naming is UnaliasedNaming.CAPTION and (shown := _name_as_spark(context, node, inner)):
        return shown.lower(), shown
    if naming is UnaliasedNaming.PRINTED and (shown := _name_as_duckdb(context, node)):
        return shown.lower(), shown
    if naming in (UnaliasedNaming.VALUE, UnaliasedNaming.CAPTION) and isinstance(inner, exp.Literal):
        return inner.name.lower(), inner.name
    return _name_by_text(naming, _read_text(context, start, end), position)


def _read_text(context: CompileContext, start: int, end: int) -> str:
    """What is written at a place, without comments; empty for no place."""
    text = context.text[context.origin + start : context.origin + end] if start != ir.NOWHERE else ""
    if "--" not in text and "/*" not in text and "#" not in text:
        return text
    return " ".join(context.text[token.start : token.end + 1] for token in context.source_tokens(start, end))


def _name_by_text(naming: UnaliasedNaming, text: str, position: int) -> tuple[str, str]:
    """The name of a column after its text or its position, folded and as displayed."""
    if naming not in (
        UnaliasedNaming.TEXT,
        UnaliasedNaming.PRINTED,
        UnaliasedNaming.VALUE,
        UnaliasedNaming.CAPTION,
        UnaliasedNaming.UPPER,
        UnaliasedNaming.PACKED,
    ):
        name = naming.value.format(position)
        return name, name
    name = ("" if naming is UnaliasedNaming.PACKED else " ").join(text.split())
    if naming in (UnaliasedNaming.UPPER, UnaliasedNaming.PACKED):
        return name.upper() or f"_col{position}", name.upper()
    return name.lower() if name else f"_col{position}", name


def _is_named_after_member(node: exp.Expr, naming: UnaliasedNaming) -> bool:
    """Whether a column is named after a struct member."""
    if (
        not isinstance(node, exp.Dot)
        or not isinstance(node.expression, exp.Identifier)
        or naming is UnaliasedNaming.PRINTED
    ):
        return False
    base: exp.Expr = node
    while naming is UnaliasedNaming.CAPTION and isinstance(base, exp.Dot | exp.Paren):
        base = base.this
    return naming is not UnaliasedNaming.CAPTION or isinstance(base, exp.Column | exp.Identifier)


def _item_tokens(context: CompileContext, node: exp.Expr) -> Sequence[Token]:
    """The tokens of an item of a select list; none if they are not known."""
    found = context.items.nodes.get(id(node))
    return context.items.tokens[found[1] : found[2] + 1] if found is not None else ()


def _name_as_spark(context: CompileContext, node: exp.Expr, inner: exp.Expr) -> str | None:
    """Spark: the printed expression; a column that is only cast keeps its name."""
    select = node.find_ancestor(exp.Select)
    aliases = {name.lower() for name in _source_names_of(select)} if select is not None else set()
    tokens = _item_tokens(context, node)
    cast = (
        inner.this
        if isinstance(inner, exp.Cast) and not (tokens and tokens[0].text.upper() in _FUNCTIONS_READ_AS_CASTS)
        else None
    )
    if isinstance(cast, exp.Column) and (not cast.table or cast.table.lower() in aliases):
        return str(cast.name)
    taken = _last_path_key(inner)
    return taken or _print_name(context, tokens, aliases)


def _last_path_key(node: exp.Expr) -> str:
    """The last key of a path into a document, `doc:a.b[0]`, with or without a cast."""
    node = node.this if isinstance(node, exp.Cast) else node
    if not isinstance(node, exp.JSONExtract) or not node.args.get("variant_extract"):
        return ""
    path = node.args.get("expression")
    keys = [part.name for part in path.expressions if isinstance(part, exp.JSONPathKey)] if path is not None else []
    return keys[-1] if keys else ""


_FUNCTIONS_READ_AS_CASTS = frozenset({"TO_TIMESTAMP"})
"""Functions that sqlglot reads as casts, and that Spark names after themselves."""


def _name_as_duckdb(context: CompileContext, node: exp.Expr) -> str:
    """DuckDB: the printed expression."""
    tokens = _item_tokens(context, node)
    return _print_name(context, tokens) or ""


def _print_name(context: CompileContext, tokens: Sequence[Token], aliases: Collection[str] = ()) -> str | None:
    """The expression as the dialect prints it, or None."""
    rules = context.traits.printed_names
    return print_column_name(tokens, context.text, context.items.tokens, rules, aliases) if rules else None


def _source_names_of(select: exp.Expr) -> Iterator[str]:
    """The names of the sources of a select."""
    from_ = select.args.get("from_")
    sources = [from_.this] if from_ is not None else []
    for join in (*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())):
        sources.append(join.this if isinstance(join, exp.Join) else join)
    for source in sources:
        yield source.alias_or_name


def _function_name_of(node: exp.Func) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else node.sql_name().lower()
