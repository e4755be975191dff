"""Changes as workflow commands, which GitHub shows at the lines of a pull request."""

from collections.abc import Iterable, Iterator

from lineage_pipeline.export.reports.escapes import command_property, command_value, plain
from lineage_pipeline.export.reports.reading import Cause, shown
from lineage_pipeline.export.reports.singleline import subject
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Diagnostic

COMMANDS = {
    Severity.BREAKING: "error",
    Severity.POTENTIALLY_BREAKING: "warning",
    Severity.NON_BREAKING: "notice",
    Severity.INFO: "notice",
}


def write_commands(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give a command for each cause, the gravest first: GitHub shows ten of a kind; then what is wrong with waivers."""
    return "".join(f"{text}\n" for text in (*map(command, shown(comparison)), *map(_warning, comparison.findings)))


def command(cause: Cause) -> str:
    """Write one annotation; what is waived is only a notice."""
    name = COMMANDS[cause.change.effective] if cause.waived is None else "notice"
    properties = _written(_properties(cause))
    waived = "" if cause.waived is None else f"waived: {plain(cause.waived, 400)}\n"
    remedy = f"\n{cause.remedy}" if cause.is_harmful else ""
    return f"::{name} {properties}::{command_value(waived + subject(cause) + remedy)}"


def _warning(finding: Diagnostic) -> str:
    properties = _written((*_spot(finding.path, finding.line), ("title", finding.code)))
    return f"::warning {properties}::{command_value(plain(finding.message, 300))}"


def _written(properties: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{key}={command_property(value)}" for key, value in properties)


def _properties(cause: Cause) -> Iterator[tuple[str, str]]:
    yield from _spot(cause.change.path, cause.change.line)
    yield "title", f"{cause.change.rule} {cause.title}"


def _spot(path: str | None, line: int | None) -> Iterator[tuple[str, str]]:
    if path is not None:
        yield "file", plain(path, 1000)
        if line is not None:
            yield from (("line", str(line)), ("endLine", str(line)))
