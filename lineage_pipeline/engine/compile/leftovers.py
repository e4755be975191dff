"""What no compiler has a place for in the IR and yet bears on rows or values: it goes along as canonical text."""

from collections.abc import Iterator

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir

Marks = tuple[tuple[str, str], ...]

_MODELLED = frozenset(
    "this db catalog alias joins laterals pivots hints rows_from ordinality with_ order limit offset expressions view"
    " outer cross_apply explode_array match where group having qualify windows distribute sort cluster settings format"
    " options for_ locks indexed connect prewhere".split()
)
"""Arguments of a source that others compile, or that bear on no row."""

_CHOSEN = {"sample": "limit"}
"""The side of a statement that an argument is part of; the others filter."""

_METHODS = frozenset({"", "NATURAL"})

_ARRIVALS = ("conflict_keys", "constraint", "index_predicate", "action")


def said(context: Context, node: object) -> str:
    """The text of a part of a statement, in the letters of its dialect."""
    if not isinstance(node, exp.Expr):
        return str(node)
    try:
        return node.sql(dialect=context.dialect or None, comments=False, normalize_functions="upper").strip()
    except AttributeError as lacking:  # the parser took it without a part that it cannot be written without
        raise MalformedTree(f"half of {node.key.upper()}") from lacking


def said_of(node: exp.Expr | None) -> str:
    """The text of an option."""
    return node.sql(comments=False).upper() if node is not None else ""


def marks_of(context: Context, node: exp.Expr) -> Marks:
    """What else is said of a source: a sample of its rows, or the time from which they are."""
    others = [key for key, value in node.args.items() if value and key not in _MODELLED]
    return tuple((_CHOSEN.get(key, "filter"), _named(context, key, node.args[key])) for key in others)


def _named(context: Context, key: str, value: object) -> str:
    return key if value is True else said(context, value)


def join_marks(join: exp.Expr) -> Marks:
    """How a partner is chosen where it is not any that meets the condition: ASOF and the like."""
    args = join.args
    method = str(args.get("method") or "").upper()
    words = [method.lower()] if method not in _METHODS else []
    words += ["any"] if str(args.get("kind") or "").upper() == "ANY" else []
    return (("limit", " ".join([*words, "join"])),) if words else ()


def bound(context: Context, clause: str, node: exp.Expr) -> str:
    """How many rows a clause keeps."""
    if clause == "sample":
        return said(context, node).lower()
    value = node.args.get("expression") or node.args.get("count")
    text = value.name if isinstance(value, exp.Literal) else said(context, value) if value is not None else "?"
    options = node.args.get("limit_options")
    others = [key for key in ("percent", "with_ties") if options is not None and options.args.get(key)]
    return " ".join([clause, text, *others]).replace("_", " ")


def arm_of(arm: exp.Expr) -> str:
    """When an arm of a MERGE acts."""
    return " ".join(
        filter(
            None, ("" if arm.args.get("matched") else "not", "matched", "by source" if arm.args.get("source") else "")
        )
    )


def arrival(context: Context, insert: exp.Expr) -> str:
    """What an INSERT says of rows that are there already, and of the partition that they go to."""
    conflict, target = insert.args.get("conflict"), insert.this
    table = target.this if isinstance(target, exp.Schema) else target
    partition = table.args.get("partition") if isinstance(table, exp.Expr) else None
    parts = [said(context, item) for item in (partition, insert.args.get("partition")) if isinstance(item, exp.Expr)]
    parts += [key for key in ("ignore", "alternative") if insert.args.get(key)]
    if isinstance(conflict, exp.Expr):
        parts.append(" ".join(["on conflict", *_conflict(context, conflict)]))
    return ", ".join(parts)


def _conflict(context: Context, conflict: exp.Expr) -> Iterator[str]:
    for key in _ARRIVALS:
        value = conflict.args.get(key)
        if value:
            listed = value if isinstance(value, list) else [value]
            yield ", ".join(said(context, item) for item in listed)


def options_of(context: Context, node: exp.Expr) -> tuple[ir.Expr, ...]:
    """What FOR XML and FOR JSON say of the document."""
    others = [value for key, value in node.args.items() if value and key != "kind"]
    texts = [said(context, item) for value in others for item in (value if isinstance(value, list) else [value])]
    return tuple(ir.Literal("word", text) for text in texts)


def frame(spec: exp.Expr | None, ordered: bool) -> str:
    """The rows of a window, unless they are those that it has where nobody says so."""
    parts = (str(value) for key, value in sorted(spec.args.items()) if value) if spec is not None else ()
    return "" if (said := " ".join(parts).upper()) in _USUAL and ordered else said


_USUAL = frozenset({"CURRENT ROW RANGE UNBOUNDED PRECEDING", "RANGE UNBOUNDED PRECEDING"})
"""The frame of a window with an order, as it may be written."""
