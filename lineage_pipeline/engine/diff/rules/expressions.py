"""Columns that keep their names and mean something else."""

import re
from collections.abc import Iterator

import msgspec

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.pair import Pair, Rewrite
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.vocabulary.sets import Scope, Severity, Subtype
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge

_CALLS = re.compile(r"([A-Za-z_]\w*)\s*\(")

_AGGREGATES = re.compile(
    r"\b(?:distinct|(?:count|sum|avg|min|max|std|var|median|mode|first|last|any_value|approx|percentile|quantile)\w*"
    r"|\w*agg|\w*concat|bool_and|bool_or|logical_?and|logical_?or)\b",
    re.IGNORECASE,
)
"""Names by which two ways of putting many rows into one value can be told apart."""

_COUNT = re.compile(r"\bcount\w*\s*\(", re.IGNORECASE)

_NULL = re.compile(r"^\W*(?:(?:try_)?cast\W+)?null\b", re.IGNORECASE)

_OVER = re.compile(r"\bover\b", re.IGNORECASE)


class Edit(msgspec.Struct, frozen=True):
    """One column of one rewritten statement: its text and its inputs on both sides."""

    column: Column
    before: str
    after: str
    old: frozenset[tuple[str, str]]
    new: frozenset[tuple[str, str]]
    aggregated: tuple[bool, bool]
    retyped: bool


def expression_changed(pair: Pair) -> Iterator[Finding]:
    """Report each edited expression by the most telling rule that it meets."""
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            for edit in _edits(pair, rewrite):
                verdict = _constant(edit) or _aggregate(edit) or _inputs(edit) or _expression(edit)
                if verdict:
                    yield Finding(
                        verdict[0], name, edit.column.name, verdict[1], edit.before or None, edit.after or None
                    )


def _edits(pair: Pair, rewrite: Rewrite) -> Iterator[Edit]:
    """Give the columns whose canonical text differs; what the head could not resolve is reported elsewhere."""
    for old, new in pair.columns(rewrite.object):
        before, after = rewrite.text(PROJECTION, new.name)
        if before == after or not before or not after or new.approximate:
            continue
        base = pair.base.inputs(old.object, old.name, rewrite.base.place)
        head = pair.head.inputs(new.object, new.name, rewrite.head.place)
        names, swap = pair.renames.names, dict([rewrite.swap] if rewrite.swap else [])
        inputs = (names.column(edge.from_object, edge.from_column) for edge in base)
        yield Edit(
            column=new,
            before=before,
            after=after,
            old=frozenset((swap.get(source, source), column) for source, column in inputs),
            new=frozenset((edge.from_object, edge.from_column) for edge in head),
            aggregated=(_is_aggregated(base, before), _is_aggregated(head, after)),
            retyped=old.type != new.type,
        )


def _is_aggregated(inputs: list[ColumnEdge], text: str) -> bool:
    """Say whether many rows go into one value; COUNT(*) does it without any input."""
    return any(edge.subtype is Subtype.AGGREGATION for edge in inputs) or bool(not inputs and _COUNT.search(text))


def _constant(edit: Edit) -> tuple[str, Severity] | None:
    """A column without inputs is a constant; one that became NULL is emptied."""
    emptied = bool(_NULL.match(edit.after))
    if edit.new or (_CALLS.search(edit.after) and not emptied):
        return None
    return "EXP004", Severity.BREAKING if emptied else Severity.POTENTIALLY_BREAKING


def _aggregate(edit: Edit) -> tuple[str, Severity] | None:
    """One value of many rows and the value of one row are not the same thing."""
    if edit.aggregated[0] != edit.aggregated[1]:
        return "EXP003", Severity.BREAKING
    before, after = (sorted(_AGGREGATES.findall(text)) for text in (edit.before, edit.after))
    windowed = bool(_OVER.search(edit.before) or _OVER.search(edit.after))
    if windowed or (all(edit.aggregated) and before != after):
        return "EXP003", Severity.POTENTIALLY_BREAKING
    return None


def _inputs(edit: Edit) -> tuple[str, Severity] | None:
    """A column with other inputs; one that shares none with before is another column under the same name."""
    if edit.old == edit.new:
        return None
    replaced = bool(edit.old and edit.new) and not edit.old & edit.new
    return "EXP002", Severity.BREAKING if replaced else Severity.POTENTIALLY_BREAKING


def _expression(edit: Edit) -> tuple[str, Severity] | None:
    """The same inputs, another formula; where the type changed with it, the type is reported."""
    return None if edit.retyped else ("EXP001", Severity.POTENTIALLY_BREAKING)


RULES: tuple[Rule, ...] = (
    Rule(
        "EXP001",
        "expression changed",
        Scope.COLUMN_SEMANTICS,
        expression_changed,
        "The same inputs and the same type, another formula.",
        "Tell the readers that the value means something else.",
    ),
    Rule(
        "EXP002",
        "inputs changed",
        Scope.COLUMN_SEMANTICS,
        expression_changed,
        "The value comes from other columns than before.",
        "Tell the readers; where every input is new, consider a new name.",
    ),
    Rule(
        "EXP003",
        "aggregate or window changed",
        Scope.COLUMN_SEMANTICS,
        expression_changed,
        "Many rows are put into one value in another way, or no longer are.",
        "Give the new figure a new name.",
    ),
    Rule(
        "EXP004",
        "constant changed",
        Scope.COLUMN_SEMANTICS,
        expression_changed,
        "The value is another constant, or has become one; a NULL empties the column.",
        "Remove the column instead of emptying it.",
    ),
)
