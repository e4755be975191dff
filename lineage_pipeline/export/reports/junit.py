"""Changes as JUnit XML for CI servers: a case for each cause, failed where the gate fails."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

from lineage_pipeline.export.escaping import escape_hidden, escape_markup, escape_one_line, format_location
from lineage_pipeline.export.reports.causes import SEVERITY_RANKS, RootCause, collect_causes, diff_lines
from lineage_pipeline.export.reports.singleline import describe_cause
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle

MOST_DETAILS = 100


def write_junit(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return one suite; without changes it has one passing case, since servers reject an empty suite."""
    return "\n".join(_suite_lines(collect_causes(comparison), style)) + "\n"


def is_failing(cause: RootCause, style: ReportStyle) -> bool:
    """Return whether a cause is at or above the severity that fails."""
    return cause.waived is None and SEVERITY_RANKS[cause.change.effective] <= SEVERITY_RANKS[style.fail_on]


def _suite_lines(found: Sequence[RootCause], style: ReportStyle) -> Iterator[str]:
    failures, skipped = (
        sum(is_failing(cause, style) for cause in found),
        sum(cause.waived is not None for cause in found),
    )
    counts = f'tests="{max(len(found), 1)}" failures="{failures}" errors="0" skipped="{skipped}" time="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="lineage" {counts}>'
    yield f'  <testsuite name="lineage" {counts}>'
    if not found:
        yield '    <testcase classname="lineage" name="nothing changed" time="0"/>'
    for cause in found:
        yield from _case_lines(cause, style)
    yield "  </testsuite>"
    yield "</testsuites>"


def _case_lines(cause: RootCause, style: ReportStyle) -> Iterator[str]:
    change = cause.change
    attributes = {
        "classname": change.object,
        "name": f"{change.rule} {cause.title}: {escape_one_line(cause.name)}",
        "time": "0",
    }
    if change.path is not None:
        attributes |= {"file": change.path} | ({"line": str(change.line)} if change.line is not None else {})
    yield "    <testcase " + " ".join(f"{key}={_quote_attribute(value)}" for key, value in attributes.items()) + ">"
    if cause.waived is not None:
        yield f"      <skipped message={_quote_attribute(f'waived: {cause.waived}')}/>"
    elif is_failing(cause, style):
        message = _quote_attribute(describe_cause(cause))
        yield f"      <failure type={_quote_attribute(change.effective.value)} message={message}>"
        yield from (escape_markup(line, 1000) for line in _detail_lines(cause))
        yield "      </failure>"
    else:
        yield "      <system-out>"
        yield from (escape_markup(line, 1000) for line in (describe_cause(cause), *_detail_lines(cause)))
        yield "      </system-out>"
    yield "    </testcase>"


def _detail_lines(cause: RootCause) -> Iterator[str]:
    change = cause.change
    if change.path is not None:
        yield format_location(change.path, change.line)
    yield from (f"{sign} {line}" for sign, line in diff_lines(change, MOST_DETAILS))
    for reader in cause.affected_readers[:MOST_DETAILS]:
        where = "" if reader.path is None else f" at {format_location(reader.path, reader.line)}"
        yield f"{reader.name}{where}: {reader.effect}"
    if cause.is_harmful:
        yield f"What to do: {cause.remedy}"


def _quote_attribute(text: str) -> str:
    return quoteattr(escape_hidden(text))
