"""Accounts for every changed file: whether it was compared, and why not."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

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

NOT_RENDERED, NOT_FOLLOWED = "NOT_RENDERED", "NOT_FOLLOWED"

UNSEEN = {
    NOT_RENDERED: "the SQL that is analyzed is the same: the edit is in a branch, loop or macro that is not rendered",
    NOT_FOLLOWED: "only statements that set variables or run code are edited, and nothing that is compared takes them",
}
"""Codes of edits that no analyzed statement shows, and what is said of them; they are for information."""

RUNNING_KINDS = frozenset({"SET", "DECLARE", "SELECT", "EXECUTE", "CALL"})
"""Statements that may set variables or run code."""

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
    reasons = {path: UncomparedFile(path, one.code, one.message, one.line) for path, one in found if one is not None}
    unseen = _find_unseen(before, after, [path for path in changed if path not in reasons])
    left = tuple(sorted([*reasons.values(), *unseen]))
    return FileAccount(len(changed), len(changed) - len(left), left, tuple(changed))


def report_uncompared(account: FileAccount, changes: Sequence[Change], policy: Policy = DEFAULT) -> tuple[Change, ...]:
    """The changes, and one for each reason why files were not compared that none of them tells."""
    reported = {change.path for change in changes if change.rule == NO_LONGER_PARSES_RULE}
    causes: dict[tuple[str, str], list[UncomparedFile]] = defaultdict(list)
    for one in account.uncompared:
        if one.path not in reported:
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
        severity=Severity.INFO if first.code in UNSEEN else Severity.POTENTIALLY_BREAKING,
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
    ordered = {path: sorted(listed, key=_finding_order) for path, listed in findings.items()}
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


# ── edits that no analyzed statement shows ──────────────────────────────────────────────────────────────────────────


def _find_unseen(before: _Reading, after: _Reading, paths: Sequence[str]) -> Iterable[UncomparedFile]:
    """The edited files whose edits change nothing that is compared, though they are more than layout and remarks."""
    both = [path for path in paths if path in before.files and path in after.files]
    silent = [path for path in both if _is_rendered_alike(before, after, path) and _has_other_code(before, after, path)]
    elsewhere = any(not _list_prints(before, path) for path in silent) and _renders_others_anew(before, after)
    for path in both:
        if path in silent and (_list_prints(before, path) or not elsewhere):
            yield UncomparedFile(path, NOT_RENDERED, UNSEEN[NOT_RENDERED], _find_edited_line(before, after, path))
        elif path not in silent and (row := _find_unfollowed(before, after, path)):
            yield UncomparedFile(path, NOT_FOLLOWED, UNSEEN[NOT_FOLLOWED], row.span.line if row.span else None)


def _is_rendered_alike(before: _Reading, after: _Reading, path: str) -> bool:
    """Say whether a template gives the same statements on both sides."""
    templates = all(side.files[path].templater in JINJA_TEMPLATERS for side in (before, after))
    return templates and path.endswith(".sql") and _list_prints(before, path) == _list_prints(after, path)


def _list_prints(reading: _Reading, path: str) -> list[str]:
    """The fingerprints of the statements of a file, in order."""
    return [row.fingerprint for row in reading.side.find_statements(path)]


def _renders_others_anew(before: _Reading, after: _Reading) -> bool:
    """Say whether a file that nobody edited gives other statements: an edited macro does that."""
    both = sorted(before.files.keys() & after.files.keys())
    return any(
        _list_prints(before, path) != _list_prints(after, path) and not _has_other_code(before, after, path)
        for path in both
        if after.files[path].templater in JINJA_TEMPLATERS
    )


JINJA_TEMPLATERS = frozenset({"dbt", "jinja"})

_REMARKS = re.compile(r"\{#.*?#\}|/\*.*?\*/|--[^\n]*", re.DOTALL)

_CONFIGURATION = re.compile(r"\{\{-?\s*config\s*\(")
"""The start of the configuration of a dbt model, which is compared as its table is."""

_TAG_END = re.compile(r"(?:\s*-?\}\})?")

_TOKENS = re.compile(r"""'[^']*'|"[^"]*"|\w+|[^\w\s]""")


def _has_other_code(before: _Reading, after: _Reading, path: str) -> bool:
    """Say whether two texts differ by more than layout, letter case, remarks and dbt's configuration."""
    old, new = (_list_code(side.side.read_text(side.files[path])) for side in (before, after))
    return old != new


def _list_code(text: str) -> list[str]:
    """The tokens of a template apart from remarks and configuration."""
    plain = _REMARKS.sub(" ", text)
    found = _CONFIGURATION.search(plain)
    if found is None:
        return _TOKENS.findall(plain.casefold())
    depth, end = 1, len(plain)
    for token in _TOKENS.finditer(plain, found.end()):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            closing = _TAG_END.match(plain, token.end())
            end = closing.end() if closing else token.end()
            break
    return [*_TOKENS.findall(plain[: found.start()].casefold()), *_TOKENS.findall(plain[end:].casefold())]


def _find_edited_line(before: _Reading, after: _Reading, path: str) -> int | None:
    """The first line whose code is another one."""
    old, new = (side.side.read_text(side.files[path]).splitlines() for side in (before, after))
    pairs = enumerate(zip_longest(old, new), 1)
    return next((at for at, (one, two) in pairs if (one or "").split() != (two or "").split()), None)


def _find_unfollowed(before: _Reading, after: _Reading, path: str) -> StatementRow | None:
    """The first edited statement of a file, where all edited ones neither read nor write and none stands elsewhere."""
    old, new = (_list_leaves(side.side.find_statements(path)) for side in (before, after))
    gone, came = (Counter(row.fingerprint for row in side) for side in (old, new))
    edited = [row for row in new if came[row.fingerprint] > gone[row.fingerprint]]
    edited += [row for row in old if gone[row.fingerprint] > came[row.fingerprint]]
    moved = [two for one, two in zip(*map(_list_plain, (old, new)), strict=False) if one.fingerprint != two.fingerprint]
    if any(row.targets for row in edited):
        return None
    return next((row for row in [*edited, *moved] if row.kind in RUNNING_KINDS), None)


def _list_leaves(rows: Sequence[StatementRow]) -> list[StatementRow]:
    """The statements that contain no other."""
    around = {row.parent for row in rows}
    return [row for row in rows if row.ordinal not in around]


def _list_plain(rows: Sequence[StatementRow]) -> list[StatementRow]:
    """The statements of modules that neither read nor write: their order counts."""
    return [row for row in rows if row.parent is not None and not row.targets and row.kind in RUNNING_KINDS]
