"""Changes as workflow commands, which GitHub shows at the lines of a pull request."""

from collections.abc import Iterable, Iterator

from lineage_pipeline.export.escaping import escape_command_property, escape_command_value, escape_one_line
from lineage_pipeline.export.reports.causes import RootCause, listed_causes
from lineage_pipeline.export.reports.singleline import describe_changed_object
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Diagnostic

COMMAND_NAMES = {
    Severity.BREAKING: "error",
    Severity.POTENTIALLY_BREAKING: "warning",
    Severity.NON_BREAKING: "notice",
    Severity.INFO: "notice",
}


def write_github_commands(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return a command for each cause, the gravest first (GitHub shows ten of a kind), then waiver findings."""
    return "".join(
        f"{text}\n"
        for text in (*map(format_command, listed_causes(comparison)), *map(_warning_command, comparison.findings))
    )


def format_command(cause: RootCause) -> str:
    """Format one annotation; a waived cause is only a notice."""
    name = COMMAND_NAMES[cause.change.effective] if cause.waived is None else "notice"
    properties = _format_properties(_command_properties(cause))
    waived = "" if cause.waived is None else f"waived: {escape_one_line(cause.waived, 400)}\n"
    remedy = f"\n{cause.remedy}" if cause.is_harmful else ""
    return f"::{name} {properties}::{escape_command_value(waived + describe_changed_object(cause) + remedy)}"


def _warning_command(finding: Diagnostic) -> str:
    properties = _format_properties((*_location_properties(finding.path, finding.line), ("title", finding.code)))
    return f"::warning {properties}::{escape_command_value(escape_one_line(finding.message, 300))}"


def _format_properties(properties: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{key}={escape_command_property(value)}" for key, value in properties)


def _command_properties(cause: RootCause) -> Iterator[tuple[str, str]]:
    yield from _location_properties(cause.change.path, cause.change.line)
    yield "title", f"{cause.change.rule} {cause.title}"


def _location_properties(path: str | None, line: int | None) -> Iterator[tuple[str, str]]:
    if path is not None:
        yield "file", escape_one_line(path, 1000)
        if line is not None:
            yield from (("line", str(line)), ("endLine", str(line)))
