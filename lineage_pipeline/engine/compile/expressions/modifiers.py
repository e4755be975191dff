"""Modifiers: clauses that affect rows or values but have no place of their own in the IR, as canonical text."""

from collections.abc import Iterator

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir

_CONFLICT_ARGS = ("conflict_keys", "constraint", "index_predicate", "action")


def canonical_text_of(context: CompileContext, node: object) -> str:
    """The text of a part of a statement in its dialect."""
    if not isinstance(node, exp.Expr):
        return str(node)
    try:
        return node.sql(dialect=context.dialect or None, comments=False, normalize_functions="upper").strip()
    except AttributeError as lacking:  # the parser took it without a part that it cannot be written without
        raise MalformedTree(f"half of {node.key.upper()}") from lacking


def option_text_of(node: exp.Expr | None) -> str:
    """The text of an option in upper case, or ""."""
    return node.sql(comments=False).upper() if node is not None else ""


def limit_text_of(context: CompileContext, clause: str, node: exp.Expr) -> str:
    """How many rows a LIMIT, OFFSET or SAMPLE clause keeps."""
    if clause == "sample":
        return canonical_text_of(context, node).lower()
    value = node.args.get("expression") or node.args.get("count")
    text = (
        value.name
        if isinstance(value, exp.Literal)
        else canonical_text_of(context, value)
        if value is not None
        else "?"
    )
    options = node.args.get("limit_options")
    others = [key for key in ("percent", "with_ties") if options is not None and options.args.get(key)]
    return " ".join([clause, text, *others]).replace("_", " ")


def merge_arm_text(arm: exp.Expr) -> str:
    """When an arm of a MERGE acts."""
    return " ".join(
        filter(
            None, ("" if arm.args.get("matched") else "not", "matched", "by source" if arm.args.get("source") else "")
        )
    )


def insert_mode_text(context: CompileContext, insert: exp.Expr) -> str:
    """What an INSERT says about existing rows, and the partition that it writes."""
    conflict, target = insert.args.get("conflict"), insert.this
    table = target.this if isinstance(target, exp.Schema) else target
    partition = table.args.get("partition") if isinstance(table, exp.Expr) else None
    parts = [
        canonical_text_of(context, item)
        for item in (partition, insert.args.get("partition"))
        if isinstance(item, exp.Expr)
    ]
    parts += [key for key in ("ignore", "alternative") if insert.args.get(key)]
    if isinstance(conflict, exp.Expr):
        parts.append(" ".join(["on conflict", *_conflict_texts(context, conflict)]))
    return ", ".join(parts)


def _conflict_texts(context: CompileContext, conflict: exp.Expr) -> Iterator[str]:
    for key in _CONFLICT_ARGS:
        value = conflict.args.get(key)
        if value:
            listed = value if isinstance(value, list) else [value]
            yield ", ".join(canonical_text_of(context, item) for item in listed)


def document_options_of(context: CompileContext, node: exp.Expr) -> tuple[ir.Expr, ...]:
    """The options of FOR XML and FOR JSON."""
    others = [value for key, value in node.args.items() if value and key != "kind"]
    texts = [
        canonical_text_of(context, item) for value in others for item in (value if isinstance(value, list) else [value])
    ]
    return tuple(ir.Literal("word", text) for text in texts)


def window_frame_text(spec: exp.Expr | None, ordered: bool) -> str:
    """The frame of a window, unless it is the default one."""
    parts = (str(value) for key, value in sorted(spec.args.items()) if value) if spec is not None else ()
    return "" if (said := " ".join(parts).upper()) in _DEFAULT_FRAMES and ordered else said


_DEFAULT_FRAMES = frozenset({"CURRENT ROW RANGE UNBOUNDED PRECEDING", "RANGE UNBOUNDED PRECEDING"})
"""The default frame of a window with an order, as it may be written."""
