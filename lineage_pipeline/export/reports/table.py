"""The harmful causes as one Markdown table, for those who show findings among other things."""

from collections.abc import Iterator

from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import cell, code
from lineage_pipeline.export.reports.reading import TITLES, Cause, causes, count_of, link_to
from lineage_pipeline.export.subject import PLAIN, Comparison, Style

MOST = 50
MOST_NAMES = 3


def findings_table(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give a row for each cause that somebody has to do something about, then a row for each that is waived."""
    found = causes(comparison)
    listed = [cause for cause in found if cause.is_harmful] + [cause for cause in found if cause.waived is not None]
    if not listed:
        return "No breaking and no potentially breaking change."
    lines = ["| severity | rule | what | where | who feels it | owners |", "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(map(cell, _cells(cause, comparison, style))) + " |" for cause in listed[:MOST]]
    left = len(listed) - MOST
    return "\n".join([*lines, *(["", f"… and {left} more."] if left > 0 else [])])


def _cells(cause: Cause, comparison: Comparison, style: Style) -> Iterator[str]:
    change = cause.change
    severity = TITLES[change.effective].lower()
    yield severity if cause.waived is None else f"waived: {code(cause.waived)}"
    yield f"{change.rule} {cause.title}"
    yield code(cause.name)
    yield "" if change.path is None else _place(change.path, change.line, comparison, style)
    yield _names(cause.feeling, "object")
    yield _names(tuple(dict.fromkeys(owner for reader in cause.felt for owner in reader.owners)), "owner")


def _place(path: str, line: int | None, comparison: Comparison, style: Style) -> str:
    target = link_to(comparison, style, path, line)
    text = code(place(path, line))
    return text if target is None else f"[{text}]({target})"


def _names(names: tuple[str, ...], noun: str) -> str:
    left = len(names) - MOST_NAMES
    more = f" and {count_of(left, f'more {noun}')}" if left > 0 else ""
    return ", ".join(map(code, names[:MOST_NAMES])) + more
