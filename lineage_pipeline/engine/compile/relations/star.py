"""Stars: `*` with EXCEPT, REPLACE and RENAME, COLUMNS(…), and columns chosen by a pattern."""

import re
from collections.abc import Callable

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext, find_item_span
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.model import ir


def compile_star(context: CompileContext, node: exp.Expr, select: exp.Expr) -> ir.Star:
    """A star with its modifiers."""
    inner = node.this if isinstance(node, exp.Column) else node
    qualifiers = [node.args[key] for key in ("catalog", "db", "table") if node.args.get(key) is not None]
    context.features.add("star")
    excluded = [*(inner.args.get("except_") or ()), *(select.args.get("exclude") or ())]
    start, end = context.span_of(*qualifiers, inner)
    if context.text[context.origin + end - 1] != "*":  # FROM without SELECT: nobody wrote the star
        start, end = ir.NOWHERE, ir.NOWHERE
    return ir.Star(
        qualifier=tuple(context.alias_name(part) for part in qualifiers),
        start=start,
        end=end,
        exclude=tuple(_excluded_column(context, item) for item in excluded),
        replace=tuple(_compile_replacement(context, item) for item in inner.args.get("replace") or ()),
        rename=tuple(
            (context.column_name(_identifier_of(item)), context.column_name(item.args["alias"]))
            for item in inner.args.get("rename") or ()
            if item.args.get("alias") is not None
        ),
        pattern=like_to_regex(inner.args["ilike"].name, ignoring_case=True)
        if inner.args.get("ilike") is not None
        else "",
    )


def _excluded_column(context: CompileContext, node: exp.Expr) -> str:
    """A column that a star excludes, with its qualifier."""
    table = node.args.get("table") if isinstance(node, exp.Column) else None
    name = context.column_name(_identifier_of(node))
    return f"{context.alias_name(table)}.{name}" if isinstance(table, exp.Identifier) else name


def _identifier_of(node: exp.Expr) -> exp.Expr:
    while not isinstance(node, exp.Identifier) and isinstance(node.args.get("this"), exp.Expr):
        node = node.this
    return node


def _compile_replacement(context: CompileContext, node: exp.Expr) -> ir.Output:
    """`expression AS column` of a REPLACE."""
    alias = node.args.get("alias")
    name = alias if isinstance(alias, exp.Identifier) else _identifier_of(node)
    start, end = find_item_span(context, node, name) if alias is not None else (ir.NOWHERE, ir.NOWHERE)
    value = compile_expression(context, node.this if alias is not None else node)
    return ir.Output(name=context.column_name(name), written=name.name, expr=value, start=start, end=end)


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────────────────────


def like_to_regex(text: str, *, ignoring_case: bool = False) -> str:
    """The regular expression of a LIKE pattern."""
    parts = {"%": ".*", "_": "."}
    body = "".join(parts.get(character, re.escape(character)) for character in text)
    return f"{'(?i)' if ignoring_case else ''}^{body}$"


def _glob_to_regex(text: str) -> str:
    parts = {"*": ".*", "?": "."}
    return "^" + "".join(parts.get(character, re.escape(character)) for character in text) + "$"


_PATTERN_TESTS: dict[type[exp.Expr], Callable[[str], str]] = {
    exp.Like: like_to_regex,
    exp.ILike: lambda text: like_to_regex(text, ignoring_case=True),
    exp.SimilarTo: lambda text: text.replace("%", ".*"),
    exp.Glob: _glob_to_regex,
    exp.RegexpLike: str,
    exp.EQ: lambda text: f"^{re.escape(text)}$",
}
"""The supported tests of a column name, and the regular expression of each."""


def _test_to_regex(node: exp.Expr) -> str | None:
    """The regular expression of a test, or None for another kind of test."""
    negated = bool(node.args.get("negate"))
    if isinstance(node, exp.Not):
        node, negated = node.this, True
    maker = _PATTERN_TESTS.get(type(node))
    if maker is None or not isinstance(node.args.get("expression"), exp.Literal):
        return None
    pattern = maker(node.expression.name)
    if not _is_valid_regex(pattern):
        return None
    return f"^(?!.*?(?:{pattern.removeprefix('^')}))" if negated else pattern


def quoted_name_to_regex(node: exp.Expr) -> str:
    """Hive: the regular expression that a quoted column name is, or ""."""
    name = node.this if isinstance(node, exp.Column) else None
    if not isinstance(name, exp.Identifier) or not name.args.get("quoted") or not re.search(r"[|?+*(\[^]", name.name):
        return ""
    return f"(?i)^(?:{name.name})$" if _is_valid_regex(name.name) else ""


def _is_valid_regex(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


# ── columns as arguments ─────────────────────────────────────────────────────────────────────────────────────────


def compile_column_set(context: CompileContext, node: exp.Expr) -> ir.Star | None:
    """A select item that is several columns: COLUMNS(…), `* LIKE …`, `* APPLY …`."""
    alias = node.args.get("alias") if isinstance(node, exp.Alias) else None
    value = node.this if alias is not None else node
    if type(value) in _PATTERN_TESTS and isinstance(value.this, exp.Star):
        return _extend_star(
            compile_star(context, value.this, exp.Select()),
            pattern=_report_missing_pattern(context, _test_to_regex(value)),
        )
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
    found = (
        compile_columns_call(context, inner)
        if isinstance(inner, exp.Columns)
        else compile_star(context, inner, exp.Select())
    )
    each = ir.STAR_COLUMN if inner is value else compile_expression(context, value)
    return _extend_star(found, each=None if each == ir.STAR_COLUMN else each, naming=naming)


def _extend_star(found: ir.Star, pattern: str | None = None, each: ir.Expr | None = None, naming: str = "") -> ir.Star:
    shown = found.pattern if pattern is None else pattern
    return ir.Star(
        qualifier=found.qualifier,
        start=found.start,
        end=found.end,
        exclude=found.exclude,
        replace=found.replace,
        rename=found.rename,
        pattern=shown,
        each=each,
        naming=naming,
    )


def compile_columns_call(context: CompileContext, node: exp.Expr) -> ir.Star:
    """The columns of COLUMNS(…)."""
    inner = node.this
    place = context.span_of(node)
    if isinstance(inner, exp.Star | exp.Column):
        return compile_star(context, inner, exp.Select())
    context.features.add("star")
    if isinstance(inner, exp.Literal) and _is_valid_regex(inner.name):
        return ir.Star((), *place, pattern=inner.name)
    if isinstance(inner, exp.Array) and all(isinstance(item, exp.Literal) for item in inner.expressions):
        return ir.Star((), *place, pattern="^(?:" + "|".join(re.escape(item.name) for item in inner.expressions) + ")$")
    pattern = _test_to_regex(inner.this) if isinstance(inner, exp.Lambda) else None
    return ir.Star((), *place, pattern=_report_missing_pattern(context, pattern))


def _report_missing_pattern(context: CompileContext, pattern: str | None) -> str:
    """A pattern; without one, all columns are taken, and that is reported."""
    if pattern is None:
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.origin + 1, construct="COLUMNS by a condition")
    return pattern or ""
