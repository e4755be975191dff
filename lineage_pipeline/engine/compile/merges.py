"""MERGE: every arm is a write of its own over target and source."""

from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.dialects.clauses import STARS_BY_POSITION
from lineage_pipeline.engine.compile.changes import assignments, behind_alias, qualify
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.expressions import expression, optional
from lineage_pipeline.engine.compile.leftovers import arm_of
from lineage_pipeline.engine.compile.listed import listed_in, starts_of
from lineage_pipeline.engine.compile.queries import bind_with, query
from lineage_pipeline.engine.compile.returning import returned
from lineage_pipeline.engine.compile.sources import source, using_key
from lineage_pipeline.engine.compile.walk import assigned_value
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir


class _Merge(msgspec.Struct, frozen=True):
    """What the arms of a MERGE share: the written object, it as a source, and what it is merged with."""

    target: ir.Name
    own: ir.Source
    using: tuple[ir.Source, ...]

    @property
    def sources(self) -> tuple[ir.Source, ...]:
        return self.own, *self.using


def merge(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """MERGE with all its arms."""
    bind_with(context, tree)
    own = next(iter(source(context, tree.this, None, query)))
    target = behind_alias(context, tree.this, (own,)) or name_of(context, tree.this)
    on = tree.args.get("on")
    keys = tree.args.get("using_cond")
    join = ir.Join(
        "left",
        optional(context, on if isinstance(on, exp.Expr) else None),
        tuple(using_key(context, key) for key in keys) if isinstance(keys, list) else (),
    )
    using = [
        msgspec.structs.replace(item, join=item.join or join)
        for item in source(context, tree.args["using"], None, query)
    ]
    merged = _Merge(target, own, tuple(using))
    writes: list[ir.Write] = []
    for arm in tree.args["whens"].expressions:
        manner = arm_of(arm)
        writes.extend(msgspec.structs.replace(write, manner=manner) for write in _arm(context, arm, merged))
    return returned(context, tree, {"kind": "MERGE", "writes": tuple(writes)}, merged.sources)


def _arm(context: Context, arm: exp.Expr, merged: _Merge) -> list[ir.Write]:
    then = arm.args["then"]
    visible = _visible(arm, merged)
    conditions = [arm.args.get("condition")]
    where = then.args.get("where") if isinstance(then, exp.Update | exp.Insert) else None
    conditions.append(where.this if isinstance(where, exp.Where) else where)
    for condition in conditions:
        if isinstance(condition, exp.Expr):
            qualify(condition, visible)
    compiled = [expression(context, item) for item in conditions if isinstance(item, exp.Expr)]
    condition = ir.Call("AND", tuple(compiled), 0, "BOOLEAN") if len(compiled) > 1 else next(iter(compiled), None)
    if isinstance(then, exp.Update):
        listed = then.args.get("expressions")
        if isinstance(listed, exp.Expr) and not isinstance(listed, exp.Star):
            raise MalformedTree("a MERGE whose UPDATE sets no columns")
        if not listed or isinstance(listed, exp.Star) or any(isinstance(item, exp.Star) for item in listed):
            star = listed[0] if isinstance(listed, list) and listed else None
            return [_star_arm(context, merged, condition, "update", star=star)]
        rows = ir.Select(merged.sources, (), condition)
        return list(assignments(context, then.expressions, rows, merged.target, conditional=True))
    if isinstance(then, exp.Insert):
        return [_insert_arm(context, then, merged, condition, visible)]
    relation = context.add(ir.Select(merged.sources, (), condition))
    return [ir.Write(merged.target, relation, "delete", (), conditional=True)]


def _visible(arm: exp.Expr, merged: _Merge) -> str:
    """The one side whose columns an arm can name without a qualifier, if it sees one side only."""
    if arm.args.get("matched"):
        return ""
    if arm.args.get("source"):
        return merged.own.alias
    return merged.using[0].alias if len(merged.using) == 1 else ""


def _insert_arm(context: Context, then: exp.Expr, merged: _Merge, condition: ir.Expr | None, visible: str) -> ir.Write:
    values, listed, words = _inserted(then)
    if words == "DEFAULT":
        relation = context.add(ir.Select(merged.sources, (), condition))
        return ir.Write(merged.target, relation, "insert", (), conditional=True)
    if values is None:
        return _star_arm(context, merged, condition, "insert", words, listed)
    names = listed_in(listed) if isinstance(listed, exp.Tuple | exp.Schema) else None
    columns = tuple(context.column(item) for item in names) if names is not None else None
    items = values.expressions if isinstance(values, exp.Tuple | exp.Values) else [values]
    if items and isinstance(items[0], exp.Tuple):
        items = items[0].expressions
    for item in items:
        qualify(item, visible)
    chosen = tuple(_chosen(context, item, columns is not None) for item in items)
    relation = context.add(ir.Select(merged.sources, chosen, condition))
    starts = starts_of(context, names or [])
    return ir.Write(merged.target, relation, "insert", columns, conditional=True, starts=starts)


def _inserted(then: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None, str]:
    """The values and the list of an INSERT, or the words instead; the parser confuses them where one is missing."""
    values, listed = then.args.get("expression"), then.args.get("this")
    if isinstance(values, exp.Expr):
        return values, listed, ""
    first = listed.expressions[0] if isinstance(listed, exp.Tuple) and listed.expressions else None
    if isinstance(first, exp.Anonymous) and first.name.upper() == "VALUES":  # BigQuery and Redshift, without a list
        return exp.Tuple(expressions=first.expressions), None, ""
    if isinstance(first, exp.Alias) and first.this.name.upper() == "BY":  # DuckDB: INSERT BY NAME
        return None, None, first.alias.upper()
    if isinstance(first, exp.Column) and first.name.upper() == "DEFAULT":
        return None, None, "DEFAULT"
    if first is not None:  # Teradata: INSERT (a, b), values without their word
        return listed, None, ""
    return None, listed, "ROW" if isinstance(listed, exp.Var) else ""


def _chosen(context: Context, item: exp.Expr, listed: bool) -> ir.Output:
    """A value of an insert; where nobody lists the columns, one that is a column has its name, as in a select list."""
    name = item.this if isinstance(item, exp.Column) and not listed else None
    called = (context.column(name), name.name) if isinstance(name, exp.Identifier) else ("", "")
    return ir.Output(*called, assigned_value(context, item), *context.item_place(item))


def _star_arm(
    context: Context,
    merged: _Merge,
    condition: ir.Expr | None,
    mode: str,
    words: str = "",
    star: exp.Expr | None = None,
) -> ir.Write:
    """UPDATE SET *, INSERT * and INSERT ROW: every column of the source, by name or by position."""
    context.features.add("star")
    listed = star.args.get("except_") if isinstance(star, exp.Star) else None
    left_out = tuple(context.column(item.this) for item in listed or () if isinstance(item, exp.Column))
    stars = tuple(ir.Star((item.alias,), ir.NOWHERE, ir.NOWHERE, left_out) for item in merged.using)
    relation = context.add(ir.Select(merged.sources, stars, condition))
    positional = words in ("ROW", "POSITION") or (not words and context.traits.family in STARS_BY_POSITION)
    return ir.Write(merged.target, relation, mode, None, by_name=not positional, conditional=True)
