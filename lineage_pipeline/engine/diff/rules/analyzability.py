"""Analyzability: where the analysis knows less than before; an unreadable change is never "no change"."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.index import WRITE_KINDS, LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.rules.struct_fields import find_missing_fields
from lineage_pipeline.model.enums import Confidence, Level, Origin, Scope, Severity
from lineage_pipeline.model.tables import Diagnostic, Span, StatementRow
from lineage_pipeline.model.templating import PLACEHOLDER_PREFIX

AMBIGUOUS, GUESSED = "AMBIGUOUS_COLUMN", "guessed"

APPROXIMATE_CODES = frozenset(
    {"APPROXIMATE_LINEAGE", "UNKNOWN_COLUMN", "UNRESOLVED_REFERENCE", AMBIGUOUS, "DYNAMIC_SQL", "LIMIT_EXCEEDED"}
)

MISSING_CODES = frozenset({"UNKNOWN_COLUMN", "UNRESOLVED_REFERENCE"})
"""Codes of unresolved names where all candidates are known."""

UNREADABLE_CODES = frozenset({"PARSE_ERROR", "TEMPLATE_ERROR", "ENCODING_ERROR"})

LOSING_CODES = UNREADABLE_CODES | {"UNSUPPORTED_SYNTAX", "INTERNAL_ERROR", "LIMIT_EXCEEDED"}
"""Codes that explain why what a file defined is gone."""

STAR_CODE = "APPROXIMATE_LINEAGE"
"""The code of a star that is not expanded."""

CYCLE_CODES = frozenset({"DEPENDENCY_CYCLE"})

COUNTED_CODES = frozenset({"DUPLICATE_DEFINITION"})
"""Codes whose message names positions, so that only their number can be compared."""

_NUMBER = re.compile(r"\d+")


def became_approximate(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Known lineage became approximate, or an expanded star is no longer expanded."""
    told = set()
    torn = {_ambiguity_key(one) for one in pair.base.lineage.diagnostics if one.code == AMBIGUOUS}
    for one in find_new_diagnostics(pair, APPROXIMATE_CODES):
        name = _diagnostic_subject(pair.head, one)
        if one.code in MISSING_CODES and not is_in_partial_sql(pair, one):
            continue  # told as a missing source
        if one.code == AMBIGUOUS and (find_new_owners(pair, one) or _ambiguity_key(one) in torn):
            continue  # told as the addition of a column, or as approximate as the names beside it were
        if one.code == STAR_CODE and _count_stars(pair.head, name) <= _count_stars(pair.base, name):
            continue  # a star over something else that nobody knows
        if name not in pair.added and not _names_removed_column(pair, one, name):
            told.add(name)
            yield _unknown_finding("ANL001", name, one.message, one)
    for name in pair.common:
        if pair.head.objects[name].open and not pair.base.objects[name].open and name not in told:
            yield _unknown_finding("ANL001", name, "some of its columns are not known", None)


def _count_stars(side: LineageIndex, name: str) -> int:
    """How many stars of an object's statements are not expanded."""
    stars = (one for one in side.lineage.diagnostics if one.code == STAR_CODE)
    return sum(_diagnostic_subject(side, one) == name for one in stars)


def name_missing(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A statement names something that does not exist; what was removed is reported with its readers."""
    for one in find_new_diagnostics(pair, MISSING_CODES):
        name = _diagnostic_subject(pair.head, one)
        if not is_in_partial_sql(pair, one) and not _names_removed_column(pair, one, name):
            yield _missing_finding(pair, name, one)
    yield from find_missing_fields(pair)


def _missing_finding(pair: LineagePair, name: str, one: Diagnostic) -> ChangeFinding:
    """A name that nothing has; a missing column is certain only where all columns of what is read are known."""
    row = find_statement_at(pair.head, one)
    behind = sorted(read for read in (row.reads if row else ()) if not _is_known_whole(pair.head, read))
    told, severity, confidence = one.message, Severity.BREAKING, Confidence.CERTAIN
    if one.code == "UNKNOWN_COLUMN" and behind:
        told = f"{one.message}; not all columns are known of {', '.join(behind)}"
        severity, confidence = Severity.POTENTIALLY_BREAKING, Confidence.INFERRED
    if PLACEHOLDER_PREFIX in one.message.lower():  # what stands there has no value here
        severity, confidence = Severity.POTENTIALLY_BREAKING, Confidence.UNKNOWN
    return ChangeFinding(
        "SRC002", name, None, severity, after=told, confidence=confidence, path=one.path, line=one.line
    )


def _is_known_whole(side: LineageIndex, name: str) -> bool:
    """Say whether a definition or an import lists all columns of an object."""
    row = side.objects.get(name)
    return row is not None and not row.open and row.origin in (Origin.IMPORTED, Origin.IMPLIED)


def find_repaired_objects(pair: LineagePair) -> frozenset[str]:
    """The objects whose edited statements name fewer things that do not exist: they could not run before."""
    before, after = (
        {
            (_diagnostic_subject(side, one), _diagnostic_key(one))
            for one in side.lineage.diagnostics
            if one.code in MISSING_CODES and _is_certainly_missing(side, one)
        }
        for side in (pair.base, pair.head)
    )
    worse = {name for name, _ in after - before}
    mended = {name for name, _ in before - after} - worse
    return frozenset(name for name in mended if name in pair.writers and pair.writers[name].rewrites)


def _is_certainly_missing(side: LineageIndex, one: Diagnostic) -> bool:
    """Say whether an engine rejects the statement: a source that is not there, or a column that no source can have."""
    row = find_statement_at(side, one)
    if row is None or GUESSED in row.features:
        return False
    return one.code == "UNRESOLVED_REFERENCE" or all(_is_known_whole(side, read) for read in row.reads)


def is_in_partial_sql(pair: LineagePair, one: Diagnostic) -> bool:
    """Say whether a finding is in SQL whose text is only partly known."""
    row = find_statement_at(pair.head, one)
    return row is None or GUESSED in row.features or row.span is None


def no_longer_parses(pair: LineagePair) -> Iterator[ChangeFinding]:
    """The definitions of a file are lost to the analysis, and perhaps to the database."""
    lost = find_lost_objects(pair)
    for name, one in lost:
        severity = Severity.BREAKING if pair.head.readers.get(name) else Severity.POTENTIALLY_BREAKING
        yield ChangeFinding("ANL002", name, None, severity, after=one.message, path=one.path, line=one.line)
    paths = {one.path for _, one in lost}
    for one in _find_new_losses(pair, UNREADABLE_CODES):
        if one.path not in paths:
            yield _unknown_finding("ANL002", _diagnostic_subject(pair.head, one), one.message, one)


def cycle_introduced(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Objects that need each other cannot be created."""
    for one in find_new_diagnostics(pair, CYCLE_CODES):
        name = _diagnostic_subject(pair.head, one)
        yield ChangeFinding("ANL003", name, None, Severity.BREAKING, after=one.message, path=one.path, line=one.line)


def defined_twice(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Which of two definitions holds depends on the order in which they run."""
    seen = set()
    for one in find_new_diagnostics(pair, COUNTED_CODES):
        name = _diagnostic_subject(pair.head, one)
        if name not in seen:
            seen.add(name)
            yield ChangeFinding("ANL004", name, None, Severity.POTENTIALLY_BREAKING, path=one.path, line=one.line)


def not_compared(pair: LineagePair) -> Iterator[ChangeFinding]:
    """What is said of files, which two lineages do not know: the account of the files says it."""
    return iter(())


def find_lost_objects(pair: LineagePair) -> list[tuple[str, Diagnostic]]:
    """The objects that are gone because their file no longer parses."""
    errors: dict[str | None, Diagnostic] = {}
    for one in _find_new_losses(pair, LOSING_CODES):
        errors.setdefault(one.path, one)
    gone = (name for name in pair.removed if name not in pair.renames.names.objects)
    return [(name, errors[path]) for name in gone if (path := pair.base.objects[name].path) and path in errors]


def find_new_diagnostics(pair: LineagePair, codes: frozenset[str]) -> Iterator[Diagnostic]:
    """The diagnostics of the head that the base did not have; a moved file keeps its own."""
    paths = {row.path for row in pair.head.lineage.statements}
    learned = find_newly_read(pair)
    before = [one for one in pair.base.lineage.diagnostics if one.code in codes]
    after = sorted((one for one in pair.head.lineage.diagnostics if one.code in codes), key=_diagnostic_order)
    here = Counter((*_diagnostic_key(one), one.path) for one in before)
    moved = Counter(_diagnostic_key(one) for one in before if one.path not in paths)
    for one in _drop_known(after, here):
        if one.path in learned:
            continue  # nobody knows whether it was there before
        if moved[_diagnostic_key(one)] > 0:
            moved[_diagnostic_key(one)] -= 1
        else:
            yield one


def _find_new_losses(pair: LineagePair, codes: frozenset[str]) -> Iterator[Diagnostic]:
    """The diagnostics of files of which less is read than at base; another message about the same is no news."""
    before, after = (
        Counter(one.path for one in side.lineage.diagnostics if one.code in codes) for side in (pair.base, pair.head)
    )
    return (one for one in find_new_diagnostics(pair, codes) if after[one.path] > before[one.path])


def find_newly_read(pair: LineagePair) -> frozenset[str]:
    """The files that could not be read at base, or not in full, and can be read at head."""
    before, after = ({one.path for one in side.lineage.diagnostics if _loses(one)} for side in (pair.base, pair.head))
    return frozenset(path for path in before - after if path is not None)


def _loses(one: Diagnostic) -> bool:
    """Say whether what a finding is about is not read at all."""
    return one.code in LOSING_CODES and one.severity is Level.ERROR


def _drop_known(after: Sequence[Diagnostic], here: Counter[tuple[str | None, ...]]) -> Iterator[Diagnostic]:
    for one in after:
        here[(*_diagnostic_key(one), one.path)] -= 1
        if here[(*_diagnostic_key(one), one.path)] < 0:
            yield one


def _diagnostic_key(one: Diagnostic) -> tuple[str | None, ...]:
    """The key of a diagnostic without line numbers and qualifiers."""
    if one.code in COUNTED_CODES:
        return one.code, one.object, ""
    column = parse_unknown_column(one) or (parse_ambiguous_column(one) if one.code == AMBIGUOUS else "")
    return one.code, one.object, column or _NUMBER.sub("#", one.message)


def _diagnostic_order(one: Diagnostic) -> tuple[str, str, str, int, int]:
    return one.code, one.message, one.path or "", one.line or 0, one.column or 0


def _diagnostic_subject(side: LineageIndex, one: Diagnostic) -> str:
    """The object of a diagnostic, else what its statement makes, else its file."""
    if one.object and one.object in side.objects:
        return one.object
    row = find_statement_at(side, one)
    return (row.target if row else None) or one.object or one.path or ""


def find_statement_at(side: LineageIndex, one: Diagnostic) -> StatementRow | None:
    """The statement that contains a diagnostic, the innermost one with a target."""
    if one.line is None:
        return None
    place = (one.line, one.column or 0)
    around = [
        row
        for row in side.statements_in(one.path or "")
        if row.target and row.span and _contains_position(row.span, place)
    ]
    return max(around, key=lambda row: (row.span.line, row.span.column) if row.span else (0, 0), default=None)


def _contains_position(span: Span, place: tuple[int, int]) -> bool:
    begins = (span.line, span.column if place[1] else 0)
    return begins <= place <= (span.end_line, span.end_column if place[1] else 0)


def _names_removed_column(pair: LineagePair, one: Diagnostic, name: str) -> bool:
    """Say whether an unknown column was removed or renamed, which is reported with its readers."""
    column = parse_unknown_column(one)
    if not column:
        return False
    # SQL inside a string has no place of its own: whatever its file reads may be meant.
    near = {read for row in pair.head.lineage.statements if row.path == one.path for read in row.reads}
    # An INSERT, an UPDATE or a MERGE may name a column of what it fills, by whatever alias.
    row = find_statement_at(pair.head, one)
    filled = {name} if row is not None and row.kind in WRITE_KINDS else set()
    gone = (
        source
        for source in {*pair.head.sources(name), *pair.base.sources(name), *near, *filled}
        if column not in pair.head.columns.get(source, {}) and not pair.base.is_temporary(source)
    )
    return any(column in pair.base.columns.get(source, {}) for source in gone)


def parse_unknown_column(one: Diagnostic) -> str:
    """The missing column in the message of a diagnostic; a missing source may be a column with fields."""
    name, found, _ = one.message.partition(" is not a column of ")
    if found:
        return name.rpartition(".")[2].strip('"')
    source, found, _ = one.message.partition(" is not a source of ")
    return source.partition(".")[0].strip('"') if found else ""


def parse_ambiguous_column(one: Diagnostic) -> str:
    """The column in the message of an ambiguity."""
    return one.message.partition(" could come from ")[0].rpartition(".")[2].strip('"')


def _ambiguity_key(one: Diagnostic) -> tuple[str | None, str]:
    """The file of an ambiguity, and the sources between which it is."""
    return one.path, one.message.partition(" could come from ")[2]


def find_new_owners(pair: LineagePair, one: Diagnostic) -> list[str]:
    """The sources that have an ambiguous column, where there are several and one is new."""
    row, column = find_statement_at(pair.head, one), parse_ambiguous_column(one)
    owners = [name for name in (row.reads if row else ()) if _lists_column(pair.head, name, column)]
    before = [name for name in owners if column in pair.base.columns.get(name, {})]
    return owners if len(owners) > 1 and len(before) < len(owners) else []


def _lists_column(side: LineageIndex, name: str, column: str) -> bool:
    """Say whether an object is known to have a column, not only thought to because a reader names it."""
    known = side.columns.get(name, {}).get(column)
    return known is not None and known.origin is not Origin.INFERRED


def _unknown_finding(rule: str, name: str, message: str, one: Diagnostic | None) -> ChangeFinding:
    return ChangeFinding(
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
        id="ANL001",
        title="lineage became approximate",
        scope=Scope.ANALYSIS,
        find=became_approximate,
        meaning="Something that was known is guessed: a change may hide here.",
        remedy="Import the missing schema, or name the columns.",
    ),
    Rule(
        id="ANL002",
        title="no longer parses",
        scope=Scope.ANALYSIS,
        find=no_longer_parses,
        meaning="The definition cannot be read any more, so that nobody can say what it gives.",
        remedy="Correct the SQL, or its dialect.",
    ),
    Rule(
        id="ANL003",
        title="cycle introduced",
        scope=Scope.ANALYSIS,
        find=cycle_introduced,
        meaning="Definitions need each other and cannot be created in any order.",
        remedy="Break the circle.",
    ),
    Rule(
        id="ANL004",
        title="defined twice",
        scope=Scope.ANALYSIS,
        find=defined_twice,
        meaning="Two statements create the object; which one holds depends on their order.",
        remedy="Remove one of them.",
    ),
    Rule(
        id="ANL005",
        title="changed and not compared",
        scope=Scope.ANALYSIS,
        find=not_compared,
        meaning="A file changed that could not be read, or not in full, on one side or on both: nobody can say what "
        "its change means.",
        remedy="Correct what the message names, such as the dialect, a variable or a template, or read the change.",
    ),
)
