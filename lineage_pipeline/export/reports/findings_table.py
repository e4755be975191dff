"""The harmful causes as one Markdown table."""

from collections.abc import Iterator

from lineage_pipeline.export.escaping import escape_table_cell, format_code, format_location
from lineage_pipeline.export.reports.causes import (
    SEVERITY_TITLES,
    RootCause,
    build_link,
    collect_causes,
    format_number_of,
)
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle

MOST_CAUSES = 50
MOST_NAMES = 3


def write_findings_table(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return a row for each harmful cause, then a row for each waived one."""
    found = collect_causes(comparison)
    listed = [cause for cause in found if cause.is_harmful] + [cause for cause in found if cause.waived is not None]
    if not listed:
        return "No breaking and no potentially breaking change."
    lines = ["| severity | rule | what | where | affected | owners |", "|---|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join(map(escape_table_cell, _cause_cells(cause, comparison, style))) + " |"
        for cause in listed[:MOST_CAUSES]
    ]
    left = len(listed) - MOST_CAUSES
    return "\n".join([*lines, *(["", f"… and {left} more."] if left > 0 else [])])


def _cause_cells(cause: RootCause, comparison: Comparison, style: ReportStyle) -> Iterator[str]:
    change = cause.change
    severity = SEVERITY_TITLES[change.effective].lower()
    yield severity if cause.waived is None else f"waived: {format_code(cause.waived)}"
    yield f"{change.rule} {cause.title}"
    yield format_code(cause.name)
    yield "" if change.path is None else _link_location(change.path, change.line, comparison, style)
    yield _list_names(cause.affected_objects, "object")
    yield _list_names(
        tuple(dict.fromkeys(owner for reader in cause.affected_readers for owner in reader.owners)), "owner"
    )


def _link_location(path: str, line: int | None, comparison: Comparison, style: ReportStyle) -> str:
    target = build_link(comparison, style, path, line)
    text = format_code(format_location(path, line))
    return text if target is None else f"[{text}]({target})"


def _list_names(names: tuple[str, ...], noun: str) -> str:
    left = len(names) - MOST_NAMES
    more = f" and {format_number_of(left, f'more {noun}')}" if left > 0 else ""
    return ", ".join(map(format_code, names[:MOST_NAMES])) + more
