"""What the analysis knows less about than before: never "no change" where nobody could look."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.index import WRITING, Index
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.rules.nested import field_missing
from lineage_pipeline.vocabulary.sets import Confidence, Scope, Severity
from lineage_pipeline.vocabulary.tables import Diagnostic, Span, StatementRow

AMBIGUOUS, GUESSED = "AMBIGUOUS_COLUMN", "guessed"

APPROXIMATE = frozenset(
    {"APPROXIMATE_LINEAGE", "UNKNOWN_COLUMN", "UNRESOLVED_REFERENCE", AMBIGUOUS, "DYNAMIC_SQL", "LIMIT_EXCEEDED"}
)

MISSING = frozenset({"UNKNOWN_COLUMN", "UNRESOLVED_REFERENCE"})
"""Codes of names that nothing answers to, although all is known that could."""

UNREADABLE = frozenset({"PARSE_ERROR", "TEMPLATE_ERROR", "ENCODING_ERROR"})

LOSING = UNREADABLE | {"UNSUPPORTED_SYNTAX", "INTERNAL_ERROR", "LIMIT_EXCEEDED"}
"""Codes that explain why what a file defined is gone."""

CYCLE = frozenset({"DEPENDENCY_CYCLE"})

COUNTED = frozenset({"DUPLICATE_DEFINITION"})
"""Codes whose message names places, so that only their number can be compared."""

_NUMBER = re.compile(r"\d+")


def became_approximate(pair: Pair) -> Iterator[Finding]:
    """Lineage that was known is guessed, or a star that was expanded is not."""
    told = set()
    for one in new_findings(pair, APPROXIMATE):
        name = _subject(pair.head, one)
        if one.code in MISSING and not is_guessed(pair, one):
            continue  # told as a missing source
        if one.code == AMBIGUOUS and owners_now(pair, one):
            continue  # told as the addition of a column
        if name not in pair.added and not _is_removed(pair, one, name):
            told.add(name)
            yield _unknown("ANL001", name, one.message, one)
    for name in pair.common:
        if pair.head.objects[name].open and not pair.base.objects[name].open and name not in told:
            yield _unknown("ANL001", name, "some of its columns are not known", None)


def name_missing(pair: Pair) -> Iterator[Finding]:
    """A statement names what nothing gives it, and fails; what was removed is told with its readers."""
    for one in new_findings(pair, MISSING):
        name = _subject(pair.head, one)
        if not is_guessed(pair, one) and not _is_removed(pair, one, name):
            path, line = one.path, one.line
            yield Finding("SRC002", name, None, Severity.BREAKING, after=one.message, path=path, line=line)
    yield from field_missing(pair)


def is_guessed(pair: Pair, one: Diagnostic) -> bool:
    """Say whether a finding stands in SQL whose text is known in part only."""
    row = statement_at(pair.head, one)
    return row is None or GUESSED in row.features or row.span is None


def no_longer_parses(pair: Pair) -> Iterator[Finding]:
    """What a file defined is lost to the analysis, and perhaps to the database."""
    lost = lost_objects(pair)
    for name, one in lost:
        severity = Severity.BREAKING if pair.head.readers.get(name) else Severity.POTENTIALLY_BREAKING
        yield Finding("ANL002", name, None, severity, after=one.message, path=one.path, line=one.line)
    paths = {one.path for _, one in lost}
    for one in new_findings(pair, UNREADABLE):
        if one.path not in paths:
            yield _unknown("ANL002", _subject(pair.head, one), one.message, one)


def cycle_introduced(pair: Pair) -> Iterator[Finding]:
    """Objects that need each other cannot be created."""
    for one in new_findings(pair, CYCLE):
        name = _subject(pair.head, one)
        yield Finding("ANL003", name, None, Severity.BREAKING, after=one.message, path=one.path, line=one.line)


def defined_twice(pair: Pair) -> Iterator[Finding]:
    """Which of two definitions holds depends on the order in which they run."""
    seen = set()
    for one in new_findings(pair, COUNTED):
        name = _subject(pair.head, one)
        if name not in seen:
            seen.add(name)
            yield Finding("ANL004", name, None, Severity.POTENTIALLY_BREAKING, path=one.path, line=one.line)


def lost_objects(pair: Pair) -> list[tuple[str, Diagnostic]]:
    """List the objects that are gone because their file no longer parses."""
    errors: dict[str | None, Diagnostic] = {}
    for one in new_findings(pair, LOSING):
        errors.setdefault(one.path, one)
    gone = (name for name in pair.removed if name not in pair.renames.names.objects)
    return [(name, errors[path]) for name in gone if (path := pair.base.objects[name].path) and path in errors]


def new_findings(pair: Pair, codes: frozenset[str]) -> Iterator[Diagnostic]:
    """Give the findings of the head that the base did not have; a file that moved takes its findings along."""
    paths = {row.path for row in pair.head.lineage.statements}
    before = [one for one in pair.base.lineage.diagnostics if one.code in codes]
    after = sorted((one for one in pair.head.lineage.diagnostics if one.code in codes), key=_order)
    here = Counter((*_key(one), one.path) for one in before)
    moved = Counter(_key(one) for one in before if one.path not in paths)
    for one in _beyond(after, here):
        if moved[_key(one)] > 0:
            moved[_key(one)] -= 1
        else:
            yield one


def _beyond(after: Sequence[Diagnostic], here: Counter[tuple[str | None, ...]]) -> Iterator[Diagnostic]:
    for one in after:
        here[(*_key(one), one.path)] -= 1
        if here[(*_key(one), one.path)] < 0:
            yield one


def _key(one: Diagnostic) -> tuple[str | None, ...]:
    """Give what two findings share when they say the same: numbers are lines, and move; a qualifier may be an alias."""
    if one.code in COUNTED:
        return one.code, one.object, ""
    column = unknown_column(one) or (ambiguous_column(one) if one.code == AMBIGUOUS else "")
    return one.code, one.object, column or _NUMBER.sub("#", one.message)


def _order(one: Diagnostic) -> tuple[str, str, str, int, int]:
    return one.code, one.message, one.path or "", one.line or 0, one.column or 0


def _subject(side: Index, one: Diagnostic) -> str:
    """Give the object that a finding is about, else what its statement makes, else its file."""
    if one.object and one.object in side.objects:
        return one.object
    row = statement_at(side, one)
    return (row.target if row else None) or one.object or one.path or ""


def statement_at(side: Index, one: Diagnostic) -> StatementRow | None:
    """Find the statement that a finding stands in, the innermost that makes something."""
    if one.line is None:
        return None
    place = (one.line, one.column or 0)
    around = [row for row in side.statements_in(one.path or "") if row.target and row.span and _holds(row.span, place)]
    return max(around, key=lambda row: (row.span.line, row.span.column) if row.span else (0, 0), default=None)


def _holds(span: Span, place: tuple[int, int]) -> bool:
    begins = (span.line, span.column if place[1] else 0)
    return begins <= place <= (span.end_line, span.end_column if place[1] else 0)


def _is_removed(pair: Pair, one: Diagnostic, name: str) -> bool:
    """Say whether an unknown column is one that was removed or renamed, which is reported with its readers."""
    column = unknown_column(one)
    if not column:
        return False
    # SQL inside a string has no place of its own: whatever its file reads may be meant.
    near = {read for row in pair.head.lineage.statements if row.path == one.path for read in row.reads}
    # An INSERT, an UPDATE or a MERGE may name a column of what it fills, by whatever alias.
    row = statement_at(pair.head, one)
    filled = {name} if row is not None and row.kind in WRITING else set()
    gone = (
        source
        for source in {*pair.head.sources(name), *pair.base.sources(name), *near, *filled}
        if column not in pair.head.columns.get(source, {}) and not pair.base.is_temporary(source)
    )
    return any(column in pair.base.columns.get(source, {}) for source in gone)


def unknown_column(one: Diagnostic) -> str:
    """Read the column that a finding misses from its message; a source that is missing may be a column with fields."""
    name, found, _ = one.message.partition(" is not a column of ")
    if found:
        return name.rpartition(".")[2].strip('"')
    source, found, _ = one.message.partition(" is not a source of ")
    return source.partition(".")[0].strip('"') if found else ""


def ambiguous_column(one: Diagnostic) -> str:
    """Read the column from the message of a finding."""
    return one.message.partition(" could come from ")[0].rpartition(".")[2].strip('"')


def owners_now(pair: Pair, one: Diagnostic) -> list[str]:
    """List the sources that have an ambiguous column, where there are two and one of them is new in that."""
    row, column = statement_at(pair.head, one), ambiguous_column(one)
    owners = [name for name in (row.reads if row else ()) if column in pair.head.columns.get(name, {})]
    before = [name for name in owners if column in pair.base.columns.get(name, {})]
    return owners if len(owners) > 1 and len(before) < len(owners) else []


def _unknown(rule: str, name: str, message: str, one: Diagnostic | None) -> Finding:
    return Finding(
        rule,
        name,
        None,
        Severity.POTENTIALLY_BREAKING,
        after=message,
        confidence=Confidence.UNKNOWN,
        path=one.path if one else None,
        line=one.line if one else None,
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "ANL001",
        "lineage became approximate",
        Scope.ANALYSIS,
        became_approximate,
        "Something that was known is guessed: a change may hide here.",
        "Import the missing schema, or name the columns.",
    ),
    Rule(
        "ANL002",
        "no longer parses",
        Scope.ANALYSIS,
        no_longer_parses,
        "The definition cannot be read any more, so that nobody can say what it gives.",
        "Correct the SQL, or its dialect.",
    ),
    Rule(
        "ANL003",
        "cycle introduced",
        Scope.ANALYSIS,
        cycle_introduced,
        "Definitions need each other and cannot be created in any order.",
        "Break the circle.",
    ),
    Rule(
        "ANL004",
        "defined twice",
        Scope.ANALYSIS,
        defined_twice,
        "Two statements create the object; which one holds depends on their order.",
        "Remove one of them.",
    ),
)
