"""Changes for people at a terminal: by severity, the cause first, then everybody who feels it and where."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import plain
from lineage_pipeline.export.reports.reading import (
    TITLES,
    Cause,
    Reader,
    cause_of,
    causes,
    difference,
    feel,
    short_key,
    tally,
)
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Change, Diagnostic

COLOURS = {
    Severity.BREAKING: "1;31",
    Severity.POTENTIALLY_BREAKING: "1;33",
    Severity.NON_BREAKING: "1;32",
    Severity.INFO: "1;34",
}
BOLD, DIM, CYAN = "1", "2", "36"
SIGNS = {"-": "31", "+": "32", " ": ""}

MOST_LINES = 12
MOST_READERS = 50
WIDEST = 60
"""How far a long name pushes what follows to the right; a longer one stands out."""


class Width(NamedTuple):
    """How wide the columns of a list of readers are."""

    name: int
    place: int


def write_text(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give the causes of each severity, then those that are waived, then the counts."""
    return "\n".join(_lines(comparison, style)) + "\n"


def change_lines(change: Change) -> Iterator[str]:
    """Give one change with its place, what it was and is, and who reads it."""
    return _cause(cause_of(change), PLAIN)


def _lines(comparison: Comparison, style: Style) -> Iterator[str]:
    found = causes(comparison)
    counting = [cause for cause in found if cause.waived is None]
    for severity, title in TITLES.items():
        chosen = [cause for cause in counting if cause.change.effective is severity]
        if chosen:
            yield from (paint(f"{title} ({len(chosen)})", COLOURS[severity], style), "")
            yield from _causes(chosen, style)
    waived = [cause for cause in found if cause.waived is not None]
    if waived and comparison.show_waived:
        yield from (paint(f"Waived ({len(waived)})", DIM, style), "")
        yield from _causes(waived, style)
    yield from _findings("Milder settings", comparison.relaxed, style)
    yield from _findings("Waivers", comparison.waiving, style)
    yield from _findings("Not analysed", comparison.unanalysed, style)
    yield from _counts(comparison, found)


def _causes(chosen: Sequence[Cause], style: Style) -> Iterator[str]:
    for cause in chosen:
        yield from _cause(cause, style)
        yield ""


def _cause(cause: Cause, style: Style) -> Iterator[str]:
    change = cause.change
    where = "" if change.path is None else "  " + paint(plain(place(change.path, change.line)), CYAN, style)
    yield f"  {change.rule} {cause.title}: {paint(plain(cause.name), BOLD, style)}{where}"
    for sign, line in difference(change, MOST_LINES):
        yield paint(f"    {sign} {line}", SIGNS[sign], style)
    if cause.doubt:
        yield f"    {cause.doubt}"
    if cause.waived:
        yield f"    waived: {plain(cause.waived, 400)}"
    listed = [*cause.alongside, *cause.readers, *cause.further]
    width = Width(_widest(map(_name, listed)), _widest(map(_where, listed)))
    yield from _readers("with it", cause.alongside, width, style)
    yield from _readers("read by", cause.readers, width, style)
    yield from _readers("further down", cause.further, width, style)
    if cause.unhurt:
        yield f"    and {cause.unhurt} further down without harm"


def _readers(heading: str, readers: Sequence[Reader], width: Width, style: Style) -> Iterator[str]:
    if readers:
        yield f"    {heading}"
    for reader in readers[:MOST_READERS]:
        yield "      " + _reader(reader, width, style)
    if len(readers) > MOST_READERS:
        yield f"      and {len(readers) - MOST_READERS} more"


def _reader(reader: Reader, width: Width, style: Style) -> str:
    colour = COLOURS[reader.effective] if reader.effective is Severity.BREAKING else ""
    where = paint(f"{_where(reader):<{width.place}}", CYAN, style)
    parts = [f"{_name(reader):<{width.name}}", where, paint(plain(reader.fortune), colour, style)]
    return "  ".join([*parts, *map(plain, reader.owners)]).rstrip()


def _name(reader: Reader) -> str:
    return plain(reader.name)


def _where(reader: Reader) -> str:
    return "" if reader.path is None else plain(place(reader.path, reader.line))


def _widest(texts: Iterable[str]) -> int:
    return min(max(map(len, texts), default=0), WIDEST)


def _findings(heading: str, findings: Sequence[Diagnostic], style: Style) -> Iterator[str]:
    """Say what is wrong with waivers, and what the report cannot know."""
    if findings:
        yield from (paint(f"{heading} ({len(findings)})", BOLD, style), "")
        for finding in findings[:MOST_READERS]:
            where = place(finding.path or "-", finding.line)
            yield f"  {plain(where)}: {plain(finding.message, 300)} [{finding.code}]"
        if len(findings) > MOST_READERS:
            yield f"  and {len(findings) - MOST_READERS} more"
        yield ""


def _counts(comparison: Comparison, found: Sequence[Cause]) -> Iterator[str]:
    between = f"{plain(short_key(comparison.base))} → {plain(short_key(comparison.head))}"
    feeling = {name for cause in found if cause.waived is None for name in cause.feeling}
    felt = f"; {feel(len(feeling))}" if feeling else ""
    yield f"{between}: {tally(found) or 'nothing changed'}{felt}"


def paint(text: str, colour: str, style: Style) -> str:
    """Colour a text, where colours are wanted."""
    return f"\x1b[{colour}m{text}\x1b[0m" if style.colour and colour else text
