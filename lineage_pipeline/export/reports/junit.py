"""Changes as JUnit's XML, which every CI server shows: a case for each cause, failed where the gate would be."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import markup, plain
from lineage_pipeline.export.reports.reading import ORDER, Cause, causes, difference
from lineage_pipeline.export.reports.singleline import sentence
from lineage_pipeline.export.subject import PLAIN, Comparison, Style

MOST = 100


def write_suite(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give one suite; without changes it has one case that passes, as servers take an empty one for a mistake."""
    return "\n".join(_lines(causes(comparison), style)) + "\n"


def fails(cause: Cause, style: Style) -> bool:
    """Say whether a cause is at or above what the gate lets through."""
    return cause.waived is None and ORDER[cause.change.effective] <= ORDER[style.fail_on]


def _lines(found: Sequence[Cause], style: Style) -> Iterator[str]:
    failures, skipped = sum(fails(cause, style) for cause in found), sum(cause.waived is not None for cause in found)
    counts = f'tests="{max(len(found), 1)}" failures="{failures}" errors="0" skipped="{skipped}" time="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="lineage" {counts}>'
    yield f'  <testsuite name="lineage" {counts}>'
    if not found:
        yield '    <testcase classname="lineage" name="nothing changed" time="0"/>'
    for cause in found:
        yield from _case(cause, style)
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(cause: Cause, style: Style) -> Iterator[str]:
    change = cause.change
    attributes = {"classname": change.object, "name": f"{change.rule} {cause.title}: {plain(cause.name)}", "time": "0"}
    if change.path is not None:
        attributes |= {"file": change.path} | ({"line": str(change.line)} if change.line is not None else {})
    yield "    <testcase " + " ".join(f"{key}={_quoted(value)}" for key, value in attributes.items()) + ">"
    if cause.waived is not None:
        yield f"      <skipped message={_quoted(f'waived: {cause.waived}')}/>"
    elif fails(cause, style):
        yield f"      <failure type={_quoted(change.effective.value)} message={_quoted(sentence(cause))}>"
        yield from (markup(line, 1000) for line in _details(cause))
        yield "      </failure>"
    else:
        yield "      <system-out>"
        yield from (markup(line, 1000) for line in (sentence(cause), *_details(cause)))
        yield "      </system-out>"
    yield "    </testcase>"


def _details(cause: Cause) -> Iterator[str]:
    change = cause.change
    if change.path is not None:
        yield place(change.path, change.line)
    yield from (f"{sign} {line}" for sign, line in difference(change, MOST))
    for reader in cause.felt[:MOST]:
        where = "" if reader.path is None else f" at {place(reader.path, reader.line)}"
        yield f"{reader.name}{where}: {reader.fortune}"
    if cause.is_harmful:
        yield f"What to do: {cause.remedy}"


def _quoted(text: str) -> str:
    return quoteattr(visible(text))
