"""MERGE: each arm is a write of its own over target and source."""

from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.context import (
    CompileContext,
    column_offsets_of,
    compile_object_name,
    target_columns_of,
)
from lineage_pipeline.engine.compile.expressions.dispatch import (
    compile_assigned_value,
    compile_expression,
    compile_optional,
)
from lineage_pipeline.engine.compile.expressions.modifiers import merge_arm_text
from lineage_pipeline.engine.compile.relations.from_clause import compile_source_item, compile_using_column
from lineage_pipeline.engine.compile.relations.query import bind_ctes, compile_query
from lineage_pipeline.engine.compile.statements.returning import compile_returning
from lineage_pipeline.engine.compile.statements.update_delete import (
    compile_assignments,
    qualify_columns,
    resolve_target,
)
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir


class _MergeSides(msgspec.Struct, frozen=True):
    """What the arms of a MERGE share: the written object, the same as a source, and what it is merged with."""

    target: ir.Name
    own: ir.Source
    using: tuple[ir.Source, ...]

    @property
    def sources(self) -> tuple[ir.Source, ...]:
        return self.own, *self.using


def compile_merge(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """MERGE with all its arms."""
    bind_ctes(context, tree)
    own = next(iter(compile_source_item(context, tree.this, None, compile_query)))
    target = resolve_target(context, tree.this, (own,)) or compile_object_name(context, tree.this)
    on = tree.args.get("on")
    keys = tree.args.get("using_cond")
    join = ir.Join(
        "left",
        compile_optional(context, on if isinstance(on, exp.Expr) else None),
        tuple(compile_using_column(context, key) for key in keys) if isinstance(keys, list) else (),
    )
    using = [
        msgspec.structs.replace(item, join=item.join or join)
        for item in compile_source_item(context, tree.args["using"], None, compile_query)
    ]
    merged = _MergeSides(target, own, tuple(using))
    writes: list[ir.Write] = []
    for arm in tree.args["whens"].expressions:
        manner = merge_arm_text(arm)
        writes.extend(
            msgspec.structs.replace(write, manner=manner) for write in _compile_merge_arm(context, arm, merged)
        )
    return compile_returning(context, tree, {"kind": "MERGE", "writes": tuple(writes)}, merged.sources)


def _compile_merge_arm(context: CompileContext, arm: exp.Expr, merged: _MergeSides) -> list[ir.Write]:
    then = arm.args["then"]
    visible = _visible_side(arm, merged)
    conditions = [arm.args.get("condition")]
    where = then.args.get("where") if isinstance(then, exp.Update | exp.Insert) else None
    conditions.append(where.this if isinstance(where, exp.Where) else where)
    for condition in conditions:
        if isinstance(condition, exp.Expr):
            qualify_columns(condition, visible)
    compiled = [compile_expression(context, item) for item in conditions if isinstance(item, exp.Expr)]
    condition = ir.Call("AND", tuple(compiled), 0, "BOOLEAN") if len(compiled) > 1 else next(iter(compiled), None)
    if isinstance(then, exp.Update):
        listed = then.args.get("expressions")
        if isinstance(listed, exp.Expr) and not isinstance(listed, exp.Star):
            raise MalformedTree("a MERGE whose UPDATE sets no columns")
        if not listed or isinstance(listed, exp.Star) or any(isinstance(item, exp.Star) for item in listed):
            star = listed[0] if isinstance(listed, list) and listed else None
            return [_compile_star_arm(context, merged, condition, "update", star=star)]
        rows = ir.Select(merged.sources, (), condition)
        return list(compile_assignments(context, then.expressions, rows, merged.target, conditional=True))
    if isinstance(then, exp.Insert):
        return [_compile_insert_arm(context, then, merged, condition, visible)]
    relation = context.add_relation(ir.Select(merged.sources, (), condition))
    return [ir.Write(merged.target, relation, "delete", (), conditional=True)]


def _visible_side(arm: exp.Expr, merged: _MergeSides) -> str:
    """The alias of the only side whose columns an arm can name unqualified, or ""."""
    if arm.args.get("matched"):
        return ""
    if arm.args.get("source"):
        return merged.own.alias
    return merged.using[0].alias if len(merged.using) == 1 else ""


def _compile_insert_arm(
    context: CompileContext, then: exp.Expr, merged: _MergeSides, condition: ir.Expr | None, visible: str
) -> ir.Write:
    values, listed, words = _read_merge_insert(then)
    if words == "DEFAULT":
        relation = context.add_relation(ir.Select(merged.sources, (), condition))
        return ir.Write(merged.target, relation, "insert", (), conditional=True)
    if values is None:
        return _compile_star_arm(context, merged, condition, "insert", words, listed)
    names = target_columns_of(listed) if isinstance(listed, exp.Tuple | exp.Schema) else None
    columns = tuple(context.column_name(item) for item in names) if names is not None else None
    items = values.expressions if isinstance(values, exp.Tuple | exp.Values) else [values]
    if items and isinstance(items[0], exp.Tuple):
        items = items[0].expressions
    for item in items:
        qualify_columns(item, visible)
    chosen = tuple(_compile_insert_value(context, item, columns is not None) for item in items)
    relation = context.add_relation(ir.Select(merged.sources, chosen, condition))
    starts = column_offsets_of(context, names or [])
    return ir.Write(merged.target, relation, "insert", columns, conditional=True, starts=starts)


def _read_merge_insert(then: exp.Expr) -> tuple[exp.Expr | None, exp.Expr | None, str]:
    """The values and column list of an INSERT arm, or its keyword; sqlglot mixes them up if one is missing."""
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


def _compile_insert_value(context: CompileContext, item: exp.Expr, listed: bool) -> ir.Output:
    """A value of an INSERT arm; without a column list, a plain column keeps its name."""
    name = item.this if isinstance(item, exp.Column) and not listed else None
    called = (context.column_name(name), name.name) if isinstance(name, exp.Identifier) else ("", "")
    return ir.Output(*called, compile_assigned_value(context, item), *context.item_span(item))


def _compile_star_arm(
    context: CompileContext,
    merged: _MergeSides,
    condition: ir.Expr | None,
    mode: str,
    words: str = "",
    star: exp.Expr | None = None,
) -> ir.Write:
    """UPDATE SET *, INSERT * and INSERT ROW: every column of the source, by name or by position."""
    context.features.add("star")
    listed = star.args.get("except_") if isinstance(star, exp.Star) else None
    left_out = tuple(context.column_name(item.this) for item in listed or () if isinstance(item, exp.Column))
    stars = tuple(ir.Star((item.alias,), ir.NOWHERE, ir.NOWHERE, left_out) for item in merged.using)
    relation = context.add_relation(ir.Select(merged.sources, stars, condition))
    positional = words in ("ROW", "POSITION") or (not words and context.traits.stars_by_position)
    return ir.Write(merged.target, relation, mode, None, by_name=not positional, conditional=True)
