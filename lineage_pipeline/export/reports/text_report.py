"""Changes for people at a terminal: by severity, each cause with its readers and their locations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lineage_pipeline.export.escaping import escape_one_line, format_location
from lineage_pipeline.export.reports.causes import (
    NOT_ANALYZED_TITLE,
    SAME_MEANING_RULES,
    SAME_MEANING_TITLE,
    SEVERITY_TITLES,
    AffectedReader,
    RootCause,
    build_cause,
    collect_causes,
    diff_lines,
    format_affected_count,
    format_compared_files,
    format_severity_counts,
    merge_columns,
    select_near_findings,
    shorten_snapshot_key,
)
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Change, Diagnostic

SEVERITY_COLORS = {
    Severity.BREAKING: "1;31",
    Severity.POTENTIALLY_BREAKING: "1;33",
    Severity.NON_BREAKING: "1;32",
    Severity.INFO: "1;34",
}
SAME_MEANING_COLOR = SEVERITY_COLORS[Severity.NON_BREAKING]
BOLD, DIM, CYAN = "1", "2", "36"
SIGN_COLORS = {"-": "31", "+": "32", " ": ""}

MOST_LINES = 12
MOST_READERS = 50
WIDEST_COLUMN = 60
"""Maximal padding of a column; longer names stick out."""


class ColumnWidths(NamedTuple):
    """Widths of the columns in a list of readers."""

    name: int
    place: int


def write_text_report(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return the causes of each severity, then the waived ones, then the counts."""
    return "\n".join(_report_lines(comparison, style)) + "\n"


def format_change(change: Change) -> Iterator[str]:
    """Yield one change with its location, before and after, and its readers."""
    return _cause_lines(build_cause(change), PLAIN_STYLE)


def _report_lines(comparison: Comparison, style: ReportStyle) -> Iterator[str]:
    found = collect_causes(comparison)
    entries = merge_columns(found)
    counting = [cause for cause in entries if cause.waived is None and cause.change.rule not in SAME_MEANING_RULES]
    for severity, title in SEVERITY_TITLES.items():
        chosen = [cause for cause in counting if cause.change.effective is severity]
        if chosen:
            yield from (paint_text(f"{title} ({len(chosen)})", SEVERITY_COLORS[severity], style), "")
            yield from _cause_sections(chosen, style)
    same = [cause for cause in entries if cause.waived is None and cause.change.rule in SAME_MEANING_RULES]
    if same:
        yield from (
            paint_text(f"{SAME_MEANING_TITLE} ({len(same)})", SEVERITY_COLORS[Severity.NON_BREAKING], style),
            "",
        )
        yield from _cause_sections(same, style)
    waived = [cause for cause in entries if cause.waived is not None]
    if waived and comparison.show_waived:
        yield from (paint_text(f"Waived ({len(waived)})", DIM, style), "")
        yield from _cause_sections(waived, style)
    yield from _finding_section("Milder settings", comparison.relaxed_findings, style)
    yield from _finding_section("Waivers", comparison.waiver_findings, style)
    yield from _finding_section(NOT_ANALYZED_TITLE, select_near_findings(comparison, found), style)
    yield from _count_line(comparison, found)


def _cause_sections(chosen: Sequence[RootCause], style: ReportStyle) -> Iterator[str]:
    for cause in chosen:
        yield from _cause_lines(cause, style)
        yield ""


def _cause_lines(cause: RootCause, style: ReportStyle) -> Iterator[str]:
    change = cause.change
    where = (
        ""
        if change.path is None
        else "  " + paint_text(escape_one_line(format_location(change.path, change.line)), CYAN, style)
    )
    yield f"  {change.rule} {cause.title}: {paint_text(escape_one_line(cause.name), BOLD, style)}{where}"
    if cause.detail:
        yield f"    {escape_one_line(cause.detail, 400)}"
    for sign, line in diff_lines(change, MOST_LINES):
        yield paint_text(f"    {sign} {line}", SIGN_COLORS[sign], style)
    if cause.confidence_note:
        yield f"    {cause.confidence_note}"
    if cause.waived:
        yield f"    waived: {escape_one_line(cause.waived, 400)}"
    if cause.is_harmful and cause.remedy:
        yield f"    what to do: {cause.remedy}"
    if change.suggestion:
        yield f"    suggestion: {escape_one_line(change.suggestion, 400)}"
    listed = [*cause.alongside, *cause.readers, *cause.further]
    width = ColumnWidths(_column_width(map(_reader_name, listed)), _column_width(map(_reader_location, listed)))
    yield from _reader_section("with it", cause.alongside, width, style)
    yield from _reader_section("read by", cause.readers, width, style)
    yield from _reader_section("further down", cause.further, width, style)
    if cause.unhurt:
        yield f"    and {cause.unhurt} further down without harm"


def _reader_section(
    heading: str, readers: Sequence[AffectedReader], width: ColumnWidths, style: ReportStyle
) -> Iterator[str]:
    if readers:
        yield f"    {heading}"
    for reader in readers[:MOST_READERS]:
        yield "      " + _reader_line(reader, width, style)
    if len(readers) > MOST_READERS:
        yield f"      and {len(readers) - MOST_READERS} more"


def _reader_line(reader: AffectedReader, width: ColumnWidths, style: ReportStyle) -> str:
    color = SEVERITY_COLORS[reader.effective] if reader.effective is Severity.BREAKING else ""
    where = paint_text(f"{_reader_location(reader):<{width.place}}", CYAN, style)
    far = f" ({reader.distance} steps)" if (reader.distance or 1) > 1 else ""
    effect = paint_text(escape_one_line(reader.effect) + far, color, style)
    parts = [f"{_reader_name(reader):<{width.name}}", where, effect]
    return "  ".join([*parts, *map(escape_one_line, reader.owners)]).rstrip()


def _reader_name(reader: AffectedReader) -> str:
    return escape_one_line(reader.name)


def _reader_location(reader: AffectedReader) -> str:
    return "" if reader.path is None else escape_one_line(format_location(reader.path, reader.line))


def _column_width(texts: Iterable[str]) -> int:
    return min(max(map(len, texts), default=0), WIDEST_COLUMN)


def _finding_section(heading: str, findings: Sequence[Diagnostic], style: ReportStyle) -> Iterator[str]:
    """Yield findings about waivers, settings, or what was not analyzed."""
    if findings:
        yield from (paint_text(f"{heading} ({len(findings)})", BOLD, style), "")
        for finding in findings[:MOST_READERS]:
            where = format_location(finding.path or "-", finding.line)
            yield f"  {escape_one_line(where)}: {escape_one_line(finding.message, 300)} [{finding.code}]"
        if len(findings) > MOST_READERS:
            yield f"  and {len(findings) - MOST_READERS} more"
        yield ""


def _count_line(comparison: Comparison, found: Sequence[RootCause]) -> Iterator[str]:
    base, head = (escape_one_line(shorten_snapshot_key(key)) for key in (comparison.base, comparison.head))
    between = f"{base} → {head}"
    names = {name for cause in found if cause.waived is None for name in cause.affected_objects}
    affected = f"; {format_affected_count(len(names))}" if names else ""
    counted = f"; {text}" if (text := format_compared_files(comparison.account)) else ""
    yield f"{between}: {format_severity_counts(found) or 'nothing changed'}{affected}{counted}"


def paint_text(text: str, color: str, style: ReportStyle) -> str:
    """Color a text, where colors are wanted."""
    return f"\x1b[{color}m{text}\x1b[0m" if style.color and color else text
