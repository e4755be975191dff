"""Accounts for every changed file: whether it was compared, and why not."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.diff.compare import build_change
from lineage_pipeline.engine.diff.finding import ChangeFinding, change_id
from lineage_pipeline.engine.diff.policy import DEFAULT, Policy, apply_rule_level, is_rule_enabled
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import Confidence, Level, Severity, Status
from lineage_pipeline.model.file_account import FileAccount, UncomparedFile
from lineage_pipeline.model.tables import Change, Diagnostic, SqlFile, StatementRow

NOT_COMPARED_RULE, NO_LONGER_PARSES_RULE = "ANL005", "ANL002"

FILE_CODES = frozenset({"TEMPLATE_ERROR", "ENCODING_ERROR", "CONTENT_MISSING"})
"""Codes after which nothing, or nobody knows how much, of a file is read."""

STATEMENT_CODES = frozenset({"PARSE_ERROR", "INTERNAL_ERROR", "LIMIT_EXCEEDED"})
"""Codes of statements that are not read: they matter where the statement itself was edited."""

DISABLED_CODES = frozenset({"NODE_DISABLED"})
"""Codes of files that are left out on purpose; one that is left out on one side only is an object that came or went."""

MOST_NAMED = 10
"""How many further files a change names; the account has all of them."""


class FileSide(msgspec.Struct, frozen=True):
    """One side of a comparison: its files, its lineage with all findings, and what a file has, read when asked.

    `read_text` gives the text of a file as written, `find_statements` the statements of a path.
    """

    files: Sequence[SqlFile]
    lineage: LineageTables
    read_text: Callable[[SqlFile], str]
    find_statements: Callable[[str], Sequence[StatementRow]]


class _Reading(msgspec.Struct, frozen=True):
    """What is known of the files of one side by path: the file, its findings, and its statements that failed."""

    side: FileSide
    files: Mapping[str, SqlFile]
    findings: Mapping[str, Sequence[Diagnostic]]
    failed: Mapping[str, Sequence[StatementRow]]

    def failed_texts(self, path: str) -> Counter[str]:
        """The texts of the statements of a file that were not read; one without a place may be any part of it."""
        rows = [row for row in self.failed.get(path, ()) if path in self.files]
        text = self.side.read_text(self.files[path]) if rows else ""
        return Counter(text[row.span.start : row.span.end] if row.span is not None else text for row in rows)

    def find(self, path: str, codes: frozenset[str]) -> Diagnostic | None:
        """The first finding of a file with one of some codes."""
        return next((one for one in self.findings.get(path, ()) if one.code in codes), None)


def account_for_files(base: FileSide, head: FileSide) -> FileAccount:
    """The account of all files whose content, or what is made of it, differs; a moved file has not changed."""
    before, after = _read_side(base), _read_side(head)
    changed = _find_changed(before.files, after.files)
    found = [(path, _find_reason(before, after, path)) for path in changed]
    left = tuple(UncomparedFile(path, one.code, one.message, one.line) for path, one in found if one is not None)
    return FileAccount(len(changed), len(changed) - len(left), left, tuple(changed))


def report_uncompared(account: FileAccount, changes: Sequence[Change], policy: Policy = DEFAULT) -> tuple[Change, ...]:
    """The changes, and one for each reason why files were not compared that none of them tells."""
    told = {change.path for change in changes if change.rule == NO_LONGER_PARSES_RULE}
    causes: dict[tuple[str, str], list[UncomparedFile]] = defaultdict(list)
    for one in account.uncompared:
        if one.path not in told:
            causes[one.code, one.message].append(one)
    if not causes or not is_rule_enabled(policy, NOT_COMPARED_RULE):
        return tuple(changes)
    found = [_build_uncompared(files, policy) for _, files in sorted(causes.items())]
    return tuple(
        sorted([*changes, *found], key=lambda change: (change.object, change.column or "", change.rule, change.id))
    )


def _build_uncompared(files: Sequence[UncomparedFile], policy: Policy) -> Change:
    first, *others = files
    also = f"; also {', '.join(one.path for one in others[:MOST_NAMED])}" if others else ""
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    finding = ChangeFinding(
        rule=NOT_COMPARED_RULE,
        object=first.path,
        column=None,
        severity=Severity.POTENTIALLY_BREAKING,
        after=f"changed and not compared: {first.message} [{first.code}]{also}{more}",
        confidence=Confidence.UNKNOWN,
        path=first.path,
        line=first.line,
    )
    change = build_change(finding, change_id(finding))
    return msgspec.structs.replace(change, effective=apply_rule_level(policy, change.rule, change.effective))


def _read_side(side: FileSide) -> _Reading:
    findings: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in side.lineage.diagnostics:
        if one.path is not None and one.code in FILE_CODES | STATEMENT_CODES | DISABLED_CODES:
            findings[one.path].append(one)
    ordered = {path: sorted(told, key=_finding_order) for path, told in findings.items()}
    failed: dict[str, list[StatementRow]] = defaultdict(list)
    for row in side.lineage.statements:
        if row.status is Status.FAILED:
            failed[row.path].append(row)
    return _Reading(side, {file.path: file for file in side.files}, ordered, failed)


def _finding_order(one: Diagnostic) -> tuple[int, int, str, str]:
    return one.line or 0, one.column or 0, one.code, one.message


def _find_changed(before: Mapping[str, SqlFile], after: Mapping[str, SqlFile]) -> list[str]:
    """The paths whose files differ; a file that is elsewhere now, with the same content, is the same."""
    gone = Counter(file.source_hash for path, file in before.items() if path not in after)
    came = Counter(file.source_hash for path, file in after.items() if path not in before)
    moved = gone & came
    both = [path for path in before if path in after and before[path].source_hash != after[path].source_hash]
    return sorted([*both, *_drop_moved(before, after, Counter(moved)), *_drop_moved(after, before, Counter(moved))])


def _drop_moved(side: Mapping[str, SqlFile], other: Mapping[str, SqlFile], moved: Counter[str]) -> Iterable[str]:
    for path in sorted(side):
        if path not in other:
            moved[side[path].source_hash] -= 1
            if moved[side[path].source_hash] < 0:
                yield path


def _find_reason(before: _Reading, after: _Reading, path: str) -> Diagnostic | None:
    """The finding that says why a changed file was not compared, or None where it was."""
    for side in (after, before):
        if (whole := side.find(path, FILE_CODES)) is not None and whole.severity is Level.ERROR:
            return whole
    if after.find(path, DISABLED_CODES) and before.find(path, DISABLED_CODES):
        return after.find(path, DISABLED_CODES)
    old, new = before.failed_texts(path), after.failed_texts(path)
    if old == new:
        return None
    return (after.find(path, STATEMENT_CODES) if new - old else None) or before.find(path, STATEMENT_CODES)
