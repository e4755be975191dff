"""Changes as workflow commands, which GitHub shows at the lines of a pull request."""

from collections.abc import Iterator

from lineage_pipeline.export.reports.escapes import command_property, command_value, plain
from lineage_pipeline.export.reports.reading import Cause, shown
from lineage_pipeline.export.reports.singleline import subject
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity

COMMANDS = {
    Severity.BREAKING: "error",
    Severity.POTENTIALLY_BREAKING: "warning",
    Severity.NON_BREAKING: "notice",
    Severity.INFO: "notice",
}


def write_commands(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give a command for each cause, the gravest first: GitHub shows ten of a kind."""
    return "".join(f"{command(cause)}\n" for cause in shown(comparison))


def command(cause: Cause) -> str:
    """Write one annotation; what is waived is only a notice."""
    name = COMMANDS[cause.change.effective] if cause.waived is None else "notice"
    properties = ",".join(f"{key}={command_property(value)}" for key, value in _properties(cause))
    waived = "" if cause.waived is None else f"waived: {plain(cause.waived, 400)}\n"
    remedy = f"\n{cause.remedy}" if cause.is_harmful else ""
    return f"::{name} {properties}::{command_value(waived + subject(cause) + remedy)}"


def _properties(cause: Cause) -> Iterator[tuple[str, str]]:
    change = cause.change
    if change.path is not None:
        yield "file", plain(change.path, 1000)
        if change.line is not None:
            yield from (("line", str(change.line)), ("endLine", str(change.line)))
    yield "title", f"{change.rule} {cause.title}"
