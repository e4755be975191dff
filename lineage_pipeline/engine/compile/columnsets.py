"""Stars and their kin: all columns, those that a pattern matches, and what is made of each of them."""

import re
from collections.abc import Callable

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.items import place_of
from lineage_pipeline.vocabulary import ir


def star(context: Context, node: exp.Expr, select: exp.Expr) -> ir.Star:
    """A star with its modifiers."""
    inner = node.this if isinstance(node, exp.Column) else node
    qualifiers = [node.args[key] for key in ("catalog", "db", "table") if node.args.get(key) is not None]
    context.features.add("star")
    excluded = [*(inner.args.get("except_") or ()), *(select.args.get("exclude") or ())]
    start, end = context.place(*qualifiers, inner)
    if context.text[context.origin + end - 1] != "*":  # FROM without SELECT: nobody wrote the star
        start, end = ir.NOWHERE, ir.NOWHERE
    return ir.Star(
        tuple(context.alias(part) for part in qualifiers),
        start,
        end,
        tuple(_left_out(context, item) for item in excluded),
        tuple(_replaced(context, item) for item in inner.args.get("replace") or ()),
        tuple(
            (context.column(_identifier(item)), context.column(item.args["alias"]))
            for item in inner.args.get("rename") or ()
            if item.args.get("alias") is not None
        ),
        like_pattern(inner.args["ilike"].name, ignoring_case=True) if inner.args.get("ilike") is not None else "",
    )


def _left_out(context: Context, node: exp.Expr) -> str:
    """A column that a star leaves out, with the source it is asked of."""
    table = node.args.get("table") if isinstance(node, exp.Column) else None
    name = context.column(_identifier(node))
    return f"{context.alias(table)}.{name}" if isinstance(table, exp.Identifier) else name


def _identifier(node: exp.Expr) -> exp.Expr:
    while not isinstance(node, exp.Identifier) and isinstance(node.args.get("this"), exp.Expr):
        node = node.this
    return node


def _replaced(context: Context, node: exp.Expr) -> ir.Output:
    """`expression AS column` of a REPLACE."""
    alias = node.args.get("alias")
    name = alias if isinstance(alias, exp.Identifier) else _identifier(node)
    start, end = place_of(context, node, name) if alias is not None else (ir.NOWHERE, ir.NOWHERE)
    value = expression(context, node.this if alias is not None else node)
    return ir.Output(context.column(name), name.name, value, start, end)


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────────────────────


def like_pattern(text: str, *, ignoring_case: bool = False) -> str:
    """The regular expression that matches what a LIKE pattern matches."""
    parts = {"%": ".*", "_": "."}
    body = "".join(parts.get(character, re.escape(character)) for character in text)
    return f"{'(?i)' if ignoring_case else ''}^{body}$"


def _glob_pattern(text: str) -> str:
    parts = {"*": ".*", "?": "."}
    return "^" + "".join(parts.get(character, re.escape(character)) for character in text) + "$"


_TESTS: dict[type[exp.Expr], Callable[[str], str]] = {
    exp.Like: like_pattern,
    exp.ILike: lambda text: like_pattern(text, ignoring_case=True),
    exp.SimilarTo: lambda text: text.replace("%", ".*"),
    exp.Glob: _glob_pattern,
    exp.RegexpLike: str,
    exp.EQ: lambda text: f"^{re.escape(text)}$",
}
"""The tests of a name that are understood, and the regular expression of each."""


def _test_pattern(node: exp.Expr) -> str | None:
    """The regular expression of a test, or None where it is another one."""
    negated = bool(node.args.get("negate"))
    if isinstance(node, exp.Not):
        node, negated = node.this, True
    maker = _TESTS.get(type(node))
    if maker is None or not isinstance(node.args.get("expression"), exp.Literal):
        return None
    pattern = maker(node.expression.name)
    if not _compiles(pattern):
        return None
    return f"^(?!.*?(?:{pattern.removeprefix('^')}))" if negated else pattern


def quoted_pattern(node: exp.Expr) -> str:
    """The pattern that a quoted name of a column is, if it is one."""
    name = node.this if isinstance(node, exp.Column) else None
    if not isinstance(name, exp.Identifier) or not name.args.get("quoted") or not re.search(r"[|?+*(\[^]", name.name):
        return ""
    return f"(?i)^(?:{name.name})$" if _compiles(name.name) else ""


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


# ── columns as arguments ─────────────────────────────────────────────────────────────────────────────────────────


def column_set(context: Context, node: exp.Expr) -> ir.Star | None:
    """An item of a select list that stands for several columns: COLUMNS(…), `* LIKE …`, `* APPLY …`."""
    alias = node.args.get("alias") if isinstance(node, exp.Alias) else None
    value = node.this if alias is not None else node
    if type(value) in _TESTS and isinstance(value.this, exp.Star):
        return _with(star(context, value.this, exp.Select()), pattern=_told(context, _test_pattern(value)))
    naming = alias.name if isinstance(alias, exp.Identifier) else ""
    inner = value
    while isinstance(inner, exp.Apply):
        naming = f"{inner.expression.name}({naming or '{}'})" if isinstance(inner.expression, exp.Var) else naming
        inner = inner.this
    if not isinstance(value, exp.Apply):
        inner = value.find(exp.Columns) if context.mentions("columns") else None
        inner = None if inner is not None and inner is not value and inner.args.get("unpack") else inner
    if not isinstance(inner, exp.Columns | exp.Star | exp.Column):
        return None
    found = _chosen(context, inner) if isinstance(inner, exp.Columns) else star(context, inner, exp.Select())
    each = ir.HOLE if inner is value else expression(context, value)
    return _with(found, each=None if each == ir.HOLE else each, naming=naming)


def _with(found: ir.Star, pattern: str | None = None, each: ir.Expr | None = None, naming: str = "") -> ir.Star:
    shown = found.pattern if pattern is None else pattern
    return ir.Star(
        found.qualifier, found.start, found.end, found.exclude, found.replace, found.rename, shown, each, naming
    )


def _chosen(context: Context, node: exp.Expr) -> ir.Star:
    """The columns that COLUMNS(…) stands for."""
    inner = node.this
    place = context.place(node)
    if isinstance(inner, exp.Star | exp.Column):
        return star(context, inner, exp.Select())
    context.features.add("star")
    if isinstance(inner, exp.Literal) and _compiles(inner.name):
        return ir.Star((), *place, pattern=inner.name)
    if isinstance(inner, exp.Array) and all(isinstance(item, exp.Literal) for item in inner.expressions):
        return ir.Star((), *place, pattern="^(?:" + "|".join(re.escape(item.name) for item in inner.expressions) + ")$")
    pattern = _test_pattern(inner.this) if isinstance(inner, exp.Lambda) else None
    return ir.Star((), *place, pattern=_told(context, pattern))


def _told(context: Context, pattern: str | None) -> str:
    """A pattern; without one, all columns are taken, and that is said."""
    if pattern is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.origin + 1, construct="COLUMNS by a condition")
    return pattern or ""
