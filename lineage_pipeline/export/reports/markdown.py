"""Changes as the comment of a pull request: counts, a section for each cause, a picture, and what is not known."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import cell, code, fenced, markup
from lineage_pipeline.export.reports.neighbourhood import neighbourhood
from lineage_pipeline.export.reports.reading import (
    TITLES,
    Cause,
    Reader,
    causes,
    count_of,
    difference,
    feel,
    link_to,
    owners_of,
    short_key,
    tally,
)
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Diagnostic

MARKER = "<!-- lineage-changes -->"
"""By this line the comment is found again, and written anew instead of beside."""

LIMIT = 65_000
"""GitHub takes 65,536 characters in a comment; some are left to whoever adds a line."""

MOST_LINES = 20
MOST_READERS = 20
MOST_FINDINGS = 20
MOST_WAIVED = 30
MOST_OWNERS = 20


def write_comment(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give the comment; where it would be too long, whole causes are left out at the end, and named."""
    found = causes(comparison)
    counting = [cause for cause in found if cause.waived is None]
    head = _head(comparison, found)
    tail = _tail(comparison, found, style)
    sections = [(cause, _section(cause, style, comparison)) for cause in counting]
    room = LIMIT - len(head) - len(tail) - 1_000
    shown = 0
    for _, section in sections:
        room -= len(section) + 100
        if room < 0:
            break
        shown += 1
    body = _body(sections[:shown])
    return head + body + _cut([cause for cause, _ in sections[shown:]]) + tail


def _head(comparison: Comparison, found: Sequence[Cause]) -> str:
    between = f"{code(short_key(comparison.base))} → {code(short_key(comparison.head))}"
    felt = len({name for cause in found if cause.waived is None for name in cause.feeling})
    feeling = f" {feel(felt)}." if felt else ""
    title = tally(found) or "nothing changed"
    owners = owners_of(found)
    asked = f" Owners: {_listed(list(map(code, owners)))}." if owners else ""
    return f"{MARKER}\n## Lineage changes: {title}\n\n{between}.{feeling}{asked}\n"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_OWNERS} more" if len(names) > MOST_OWNERS else ""
    return ", ".join(names[:MOST_OWNERS]) + more


def _body(sections: Sequence[tuple[Cause, str]]) -> str:
    parts, last = [], None
    for cause, section in sections:
        if cause.change.effective is not last:
            last = cause.change.effective
            parts.append(f"\n### {TITLES[last]}\n" + ("" if cause.is_harmful else "\n"))
        parts.append(section)
    return "".join(parts)


def _section(cause: Cause, style: Style, comparison: Comparison) -> str:
    """Give what a reviewer needs to know about a cause; one that hurts nobody is a line."""
    if cause.is_harmful:
        return "\n" + "\n".join(_section_lines(cause, style, comparison)) + "\n"
    path, line = cause.change.path, cause.change.line
    where = "" if path is None else f" at {_place(path, line, style, comparison)}"
    return f"* {cause.change.rule} {cause.title}: {code(cause.name)}{where}\n"


def _section_lines(cause: Cause, style: Style, comparison: Comparison) -> Iterator[str]:
    change = cause.change
    opened = " open" if change.effective is Severity.BREAKING else ""
    felt = f", felt by {count_of(len(cause.feeling), 'object')}" if cause.feeling else ""
    yield f"<details{opened}>"
    yield f"<summary><b>{change.rule} {cause.title}</b>: <code>{markup(cause.name)}</code>{felt}</summary>"
    yield ""
    if change.path is not None:
        yield from (_place(change.path, change.line, style, comparison), "")
    signs = [f"{sign} {line}" for sign, line in difference(change, MOST_LINES)]
    if signs:
        yield from (fenced("diff", "\n".join(signs)), "")
    if cause.doubt:
        yield from (f"Confidence: {cause.doubt}.", "")
    yield from _table(cause, style, comparison)
    if cause.remedy and cause.is_harmful:
        yield from (f"{cause.meaning} **What to do:** {cause.remedy}", "")
    yield "</details>"


def _table(cause: Cause, style: Style, comparison: Comparison) -> Iterator[str]:
    listed = [*cause.alongside, *cause.readers, *cause.further]
    if not listed:
        return
    owned = any(reader.owners for reader in listed)
    yield "| who feels it | how | where |" + (" owners |" if owned else "")
    yield "|---|---|---|" + ("---|" if owned else "")
    for reader in listed[:MOST_READERS]:
        yield "| " + " | ".join(map(cell, _cells(reader, style, comparison, owned))) + " |"
    yield ""
    left = len(listed) - MOST_READERS
    if left > 0:
        yield from (f"… and {left} more.", "")


def _cells(reader: Reader, style: Style, comparison: Comparison, owned: bool) -> Iterator[str]:
    yield code(reader.name)
    fate = f"**{reader.fate}**" if reader.effective is Severity.BREAKING else reader.fate
    yield ": ".join([*([fate] if reader.fate else []), *([code(reader.becomes, 80)] if reader.becomes else [])])
    yield "" if reader.path is None else _place(reader.path, reader.line, style, comparison)
    if owned:
        # As code: a mention would call the whole team whenever the comment is written anew.
        yield " ".join(map(code, reader.owners))


def _place(path: str, line: int | None, style: Style, comparison: Comparison) -> str:
    """Give a place, as a link where we know what to link to."""
    text = code(place(path, line))
    target = link_to(comparison, style, path, line)
    return text if target is None else f"[{text}]({target})"


def _cut(left: Sequence[Cause]) -> str:
    """Name the causes for which there was no room."""
    if not left:
        return ""
    rules = Counter(cause.change.rule for cause in left)
    told = ", ".join(f"{rule} × {count}" for rule, count in sorted(rules.items()))
    severities = tally(left)
    return f"\n**Cut here:** {severities} ({told}) would not fit into a comment. The other formats have all of them.\n"


def _tail(comparison: Comparison, found: Sequence[Cause], style: Style) -> str:
    parts = [*_picture(comparison, found), *_waived(found)]
    parts += _findings("Settings that judge more mildly", comparison.relaxed, style, comparison)
    parts += _findings("Waivers to look at", comparison.waiving, style, comparison)
    parts += _findings("What could not be analysed", comparison.unanalysed, style, comparison)
    return "".join(parts)


def _picture(comparison: Comparison, found: Sequence[Cause]) -> Iterator[str]:
    graph, left = neighbourhood(comparison, found)
    if graph:
        note = f"\n{count_of(left, 'more object')} would not fit.\n" if left else ""
        drawn = fenced("mermaid", "\n".join(graph))
        title = "A picture of what changed (rounded) and who depends on it"
        yield f"\n<details>\n<summary>{title}</summary>\n\n{drawn}\n{note}\n</details>\n"


def _waived(found: Sequence[Cause]) -> Iterator[str]:
    waived = [cause for cause in found if cause.waived is not None]
    if waived:
        yield f"\n<details>\n<summary>Waived: {len(waived)}</summary>\n\n"
        for cause in waived[:MOST_WAIVED]:
            yield f"* {cause.change.rule} {cause.title}: {code(cause.name)}: {code(cause.waived or '', 300)}\n"
        if len(waived) > MOST_WAIVED:
            yield f"* and {len(waived) - MOST_WAIVED} more\n"
        yield "\n</details>\n"


def _findings(title: str, findings: Sequence[Diagnostic], style: Style, comparison: Comparison) -> Iterator[str]:
    """Say what is wrong with waivers, and what the report cannot know."""
    if findings:
        yield f"\n<details>\n<summary>{title}: {len(findings)}</summary>\n\n"
        for finding in findings[:MOST_FINDINGS]:
            where = "" if finding.path is None else _place(finding.path, finding.line, style, comparison) + ": "
            yield f"* {where}{finding.code}: {code(finding.message, 300)}\n"
        if len(findings) > MOST_FINDINGS:
            yield f"* and {len(findings) - MOST_FINDINGS} more\n"
        yield "\n</details>\n"
