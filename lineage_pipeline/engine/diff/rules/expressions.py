"""Columns that keep their names and mean something else."""

import re
from collections.abc import Callable, Iterator

import msgspec

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.diff.finding import Finding, Rule, at
from lineage_pipeline.engine.diff.index import ADDING
from lineage_pipeline.engine.diff.pair import Pair, Rewrite
from lineage_pipeline.engine.diff.policy import fits
from lineage_pipeline.engine.diff.renames import PROJECTION
from lineage_pipeline.engine.diff.rules.positions import misplaced
from lineage_pipeline.vocabulary.sets import Confidence, Scope, Severity, Subtype
from lineage_pipeline.vocabulary.tables import Column, ColumnEdge

_CALLS = re.compile(r"([A-Za-z_]\w*)\s*\(")

_AGGREGATES = re.compile(
    r"\b(?:distinct|(?:count|sum|avg|min|max|std|var|median|mode|first|last|any_value|approx|percentile|quantile)\w*"
    r"|\w*agg|\w*concat|bool_and|bool_or|logical_?and|logical_?or)\b",
    re.IGNORECASE,
)
"""Names by which two ways of putting many rows into one value can be told apart."""

_COUNT = re.compile(r"\bcount[\w:]*\s*\(", re.IGNORECASE)

_NULL = re.compile(r"^\W*(?:(?:try_)?cast\W+)?null\b", re.IGNORECASE)

_CAST = re.compile(r"(?:try_)?cast\((.*) as [\w ]+(?:\([\d, ]*\))?\)", re.IGNORECASE | re.DOTALL)

_OVER = re.compile(r"\bover\b", re.IGNORECASE)


VOLATILE = re.compile(rf"\b({'|'.join(sorted(functions.VOLATILE))})\(", re.IGNORECASE)

CLOCKS = ("current", "get", "sys", "now")
"""How functions begin that tell the time."""


class Edit(msgspec.Struct, frozen=True):
    """One column of one rewritten statement: its text and its inputs on both sides."""

    column: Column
    before: str
    after: str
    old: frozenset[tuple[str, str]]
    new: frozenset[tuple[str, str]]
    aggregated: tuple[bool, bool]
    masked: tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]
    retyped: bool
    sensitive: bool
    confidence: Confidence


def expression_changed(pair: Pair) -> Iterator[Finding]:
    """Report each edited expression by the most telling rule that it meets."""
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            for edit in _edits(pair, rewrite):
                verdict = next(filter(None, (judge(edit) for judge in JUDGES)), None)
                if verdict:
                    told = edit.before or None, edit.after or None, edit.confidence
                    yield at(Finding(verdict[0], name, edit.column.name, verdict[1], *told), pair, rewrite)
            yield from _unfilled(pair, rewrite)


def _unfilled(pair: Pair, rewrite: Rewrite) -> Iterator[Finding]:
    """Look at the columns that a statement filled and no longer fills, or the other way round."""
    if not rewrite.head.kind or rewrite.base.kind != rewrite.head.kind:
        return
    emptied = rewrite.head.kind in ADDING
    for _, new in pair.columns(rewrite.object):
        before, after = rewrite.text(PROJECTION, new.name)
        if before and not after:
            supplied = new.name in pair.head.supplied(new.object)
            severity = Severity.BREAKING if emptied and not supplied else Severity.POTENTIALLY_BREAKING
            rule = "EXP004" if emptied else "EXP002"
            yield at(Finding(rule, new.object, new.name, severity, before, None), pair, rewrite)
        elif after and not before:
            found = Finding("EXP002", new.object, new.name, Severity.POTENTIALLY_BREAKING, None, after)
            yield at(found, pair, rewrite)


def _edits(pair: Pair, rewrite: Rewrite) -> Iterator[Edit]:
    """Give the columns whose canonical text differs; what only the head could not resolve is reported elsewhere."""
    elsewhere = misplaced(pair, rewrite)
    for old, new in pair.columns(rewrite.object):
        before, after = rewrite.text(PROJECTION, new.name)
        lost = new.approximate and not old.approximate
        if before == after or not before or not after or lost or new.name in elsewhere:
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
            masked=(_masked(base), _masked(head)),
            retyped=old.type != new.type,
            sensitive=any(_is_sensitive(pair, edge) for edge in base),
            confidence=Confidence.APPROXIMATE if new.approximate else Confidence.CERTAIN,
        )


def _masked(inputs: list[ColumnEdge]) -> frozenset[tuple[str, str]]:
    """List the inputs of which only a hash or a mask arrives; a count hides values, but is not made to."""
    masked = (edge for edge in inputs if edge.masking and edge.subtype is not Subtype.AGGREGATION)
    return frozenset((edge.from_object, edge.from_column) for edge in masked)


def _is_sensitive(pair: Pair, edge: ColumnEdge) -> bool:
    source = pair.base.columns.get(edge.from_object, {}).get(edge.from_column)
    return source is not None and any(fits(tag, pair.sensitive) for tag in source.tags)


def _is_aggregated(inputs: list[ColumnEdge], text: str) -> bool:
    """Say whether many rows go into one value; COUNT(*) does it without any input."""
    return any(edge.subtype is Subtype.AGGREGATION for edge in inputs) or bool(not inputs and _COUNT.search(text))


def _masking(edit: Edit) -> tuple[str, Severity] | None:
    """A value that was hidden can be read, or one that was read is hidden."""
    shown = edit.masked[0] & edit.new - edit.masked[1]
    hidden = edit.masked[1] & edit.old - edit.masked[0]
    if not (shown or hidden) or edit.aggregated[0] != edit.aggregated[1]:
        return None
    return "EXP005", Severity.BREAKING if shown and edit.sensitive else Severity.POTENTIALLY_BREAKING


def _constant(edit: Edit) -> tuple[str, Severity] | None:
    """A column without inputs is a constant; one that became NULL is emptied."""
    emptied = bool(_NULL.match(edit.after))
    if edit.new or (_CALLS.search(edit.after.removeprefix("values")) and not emptied):
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


def _volatile(edit: Edit) -> tuple[str, Severity] | None:
    """A value that is another one at every run cannot be checked; a mere stamp of the time is for information."""
    before, after = (set(VOLATILE.findall(text)) for text in (edit.before, edit.after))
    if not after - before:
        return None
    stamp = not (edit.old or edit.new) and all(word.startswith(CLOCKS) for word in after)
    return "EXP006", Severity.INFO if stamp and before else Severity.POTENTIALLY_BREAKING


def _expression(edit: Edit) -> tuple[str, Severity] | None:
    """The same inputs, another formula; where a cast alone came or went, or no type is known, the type says all."""
    if edit.retyped and (edit.column.type is None or uncast(edit.before) == uncast(edit.after)):
        return None
    return "EXP001", Severity.POTENTIALLY_BREAKING


def uncast(text: str) -> str:
    """Give a canonical text without the casts around all of it."""
    while found := _CAST.fullmatch(text):
        text = found[1]
    return text


JUDGES: tuple[Callable[[Edit], tuple[str, Severity] | None], ...] = (
    _masking,
    _constant,
    _aggregate,
    _inputs,
    _volatile,
    _expression,
)
"""What an edited expression is told as: the first that fits."""

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
    Rule(
        "EXP005",
        "masking added or removed",
        Scope.COLUMN_SEMANTICS,
        expression_changed,
        "A value that was hashed or masked can be read, or the other way round.",
        "Put the mask back; where it is new, tell those who compare or join the value.",
    ),
    Rule(
        "EXP006",
        "another value at every run",
        Scope.COLUMN_SEMANTICS,
        expression_changed,
        "The expression now asks the clock or chance: two runs over the same rows differ.",
        "Hand the value in, or take it from the rows.",
    ),
)
