"""Columns that keep their names and get other expressions."""

import re
from collections.abc import Callable, Iterator

import msgspec

from lineage_pipeline.dialects import functions
from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_edit
from lineage_pipeline.engine.diff.index import FIELD_FACET, INSERT_KINDS, PROJECTION_FACET, VARIABLE_FACET
from lineage_pipeline.engine.diff.match import LineagePair, StatementEdit
from lineage_pipeline.engine.diff.policy import matches_any_glob
from lineage_pipeline.engine.diff.rules.column_order import find_misplaced_columns
from lineage_pipeline.engine.diff.rules.columns import list_unlisted
from lineage_pipeline.model.enums import Confidence, Origin, Scope, Severity, Subtype
from lineage_pipeline.model.tables import Column, ColumnEdge
from lineage_pipeline.model.templating import PLACEHOLDER_PREFIX

_CALLS = re.compile(r"([A-Za-z_]\w*)\s*\(")

_AGGREGATE_NAMES = re.compile(
    r"\b(?:distinct|(?:count|sum|avg|min|max|std|var|median|mode|first|last|any_value|approx|percentile|quantile)\w*"
    r"|\w*agg|\w*concat|bool_and|bool_or|logical_?and|logical_?or)\b",
    re.IGNORECASE,
)
"""Names of aggregates, by which two aggregations can be distinguished."""

_WORDS = re.compile(r"[\w@$#]+")

_COUNT = re.compile(r"\bcount[\w:]*\s*\(", re.IGNORECASE)

_NULL = re.compile(r"^\W*(?:(?:try_)?cast\W+)?null\b", re.IGNORECASE)

_CAST = re.compile(r"(?:try_)?cast\((.*) as [\w ]+(?:\([\d, ]*\))?\)", re.IGNORECASE | re.DOTALL)

_OVER = re.compile(r"\bover\b", re.IGNORECASE)


VOLATILE_CALLS = re.compile(rf"\b({'|'.join(sorted(functions.VOLATILE_FUNCTIONS))})\(", re.IGNORECASE)

CLOCK_PREFIXES = ("current", "get", "sys", "now")
"""Prefixes of functions that give the current time."""


class ExpressionEdit(msgspec.Struct, frozen=True):
    """One column of one edited statement: its text and its inputs on both sides."""

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
    swapped: bool = False


def expression_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Report each edited expression by the most specific rule that applies."""
    for name in pair.common:
        for rewrite in pair.writers[name].rewrites:
            for edit in _find_edits(pair, rewrite):
                verdict = next(filter(None, (judge(edit) for judge in JUDGES)), None)
                if verdict:
                    told = edit.before or None, edit.after or None, edit.confidence
                    found = ChangeFinding(verdict[0], name, edit.column.name, verdict[1], *told)
                    yield at_edit(_soften_unknown(found), pair, rewrite)
                    yield from _find_field_edits(pair, rewrite, edit.column)
            yield from _find_unfilled(pair, rewrite)
            yield from _find_held_edits(pair, rewrite)


def _soften_unknown(found: ChangeFinding) -> ChangeFinding:
    """A finding; nobody knows how grave it is where a variable or macro without a value is part of the expression."""
    if PLACEHOLDER_PREFIX not in f"{found.before} {found.after}".lower() or found.severity is not Severity.BREAKING:
        return found
    return msgspec.structs.replace(found, severity=Severity.POTENTIALLY_BREAKING, confidence=Confidence.UNKNOWN)


def _find_field_edits(pair: LineagePair, rewrite: StatementEdit, column: Column) -> Iterator[ChangeFinding]:
    """The fields of a struct whose values are edited: what readers of one field alone have to know."""
    prefix = f"{column.name}."
    for name, field in sorted(rewrite.before.keys() & rewrite.after.keys()):
        if name != FIELD_FACET or not field.startswith(prefix):
            continue
        before, after = rewrite.text(FIELD_FACET, field)
        if before != after:
            found = ChangeFinding(
                rule="EXP004" if _NULL.match(after) else "EXP001",
                object=column.object,
                column=field,
                severity=Severity.POTENTIALLY_BREAKING,
                before=before,
                after=after,
            )
            yield at_edit(found, pair, rewrite)


def _find_held_edits(pair: LineagePair, rewrite: StatementEdit) -> Iterator[ChangeFinding]:
    """Columns of a write whose text is the same and whose variables hold other values, directly or by others."""
    before, after = (dict(_split_held(text)) for text in rewrite.text(VARIABLE_FACET))
    if before == after or not rewrite.head.kind:
        return
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    affected = set(changed)
    while more := {name for name, text in after.items() if name not in affected and affected & _words(text)}:
        affected |= more
    for _, new in pair.columns(rewrite.object):
        was, text = rewrite.text(PROJECTION_FACET, new.name)
        if was != text or not affected & _words(text):
            continue
        texts = [
            "; ".join(f"{name} = {side[name]}" for name in sorted(changed & side.keys())) for side in (before, after)
        ]
        found = ChangeFinding(
            rule="EXP001",
            object=new.object,
            column=new.name,
            severity=Severity.POTENTIALLY_BREAKING,
            before=texts[0] or None,
            after=texts[1] or None,
        )
        yield at_edit(found, pair, rewrite)


def _split_held(text: str) -> Iterator[tuple[str, str]]:
    """The variables of a statement and what each of them holds."""
    for line in text.splitlines():
        name, _, held = line.partition(" = ")
        yield name, held


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text))


def _find_unfilled(pair: LineagePair, rewrite: StatementEdit) -> Iterator[ChangeFinding]:
    """Columns that a statement filled and no longer fills, or the other way round."""
    if not rewrite.head.kind or rewrite.base.kind != rewrite.head.kind:
        return
    emptied = rewrite.head.kind in INSERT_KINDS
    for _, new in pair.columns(rewrite.object):
        before, after = rewrite.text(PROJECTION_FACET, new.name)
        if before and not after:
            supplied = new.name in pair.head.supplied_values(new.object)
            severity = Severity.BREAKING if emptied and not supplied else Severity.POTENTIALLY_BREAKING
            rule = "EXP004" if emptied else "EXP002"
            yield at_edit(
                ChangeFinding(
                    rule=rule, object=new.object, column=new.name, severity=severity, before=before, after=None
                ),
                pair,
                rewrite,
            )
        elif after and not before:
            found = ChangeFinding(
                rule="EXP002",
                object=new.object,
                column=new.name,
                severity=Severity.POTENTIALLY_BREAKING,
                before=None,
                after=after,
            )
            yield at_edit(found, pair, rewrite)


def _find_edits(pair: LineagePair, rewrite: StatementEdit) -> Iterator[ExpressionEdit]:
    """The columns whose canonical text differs; what only the head cannot resolve is reported elsewhere."""
    elsewhere = find_misplaced_columns(pair, rewrite)
    for old, new in (*pair.columns(rewrite.object), *_unlisted_columns(pair, rewrite)):
        before, after = rewrite.text(PROJECTION_FACET, new.name)
        lost = new.approximate and not old.approximate
        if before == after or not before or not after or lost or new.name in elsewhere:
            continue
        base = pair.base.inputs(old.object, old.name, rewrite.base.place)
        head = pair.head.inputs(new.object, new.name, rewrite.head.place)
        names, swap = pair.renames.names, dict([rewrite.swap] if rewrite.swap else [])
        inputs = [names.head_column(edge.from_object, edge.from_column) for edge in base]
        yield ExpressionEdit(
            column=new,
            before=before,
            after=after,
            old=frozenset((swap.get(source, source), column) for source, column in inputs),
            new=frozenset((edge.from_object, edge.from_column) for edge in head),
            aggregated=(_is_aggregated(base, before), _is_aggregated(head, after)),
            masked=(_masked_inputs(base), _masked_inputs(head)),
            retyped=old.type != new.type,
            sensitive=any(_is_sensitive(pair, edge) for edge in base),
            confidence=Confidence.APPROXIMATE if new.approximate else Confidence.CERTAIN,
            swapped=rewrite.swap is not None and any(source == rewrite.swap[0] for source, _ in inputs),
        )


def _unlisted_columns(pair: LineagePair, rewrite: StatementEdit) -> Iterator[tuple[Column, Column]]:
    """The columns of a result set that is not among those which are listed for its procedure."""
    for name in list_unlisted(pair, rewrite)[2]:
        column = Column(rewrite.object, 0, name, name, None, True, Origin.INFERRED, False, None, None, (), None)
        yield column, column


def _masked_inputs(inputs: list[ColumnEdge]) -> frozenset[tuple[str, str]]:
    """The inputs of which only a hash or a mask arrives; aggregates do not count."""
    masked = (edge for edge in inputs if edge.masking and edge.subtype is not Subtype.AGGREGATION)
    return frozenset((edge.from_object, edge.from_column) for edge in masked)


def _is_sensitive(pair: LineagePair, edge: ColumnEdge) -> bool:
    source = pair.base.columns.get(edge.from_object, {}).get(edge.from_column)
    return source is not None and any(matches_any_glob(tag, pair.sensitive) for tag in source.tags)


def _is_aggregated(inputs: list[ColumnEdge], text: str) -> bool:
    """Say whether many rows go into one value; COUNT(*) does so without any input."""
    return any(edge.subtype is Subtype.AGGREGATION for edge in inputs) or bool(not inputs and _COUNT.search(text))


def _judge_masking(edit: ExpressionEdit) -> tuple[str, Severity] | None:
    """A masked value becomes readable, or a readable one is masked."""
    shown = edit.masked[0] & edit.new - edit.masked[1]
    hidden = edit.masked[1] & edit.old - edit.masked[0]
    if not (shown or hidden) or edit.aggregated[0] != edit.aggregated[1]:
        return None
    return "EXP005", Severity.BREAKING if shown and edit.sensitive else Severity.POTENTIALLY_BREAKING


def _judge_constant(edit: ExpressionEdit) -> tuple[str, Severity] | None:
    """A column without inputs is a constant; one that became NULL is emptied."""
    emptied = bool(_NULL.match(edit.after))
    if emptied and _NULL.match(edit.before):
        return None  # a NULL of another type, which the type rules report
    if edit.new or (_CALLS.search(edit.after.removeprefix("values")) and not emptied):
        return None
    return "EXP004", Severity.BREAKING if emptied else Severity.POTENTIALLY_BREAKING


def _judge_aggregate(edit: ExpressionEdit) -> tuple[str, Severity] | None:
    """A value of many rows differs from the value of one row."""
    if edit.aggregated[0] != edit.aggregated[1]:
        return "EXP003", Severity.BREAKING
    before, after = (sorted(_AGGREGATE_NAMES.findall(text)) for text in (edit.before, edit.after))
    windowed = bool(_OVER.search(edit.before) or _OVER.search(edit.after))
    if windowed or (all(edit.aggregated) and before != after):
        return "EXP003", Severity.POTENTIALLY_BREAKING
    return None


def _judge_inputs(edit: ExpressionEdit) -> tuple[str, Severity] | None:
    """Other inputs; without one of the same name it is another column under the same name."""
    if edit.old == edit.new:
        return None
    before, after = ({column.casefold() for _, column in inputs} for inputs in (edit.old, edit.new))
    replaced = bool(before and after) and not (before & after or edit.swapped)
    return "EXP002", Severity.BREAKING if replaced else Severity.POTENTIALLY_BREAKING


def _judge_volatility(edit: ExpressionEdit) -> tuple[str, Severity] | None:
    """A value that differs at every run cannot be checked; a mere timestamp is for information."""
    before, after = (set(VOLATILE_CALLS.findall(text)) for text in (edit.before, edit.after))
    if not after - before:
        return None
    stamp = not (edit.old or edit.new) and all(word.startswith(CLOCK_PREFIXES) for word in after)
    return "EXP006", Severity.INFO if stamp and before else Severity.POTENTIALLY_BREAKING


def _judge_expression(edit: ExpressionEdit) -> tuple[str, Severity] | None:
    """The same inputs, another formula; where only a cast changed, the type rules report it."""
    if _NULL.match(edit.before) and _NULL.match(edit.after):
        return None
    if edit.retyped and (edit.column.type is None or strip_casts(edit.before) == strip_casts(edit.after)):
        return None
    return "EXP001", Severity.POTENTIALLY_BREAKING


def strip_casts(text: str) -> str:
    """A canonical text without the casts around all of it."""
    while found := _CAST.fullmatch(text):
        text = found[1]
    return text


JUDGES: tuple[Callable[[ExpressionEdit], tuple[str, Severity] | None], ...] = (
    _judge_masking,
    _judge_constant,
    _judge_aggregate,
    _judge_inputs,
    _judge_volatility,
    _judge_expression,
)
"""The checks of an edited expression: the first that applies is reported."""

RULES: tuple[Rule, ...] = (
    Rule(
        id="EXP001",
        title="expression changed",
        scope=Scope.COLUMN_SEMANTICS,
        find=expression_changed,
        meaning="The same inputs and the same type, another formula.",
        remedy="Tell the readers that the value means something else.",
    ),
    Rule(
        id="EXP002",
        title="inputs changed",
        scope=Scope.COLUMN_SEMANTICS,
        find=expression_changed,
        meaning="The value comes from other columns than before.",
        remedy="Tell the readers; where every input is new, consider a new name.",
    ),
    Rule(
        id="EXP003",
        title="aggregate or window changed",
        scope=Scope.COLUMN_SEMANTICS,
        find=expression_changed,
        meaning="Many rows are put into one value in another way, or no longer are.",
        remedy="Give the new figure a new name.",
    ),
    Rule(
        id="EXP004",
        title="constant changed",
        scope=Scope.COLUMN_SEMANTICS,
        find=expression_changed,
        meaning="The value is another constant, or has become one; a NULL empties the column.",
        remedy="Tell the readers; remove a column instead of emptying it.",
    ),
    Rule(
        id="EXP005",
        title="masking added or removed",
        scope=Scope.COLUMN_SEMANTICS,
        find=expression_changed,
        meaning="A value that was hashed or masked can be read, or the other way round.",
        remedy="Put the mask back; where it is new, tell those who compare or join the value.",
    ),
    Rule(
        id="EXP006",
        title="another value at every run",
        scope=Scope.COLUMN_SEMANTICS,
        find=expression_changed,
        meaning="The expression now asks the clock or chance: two runs over the same rows differ.",
        remedy="Hand the value in, or take it from the rows.",
    ),
)
