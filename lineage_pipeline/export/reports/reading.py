"""What every report tells, in the same order: causes by severity and by how many feel them, each with its readers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

import msgspec

from lineage_pipeline.engine.diff import RULES
from lineage_pipeline.export.reports.escapes import address, lines
from lineage_pipeline.export.subject import Comparison, Style
from lineage_pipeline.vocabulary.sets import Confidence, Scope, Severity
from lineage_pipeline.vocabulary.tables import Change, Consumer
from lineage_pipeline.vocabulary.waivers import Waiver

TITLES = {
    Severity.BREAKING: "Breaking",
    Severity.POTENTIALLY_BREAKING: "Potentially breaking",
    Severity.NON_BREAKING: "Not breaking",
    Severity.INFO: "For information",
}

FELT = {
    Scope.INTERFACE: "reads it",
    Scope.POSITIONAL: "takes every column",
    Scope.COLUMN_SEMANTICS: "gets other values",
    Scope.ROW_SET: "gets other rows",
    Scope.ANALYSIS: "reads it",
}
"""What becomes of a reader that goes on working."""

NAMES_LOST = frozenset({"OBJ001", "OBJ002", "COL001", "COL002"})
"""Rules whose readers are those who still name what is no longer there."""

HARMFUL = (Severity.BREAKING, Severity.POTENTIALLY_BREAKING)

ORDER = {severity: index for index, severity in enumerate(Severity)}

DOUBTS = {
    Confidence.INFERRED: "inferred",
    Confidence.APPROXIMATE: "approximate: the lineage here is not certain",
    Confidence.UNKNOWN: "not known: this could not be analysed",
}
"""What is said about a change that is not certain."""

LONGEST_PATH = 500
"""A longer one is not linked to: what it is made of would fill a comment."""

NOTHING: Mapping[str, Waiver] = {}

_RULES = {rule.id: rule for rule in RULES}


class Reader(msgspec.Struct, frozen=True):
    """One who feels a cause: at first hand, further down, or (`alongside`) a part of the changed object itself."""

    object: str
    column: str | None
    path: str | None
    line: int | None
    owners: tuple[str, ...] = ()
    effective: Severity | None = None
    fate: str = ""
    becomes: str | None = None

    @property
    def name(self) -> str:
        """The column where there is one, else the object."""
        return full_name(self.object, self.column)

    @property
    def fortune(self) -> str:
        """What becomes of this reader, in a few words."""
        return ": ".join(part for part in (self.fate, self.becomes) if part)


class Cause(msgspec.Struct, frozen=True):
    """A root with what follows from it."""

    change: Change
    title: str
    meaning: str
    remedy: str
    alongside: tuple[Reader, ...]
    readers: tuple[Reader, ...]
    further: tuple[Reader, ...]
    unhurt: int
    waived: str | None

    @property
    def name(self) -> str:
        """What changed."""
        return full_name(self.change.object, self.change.column)

    @property
    def feeling(self) -> tuple[str, ...]:
        """The objects that feel it, besides the changed one."""
        return tuple(dict.fromkeys(reader.object for reader in self.felt if reader.object != self.change.object))

    @property
    def felt(self) -> tuple[Reader, ...]:
        """Those who feel it, at first hand and further down."""
        return (*self.readers, *self.further)

    @property
    def is_harmful(self) -> bool:
        """Whether anybody has to do anything about it."""
        return self.waived is None and self.change.effective in HARMFUL

    @property
    def doubt(self) -> str | None:
        """Why the finding is not certain."""
        return DOUBTS.get(self.change.confidence)


def causes(comparison: Comparison) -> list[Cause]:
    """Give the roots, the gravest first, then those that most objects feel."""
    following: dict[str, list[Change]] = defaultdict(list)
    for change in comparison.changes:
        if not change.root:
            following[change.root_id].append(change)
    waivers = {waiver.id: waiver for waiver in comparison.waivers}
    found = [cause_of(root, following[root.id], waivers) for root in comparison.changes if root.root]
    found = [_owned(cause, comparison.owners) for cause in found] if comparison.owners else found
    return sorted(found, key=lambda cause: (ORDER[cause.change.effective], -len(cause.feeling)))


def _owned(cause: Cause, owners: Mapping[str, tuple[str, ...]]) -> Cause:
    """Add who owns those that feel a cause at second hand."""

    def told(readers: Iterable[Reader]) -> tuple[Reader, ...]:
        return tuple(
            one if one.owners else msgspec.structs.replace(one, owners=owners.get(one.object, ())) for one in readers
        )

    return msgspec.structs.replace(cause, readers=told(cause.readers), further=told(cause.further))


def difference(change: Change, most: int, length: int = 400) -> list[tuple[str, str]]:
    """Give the lines of what was and what is, each with its sign; what both have stands once, without one."""
    before, after = (lines(text or "", most, length) for text in (change.before, change.after))
    shown: list[tuple[str, str]] = []
    for kind, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            shown += [(" ", line) for line in before[first:last]]
        else:
            shown += [*(("-", line) for line in before[first:last]), *(("+", line) for line in after[start:end])]
    return shown


def owners_of(found: Iterable[Cause]) -> list[str]:
    """Give those who own what feels the harmful causes, the most concerned first."""
    felt = (reader for cause in found if cause.is_harmful for reader in cause.felt)
    owned = {(owner, reader.object) for reader in felt for owner in reader.owners}
    counts = Counter(owner for owner, _ in owned)
    return sorted(counts, key=lambda owner: (-counts[owner], owner))


def full_name(object: str, column: str | None) -> str:
    """Name a column of an object, or the object."""
    return object if column is None else f"{object}.{column}"


def link_to(comparison: Comparison, style: Style, path: str, line: int | None) -> str | None:
    """Give the address of a place, where files can be linked to and head still has this one."""
    if not style.link or (comparison.files and path not in comparison.files) or len(path) > LONGEST_PATH:
        return None
    return f"{style.link.rstrip('/')}/{address(path)}" + ("" if line is None else f"#L{line}")


def count_of(number: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def feel(number: int) -> str:
    """Say how many objects feel changes."""
    return f"{count_of(number, 'object')} {'feels' if number == 1 else 'feel'} it"


def short_key(key: str) -> str:
    """Give the key of a snapshot with as much of its hash as people compare."""
    repo, at, commit = key.rpartition("@")
    prefix, dash, digest = commit.rpartition("-")
    return f"{repo}{at}{prefix}{dash}{digest[:12]}" if all(sign in "0123456789abcdef" for sign in digest) else key


def shown(comparison: Comparison) -> list[Cause]:
    """Give the causes that a list shows: waived ones where they are asked for."""
    return [cause for cause in causes(comparison) if cause.waived is None or comparison.show_waived]


def tally(found: Iterable[Cause]) -> str:
    """Count the causes by severity in words; what does not count is not named."""
    counts = dict.fromkeys(Severity, 0)
    waived = 0
    for cause in found:
        if cause.waived is None:
            counts[cause.change.effective] += 1
        else:
            waived += 1
    told = [f"{count} {TITLES[severity].lower()}" for severity, count in counts.items() if count]
    return ", ".join([*told, *([f"{waived} waived"] if waived else [])])


def cause_of(root: Change, following: Sequence[Change] = (), waivers: Mapping[str, Waiver] = NOTHING) -> Cause:
    """Put a root together with what follows from it."""
    rule = _RULES.get(root.rule)
    known = _gravest(following)
    readers = [_reader(root, consumer, known.get((consumer.object, consumer.column))) for consumer in root.consumers]
    direct = {(reader.object, reader.column) for reader in readers}
    own = [one for one in following if one.object == root.object and (one.object, one.column) not in direct]
    further = [
        reader
        for reader in _further(list(known.values()))
        if reader.object != root.object and (reader.object, reader.column) not in direct
    ]
    hurt = [reader for reader in further if reader.effective is None or reader.effective in HARMFUL]
    return Cause(
        root,
        rule.title if rule else "",
        rule.meaning if rule else "",
        rule.remedy if rule else "",
        tuple(map(_follower, own)),
        tuple(readers),
        tuple(sorted(hurt, key=lambda reader: ORDER[reader.effective or Severity.INFO])),
        len(further) - len(hurt),
        _waived(root.waiver, waivers),
    )


def _gravest(following: Sequence[Change]) -> dict[tuple[str, str | None], Change]:
    """Give one change for each place: the gravest of what happens there."""
    found: dict[tuple[str, str | None], Change] = {}
    for change in following:
        known = found.setdefault((change.object, change.column), change)
        if ORDER[change.effective] < ORDER[known.effective]:
            found[change.object, change.column] = change
    return found


def _waived(waiver: str | None, waivers: Mapping[str, Waiver]) -> str | None:
    """Say why a cause is waived, by whom and until when."""
    if waiver is None or waiver not in waivers:
        return waiver
    known = waivers[waiver]
    ticket = f", {known.ticket}" if known.ticket else ""
    return f"{known.reason} ({known.owner or 'nobody'}, until {known.expires}{ticket})"


def _reader(change: Change, consumer: Consumer, own: Change | None) -> Reader:
    """Give a reader of a change; `own` is what changes at the reader itself."""
    if own is not None:
        found = _follower(own)
        return msgspec.structs.replace(found, path=consumer.path, line=consumer.line, owners=consumer.owners)
    # A column that is read without being selected decides about rows: a filter, a join, a grouping.
    scope = Scope.ROW_SET if change.column is not None and consumer.column is None else change.scope
    own_writer = consumer.object == change.object
    broken = (change.rule in NAMES_LOST or own_writer) and change.effective is Severity.BREAKING
    felt = "fills it" if own_writer else FELT[scope]
    effective, fate = (Severity.BREAKING, "breaks") if broken else (None, felt)
    return Reader(consumer.object, consumer.column, consumer.path, consumer.line, consumer.owners, effective, fate)


def _follower(change: Change) -> Reader:
    becomes = _becomes(change)
    fate = "breaks" if change.effective is Severity.BREAKING else "" if becomes else FELT[change.scope]
    return Reader(change.object, change.column, change.path, change.line, (), change.effective, fate, becomes)


def _further(following: Sequence[Change]) -> Iterator[Reader]:
    """Give those who feel it at second hand once each, as themselves rather than as readers of another."""
    owners = {consumer.object: consumer.owners for change in following for consumer in change.consumers}
    seen = {(change.object, change.column) for change in following}
    for change in following:
        yield msgspec.structs.replace(_follower(change), owners=owners.get(change.object, ()))
    for change in following:
        for consumer in change.consumers:
            if (consumer.object, consumer.column) not in seen:
                seen.add((consumer.object, consumer.column))
                yield _reader(change, consumer, None)


def _becomes(change: Change) -> str | None:
    """Say what a type or a nullability was and is, where that is what follows."""
    return f"{change.before} → {change.after}" if change.before and change.after else None
