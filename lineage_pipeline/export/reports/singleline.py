"""Changes one a line, as compilers write them: what editors jump to and what `grep` finds."""

from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import plain
from lineage_pipeline.export.reports.reading import TITLES, Cause, shown
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.tables import Change, Diagnostic

MOST_READERS, LONGEST = 3, 80

MESSAGES = ("SRC002", "ANL")
"""Rules of which what is now is a sentence."""

ONE_SIDED = ("ROW", "CON", "SRC", "NUL", "COL008")
"""Rules that find what came or went, without a name of its own."""


def write_lines(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give a line for each cause, the gravest first, then what is wrong with waivers."""
    return "".join(f"{text}\n" for text in (*map(line, shown(comparison)), *map(_warning, comparison.findings)))


def _warning(finding: Diagnostic) -> str:
    where = plain(place(finding.path or "-", finding.line))
    return f"{where}: warning: {plain(finding.message, 300)} [{finding.code}]"


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
    said += f" ({how})" if (how := _how(change)) else ""
    names = [plain(name, 80) for name in cause.feeling]
    if names:
        rest = f" and {len(names) - MOST_READERS} more" if len(names) > MOST_READERS else ""
        said += f"; felt by {', '.join(names[:MOST_READERS])}{rest}"
    return said


def _how(change: Change) -> str:
    """Give what was and what is, where it is short; one of them alone where the rule does not say it."""
    before, after = ((text or "").replace("\n", "; ") for text in (change.before, change.after))
    if len(before) + len(after) >= LONGEST:
        return ""
    if before and after:
        return f"{plain(before)} → {plain(after)}"
    if change.rule.startswith(MESSAGES):
        return plain(after)
    return plain(f"+ {after}" if after else before and f"- {before}") if change.rule.startswith(ONE_SIDED) else ""
