"""Changes one a line, as compilers print them, for editors and `grep`."""

from lineage_pipeline.export.escaping import escape_one_line, format_location
from lineage_pipeline.export.reports.causes import SEVERITY_TITLES, RootCause, describe_difference, listed_causes
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.tables import Diagnostic

MOST_READERS = 3


def write_singleline(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return a line for each cause, the gravest first, then the findings about waivers."""
    return "".join(
        f"{text}\n"
        for text in (*map(format_cause_line, listed_causes(comparison)), *map(_finding_line, comparison.findings))
    )


def _finding_line(finding: Diagnostic) -> str:
    where = escape_one_line(format_location(finding.path or "-", finding.line))
    return f"{where}: warning: {escape_one_line(finding.message, 300)} [{finding.code}]"


def format_cause_line(cause: RootCause) -> str:
    """Format a cause with location, severity, rule, name and the first affected objects."""
    change = cause.change
    where = escape_one_line(format_location(change.path or "-", change.line))
    severity = SEVERITY_TITLES[change.effective].lower() + (" (waived)" if cause.waived is not None else "")
    return f"{where}: {severity}: {describe_cause(cause)} [{change.rule}]"


def describe_cause(cause: RootCause) -> str:
    """Describe what changed, how, and who is affected."""
    return f"{cause.title}: {describe_changed_object(cause)}" if cause.title else describe_changed_object(cause)


def describe_changed_object(cause: RootCause) -> str:
    """Describe what changed and who is affected, without the title of the rule."""
    said = escape_one_line(cause.name)
    change = cause.change
    said += f" ({how})" if (how := describe_difference(change)) else ""
    names = [escape_one_line(name, 80) for name in cause.affected_objects]
    if names:
        rest = f" and {len(names) - MOST_READERS} more" if len(names) > MOST_READERS else ""
        said += f"; affects {', '.join(names[:MOST_READERS])}{rest}"
    return said
