"""The root causes that every report shows, by severity and number of affected objects, each with its readers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

import msgspec

from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.export.escaping import escape_lines, escape_one_line, quote_path
from lineage_pipeline.export.reports.headlines import write_headline
from lineage_pipeline.export.subject import Comparison, ReportStyle, identify_finding
from lineage_pipeline.model.enums import Confidence, Scope, Severity
from lineage_pipeline.model.file_account import FileAccount
from lineage_pipeline.model.tables import Change, Consumer, Diagnostic, Waiver

SEVERITY_TITLES = {
    Severity.BREAKING: "Breaking",
    Severity.POTENTIALLY_BREAKING: "Potentially breaking",
    Severity.NON_BREAKING: "Not breaking",
    Severity.INFO: "For information",
}

READER_EFFECTS = {
    Scope.INTERFACE: "reads it",
    Scope.POSITIONAL: "takes every column",
    Scope.COLUMN_SEMANTICS: "gets other values",
    Scope.ROW_SET: "gets other rows",
    Scope.ANALYSIS: "reads it",
}
"""The effect on a reader that still works, by scope of the change."""

LOST_NAME_RULES = frozenset({"OBJ001", "OBJ002", "COL001", "COL002"})
"""Rules whose readers still name what no longer exists."""

SAME_MEANING_RULES = frozenset({"OBJ007", "OBJ009"})
"""Rules that say that an edit changes nothing for anybody."""

SAME_MEANING_TITLE = "Edited, same meaning (proven)"

NOT_ANALYZED_TITLE = "Not analyzed, in or near this change"

HARMFUL_SEVERITIES = (Severity.BREAKING, Severity.POTENTIALLY_BREAKING)

SEVERITY_RANKS = {severity: index for index, severity in enumerate(Severity)}

CONFIDENCE_NOTES = {
    Confidence.INFERRED: "inferred",
    Confidence.APPROXIMATE: "approximate: the lineage here is not certain",
    Confidence.UNKNOWN: "unknown: this could not be analyzed",
}
"""The note on a change that is not certain, by confidence."""

MESSAGE_RULES = ("SRC002", "ANL")
"""Prefixes of rules whose `after` is a sentence."""

ONE_SIDED_RULES = ("ROW", "CON", "SRC", "NUL", "COL008")
"""Prefixes of rules about something unnamed that was added or removed."""

LONGEST_DIFFERENCE = 80
"""Characters of before and after that fit into a line."""

MOST_NAMED_COLUMNS = 4
"""Columns that the heading of an entry names."""

LONGEST_PATH = 500
"""Longer paths get no link: it would fill a comment."""

NO_WAIVERS: Mapping[str, Waiver] = {}

_RULES_BY_ID = {rule.id: rule for rule in RULES}


class AffectedReader(msgspec.Struct, frozen=True):
    """One that is affected by a cause: directly, further down, or (`alongside`) a part of the changed object.

    The `distance` is the number of steps from the changed object, where it is known.
    """

    object: str
    column: str | None
    path: str | None
    line: int | None
    owners: tuple[str, ...] = ()
    effective: Severity | None = None
    fate: str = ""
    becomes: str | None = None
    distance: int | None = None

    @property
    def name(self) -> str:
        """Return the qualified column where there is one, else the object."""
        return qualify_column(self.object, self.column)

    @property
    def effect(self) -> str:
        """Return the effect on this reader in a few words."""
        return ": ".join(part for part in (self.fate, self.becomes) if part)


class RootCause(msgspec.Struct, frozen=True):
    """A root change with what follows from it; `columns` are those that the same edit changes in the same way."""

    change: Change
    title: str
    meaning: str
    remedy: str
    alongside: tuple[AffectedReader, ...]
    readers: tuple[AffectedReader, ...]
    further: tuple[AffectedReader, ...]
    unhurt: int
    waived: str | None
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the changed column or object, or the first columns where there are several."""
        if len(self.columns) > 1:
            left = len(self.columns) - MOST_NAMED_COLUMNS
            named = self.columns[:MOST_NAMED_COLUMNS] if left > 1 else self.columns
            return f"{self.change.object} ({', '.join(named)}{f' and {left} more' if left > 1 else ''})"
        return qualify_column(self.change.object, self.change.column)

    @property
    def detail(self) -> str:
        """Return what the edited lines do not say: the sentence of a finding, or names and types of an interface."""
        change = self.change
        quoted = change.sql_before is not None or change.sql_after is not None
        if change.rule.startswith(MESSAGE_RULES):
            return change.after or "" if quoted else ""
        return describe_difference(change) if quoted and change.scope in (Scope.INTERFACE, Scope.POSITIONAL) else ""

    @property
    def affected_objects(self) -> tuple[str, ...]:
        """Return the affected objects besides the changed one."""
        return tuple(
            dict.fromkeys(reader.object for reader in self.affected_readers if reader.object != self.change.object)
        )

    @property
    def affected_readers(self) -> tuple[AffectedReader, ...]:
        """Return the affected readers, direct ones and those further down."""
        return (*self.readers, *self.further)

    @property
    def is_harmful(self) -> bool:
        """Return whether somebody has to act on it."""
        return self.waived is None and self.change.effective in HARMFUL_SEVERITIES

    @property
    def confidence_note(self) -> str | None:
        """Return why the finding is not certain, or None."""
        return CONFIDENCE_NOTES.get(self.change.confidence)


def collect_causes(comparison: Comparison) -> list[RootCause]:
    """Return the root causes, the gravest first, then those that affect most objects."""
    following: dict[str, list[Change]] = defaultdict(list)
    for change in comparison.changes:
        if not change.root:
            following[change.root_id].append(change)
    waivers = {waiver.id: waiver for waiver in comparison.waivers}
    readers: dict[str, list[str]] = defaultdict(list)
    for source, reader in comparison.edges:
        readers[source].append(reader)
    found = [build_cause(root, following[root.id], waivers) for root in comparison.changes if root.root]
    known = [_with_facts_of_readers(cause, comparison.owners, readers) for cause in found]
    return sorted(known, key=lambda cause: (SEVERITY_RANKS[cause.change.effective], -len(cause.affected_objects)))


def merge_columns(found: Iterable[RootCause]) -> list[RootCause]:
    """Merge the causes of one edit that does the same to several columns of an object into one entry."""
    merged: dict[tuple[object, ...], RootCause] = {}
    for cause in found:
        change = cause.change
        # What was added needs no word about each: an object has one line for it.
        edit = (change.sql_before, change.sql_after) if cause.is_harmful or cause.waived is not None else None
        alone = change.column is None or (cause.is_harmful and edit == (None, None))
        key = (change.object, change.rule, change.effective, change.waiver, edit, change.id if alone else None)
        merged[key] = _merge_causes(merged[key], cause) if key in merged else cause
    return list(merged.values())


def _merge_causes(cause: RootCause, other: RootCause) -> RootCause:
    columns = dict.fromkeys(column for one in (cause, other) for column in (one.columns or (one.change.column,)))
    return msgspec.structs.replace(
        cause,
        columns=tuple(filter(None, columns)),
        alongside=tuple(dict.fromkeys((*cause.alongside, *other.alongside))),
        readers=tuple(dict.fromkeys((*cause.readers, *other.readers))),
        further=tuple(dict.fromkeys((*cause.further, *other.further))),
        unhurt=cause.unhurt + other.unhurt,
    )


def _with_facts_of_readers(
    cause: RootCause, owners: Mapping[str, tuple[str, ...]], readers: Mapping[str, Sequence[str]]
) -> RootCause:
    """Add the owners of readers that have none yet, and how far each reader is from the change."""
    if not cause.affected_readers:
        return cause
    steps = _count_steps(cause.change.object, readers)

    def add_facts(found: Iterable[AffectedReader], known: int | None) -> tuple[AffectedReader, ...]:
        return tuple(
            msgspec.structs.replace(
                one, owners=one.owners or owners.get(one.object, ()), distance=known or steps.get(one.object)
            )
            for one in found
        )

    return msgspec.structs.replace(cause, readers=add_facts(cause.readers, 1), further=add_facts(cause.further, None))


def _count_steps(start: str, readers: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of steps from an object to each one that depends on it."""
    found, border = {start: 0}, [start]
    while border:
        border = sorted({name for one in border for name in readers.get(one, ()) if name not in found})
        found |= dict.fromkeys(border, 1 + max(found.values()))
    return found


def diff_lines(change: Change, most: int, length: int = 400) -> list[tuple[str, str]]:
    """Return the lines of before and after, each with its sign: `-`, `+`, or a blank for common ones.

    They are the edited lines as their author wrote them, where these are known, else the canonical texts.
    """
    quoted = change.sql_before is not None or change.sql_after is not None
    texts = (change.sql_before, change.sql_after) if quoted else (change.before, change.after)
    before, after = (escape_lines(text or "", most, length) for text in texts)
    shown: list[tuple[str, str]] = []
    for kind, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            shown += [(" ", line) for line in before[first:last]]
        else:
            shown += [*(("-", line) for line in before[first:last]), *(("+", line) for line in after[start:end])]
    return shown


def select_near_findings(comparison: Comparison, found: Iterable[RootCause]) -> tuple[Diagnostic, ...]:
    """Return what could not be analyzed in changed files, in those of the causes and of who is affected, and newly."""
    paths: set[str | None] = {*comparison.account.paths}
    for cause in found:
        paths |= {cause.change.path, *(reader.path for reader in (*cause.alongside, *cause.affected_readers))}
    return tuple(
        one for one in comparison.unanalyzed if one.path in paths or identify_finding(one) not in comparison.standing
    )


def rank_owners(found: Iterable[RootCause]) -> list[str]:
    """Return the owners of what harmful causes affect, those with most affected objects first."""
    readers = (reader for cause in found if cause.is_harmful for reader in cause.affected_readers)
    owned = {(owner, reader.object) for reader in readers for owner in reader.owners}
    counts = Counter(owner for owner, _ in owned)
    return sorted(counts, key=lambda owner: (-counts[owner], owner))


def qualify_column(object: str, column: str | None) -> str:
    """Return `object.column`, or the object where there is no column."""
    return object if column is None else f"{object}.{column}"


def build_link(comparison: Comparison, style: ReportStyle, path: str, line: int | None) -> str | None:
    """Return the address of a location, where links are on and head still has the file; else None."""
    if not style.link or (comparison.files and path not in comparison.files) or len(path) > LONGEST_PATH:
        return None
    return f"{style.link.rstrip('/')}/{quote_path(path)}" + ("" if line is None else f"#L{line}")


def describe_difference(change: Change) -> str:
    """Return before and after where they are short; only one of them where the rule does not say which."""
    before, after = ((text or "").replace("\n", "; ") for text in (change.before, change.after))
    if len(before) + len(after) >= LONGEST_DIFFERENCE:
        return ""
    if before and after:
        return f"{escape_one_line(before)} → {escape_one_line(after)}"
    if change.rule.startswith(MESSAGE_RULES):
        return escape_one_line(after)
    return (
        escape_one_line(f"+ {after}" if after else before and f"- {before}")
        if change.rule.startswith(ONE_SIDED_RULES)
        else ""
    )


def format_number_of(number: int, noun: str) -> str:
    """Format a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_affected_count(number: int) -> str:
    """Format how many objects are affected."""
    return f"{format_number_of(number, 'object')} affected"


def format_compared_files(account: FileAccount) -> str:
    """Format how many of the changed files were compared; empty where no file is known to have changed."""
    if not account.changed:
        return ""
    return f"{account.compared} of {format_number_of(account.changed, 'changed file')} compared"


def shorten_snapshot_key(key: str) -> str:
    """Shorten the hash in the key of a snapshot to 12 digits."""
    repo, at, commit = key.rpartition("@")
    prefix, dash, digest = commit.rpartition("-")
    return f"{repo}{at}{prefix}{dash}{digest[:12]}" if all(sign in "0123456789abcdef" for sign in digest) else key


def listed_causes(comparison: Comparison) -> list[RootCause]:
    """Return the causes that a list shows: waived ones only with `show_waived`."""
    return [cause for cause in collect_causes(comparison) if cause.waived is None or comparison.show_waived]


def format_severity_counts(found: Iterable[RootCause]) -> str:
    """Format the counts of causes by severity; zero counts are omitted."""
    counts = dict.fromkeys(Severity, 0)
    waived = 0
    for cause in found:
        if cause.waived is None:
            counts[cause.change.effective] += 1
        else:
            waived += 1
    listed = [f"{count} {SEVERITY_TITLES[severity].lower()}" for severity, count in counts.items() if count]
    return ", ".join([*listed, *([f"{waived} waived"] if waived else [])])


def build_cause(
    root: Change, following: Sequence[Change] = (), waivers: Mapping[str, Waiver] = NO_WAIVERS
) -> RootCause:
    """Build the cause of a root change and the changes that follow from it."""
    rule = _RULES_BY_ID.get(root.rule)
    known = _gravest_by_column(following)
    readers = [
        _build_reader(root, consumer, known.get((consumer.object, consumer.column))) for consumer in root.consumers
    ]
    direct = {(reader.object, reader.column) for reader in readers}
    own = [one for one in following if one.object == root.object and (one.object, one.column) not in direct]
    columns = [one for one in following if _is_same_edit(root, one)]
    own = [one for one in own if one not in columns]
    further = [
        reader
        for reader in _indirect_readers(list(known.values()))
        if reader.object != root.object and (reader.object, reader.column) not in direct
    ]
    beside = {(one.object, one.column) for one in columns}
    hurt = [reader for reader in further if reader.effective is None or reader.effective in HARMFUL_SEVERITIES]
    return RootCause(
        change=root,
        title=write_headline(root),
        meaning=rule.meaning if rule else "",
        remedy=rule.remedy if rule else "",
        alongside=tuple(map(_reader_of_change, own)),
        readers=tuple(reader for reader in readers if (reader.object, reader.column) not in beside),
        further=tuple(sorted(hurt, key=lambda reader: SEVERITY_RANKS[reader.effective or Severity.INFO])),
        unhurt=len(further) - len(hurt),
        waived=_describe_waiver(root.waiver, waivers),
        columns=tuple(dict.fromkeys(filter(None, (root.column, *(one.column for one in columns))))) if columns else (),
    )


def _is_same_edit(root: Change, other: Change) -> bool:
    """Say whether the same happened to another column of the changed object."""
    same = (other.object, other.rule, other.effective) == (root.object, root.rule, root.effective)
    return same and None not in (root.column, other.column)


def _gravest_by_column(following: Sequence[Change]) -> dict[tuple[str, str | None], Change]:
    """Give one change for each place: the gravest of what happens there."""
    found: dict[tuple[str, str | None], Change] = {}
    for change in following:
        known = found.setdefault((change.object, change.column), change)
        if SEVERITY_RANKS[change.effective] < SEVERITY_RANKS[known.effective]:
            found[change.object, change.column] = change
    return found


def _describe_waiver(waiver: str | None, waivers: Mapping[str, Waiver]) -> str | None:
    """Return why a cause is waived, by whom and until when."""
    if waiver is None or waiver not in waivers:
        return waiver
    known = waivers[waiver]
    ticket = f", {known.ticket}" if known.ticket else ""
    return f"{known.reason} ({known.owner or 'nobody'}, until {known.expires}{ticket})"


def _build_reader(change: Change, consumer: Consumer, own: Change | None) -> AffectedReader:
    """Build a reader of a change; `own` is the change at the reader itself."""
    if own is not None:
        found = _reader_of_change(own)
        return msgspec.structs.replace(found, path=consumer.path, line=consumer.line, owners=consumer.owners)
    # A column that is read without being selected decides about rows: a filter, a join, a grouping.
    scope = Scope.ROW_SET if change.column is not None and consumer.column is None else change.scope
    own_writer = consumer.object == change.object
    broken = (change.rule in LOST_NAME_RULES or own_writer) and change.effective is Severity.BREAKING
    effect = "fills it" if own_writer else READER_EFFECTS[scope]
    effective, fate = (Severity.BREAKING, "breaks") if broken else (None, effect)
    return AffectedReader(
        object=consumer.object,
        column=consumer.column,
        path=consumer.path,
        line=consumer.line,
        owners=consumer.owners,
        effective=effective,
        fate=fate,
    )


def _reader_of_change(change: Change) -> AffectedReader:
    becomes = _describe_transition(change)
    fate = "breaks" if change.effective is Severity.BREAKING else "" if becomes else READER_EFFECTS[change.scope]
    return AffectedReader(
        object=change.object,
        column=change.column,
        path=change.path,
        line=change.line,
        owners=(),
        effective=change.effective,
        fate=fate,
        becomes=becomes,
    )


def _indirect_readers(following: Sequence[Change]) -> Iterator[AffectedReader]:
    """Yield indirect readers once each, by their own change rather than as readers of another."""
    owners = {consumer.object: consumer.owners for change in following for consumer in change.consumers}
    seen = {(change.object, change.column) for change in following}
    for change in following:
        yield msgspec.structs.replace(_reader_of_change(change), owners=owners.get(change.object, ()))
    for change in following:
        for consumer in change.consumers:
            if (consumer.object, consumer.column) not in seen:
                seen.add((consumer.object, consumer.column))
                yield _build_reader(change, consumer, None)


def _describe_transition(change: Change) -> str | None:
    """Return `before → after` of a change that has both."""
    return f"{change.before} → {change.after}" if change.before and change.after else None
