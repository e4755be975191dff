"""Changes one a line, as compilers write them: what editors jump to and what `grep` finds."""

from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import plain
from lineage_pipeline.export.reports.reading import TITLES, Cause, shown
from lineage_pipeline.export.subject import PLAIN, Comparison, Style

MOST_READERS = 3


def write_lines(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give a line for each cause, the gravest first."""
    return "".join(f"{line(cause)}\n" for cause in shown(comparison))


def line(cause: Cause) -> str:
    """Give a cause with its place, severity, rule, name and the first of its readers."""
    change = cause.change
    where = plain(place(change.path or "-", change.line))
    severity = TITLES[change.effective].lower() + (" (waived)" if cause.waived is not None else "")
    return f"{where}: {severity}: {sentence(cause)} [{change.rule}]"


def sentence(cause: Cause) -> str:
    """Say what changed, how, and who feels it."""
    return f"{cause.title}: {subject(cause)}" if cause.title else subject(cause)


def subject(cause: Cause) -> str:
    """Name what changed and who feels it."""
    said = plain(cause.name)
    change = cause.change
    if change.before and change.after and len(change.before) + len(change.after) < 80:
        said += f" ({plain(change.before)} → {plain(change.after)})"
    names = [plain(name, 80) for name in cause.feeling]
    if names:
        rest = f" and {len(names) - MOST_READERS} more" if len(names) > MOST_READERS else ""
        said += f"; felt by {', '.join(names[:MOST_READERS])}{rest}"
    return said
