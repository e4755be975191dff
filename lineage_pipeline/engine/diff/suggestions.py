"""Suggestions: an edit that would repair what a change breaks, where one is plain to see."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from lineage_pipeline.engine.diff.file_accounts import FileSide
from lineage_pipeline.engine.diff.source_edits import SideTexts, quote_edits
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Change

_MISSING_COLUMN = re.compile(r"(\S+) is not a column of (.+)")

MOST_LINE = 120
"""Characters of a reader's line that a suggestion repeats."""


def describe_changes(base: FileSide, head: FileSide, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes with the edited lines as written, and with suggestions."""
    old, new = SideTexts(base), SideTexts(head)
    return suggest_edits(new, quote_edits(old, new, changes))


def suggest_edits(head: SideTexts, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes, each root with a suggestion where there is one."""
    following: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if not change.root:
            following[change.root_id].append(change)
    return tuple(
        msgspec.structs.replace(change, suggestion=_suggest_edit(head, change, following[change.id]))
        if change.root and change.effective in (Severity.BREAKING, Severity.POTENTIALLY_BREAKING)
        else change
        for change in changes
    )


def _suggest_edit(head: SideTexts, change: Change, following: Iterable[Change]) -> str | None:
    if change.rule == "COL002" and change.before and change.after:
        return _suggest_new_name(head, change, following) or f"keep the old name for its readers: … AS {change.before}"
    if change.rule == "OBJ002" and change.before and change.after:
        return _suggest_new_name(head, change, following)
    missing = _MISSING_COLUMN.fullmatch(change.after or "") if change.rule == "SRC002" else None
    if missing is not None and missing[2] == change.object:
        return f"ALTER TABLE {change.object} ADD COLUMN {missing[1]} …"
    return None


def _suggest_new_name(head: SideTexts, change: Change, following: Iterable[Change]) -> str | None:
    """The line of the first reader that still has the old name, with the new one in its place."""
    old, new = (_last_part(text or "") for text in (change.before, change.after))
    broken = [(one.path, one.line) for one in following if one.effective is Severity.BREAKING]
    readers = [(one.path, one.line) for one in change.consumers] if change.effective is Severity.BREAKING else []
    word = re.compile(rf"(?<![\w@$#]){re.escape(old)}(?![\w@$#])", re.IGNORECASE)
    for path, line in sorted({(path, line) for path, line in (*broken, *readers) if path and line}):
        for number, text in _find_lines(head, path, line):
            if word.search(text):
                renamed = word.sub(lambda match: new.lower() if match[0].islower() else new, text)
                before, after = text.strip()[:MOST_LINE], renamed.strip()[:MOST_LINE]
                return f"{path}:{number}: {before} → {after}"
    return None


def _find_lines(head: SideTexts, path: str, line: int) -> list[tuple[int, str]]:
    """The lines of the innermost statement around a line, with their numbers: from that line on, then those above."""
    if path not in head.files:
        return []
    lines = head.read(path)
    spans = [row.span for row in head.side.find_statements(path) if row.span is not None]
    around = [span for span in spans if span.line <= line <= span.end_line]
    inner = min(around, key=lambda span: (span.end - span.start, span), default=None)
    first, last = (inner.line, inner.end_line) if inner is not None else (line, line)
    numbers = [*range(line, last + 1), *range(first, line)]
    return [(number, lines[number - 1]) for number in numbers if number <= len(lines)]


def _last_part(name: str) -> str:
    """The last part of a dotted name, without quotes."""
    return name.rpartition(".")[2].strip('"`[]')
