"""Changes as a pull request comment in Markdown: counts, a section for each cause, and a Mermaid diagram."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from lineage_pipeline.export.escaping import (
    escape_markup,
    escape_mermaid,
    escape_one_line,
    escape_table_cell,
    format_code,
    format_fenced,
    format_location,
)
from lineage_pipeline.export.reports.causes import (
    NOT_ANALYZED_TITLE,
    SAME_MEANING_RULES,
    SAME_MEANING_TITLE,
    SEVERITY_RANKS,
    SEVERITY_TITLES,
    AffectedReader,
    RootCause,
    build_link,
    collect_causes,
    diff_lines,
    format_affected_count,
    format_compared_files,
    format_number_of,
    format_severity_counts,
    merge_columns,
    rank_owners,
    select_near_findings,
    shorten_snapshot_key,
)
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Diagnostic

MOST_DIAGRAM_NODES = 30
"""Larger diagrams are unreadable, and some hosts refuse to draw them."""

DIAGRAM_CLASSES = {
    Severity.BREAKING: ("breaking", "fill:#ffdcd7,stroke:#b42318,color:#1f2328"),
    Severity.POTENTIALLY_BREAKING: ("potentially", "fill:#fff1c2,stroke:#9a6700,color:#1f2328"),
    Severity.NON_BREAKING: ("harmless", "fill:#e6f4ea,stroke:#1a7f37,color:#1f2328"),
    Severity.INFO: ("harmless", "fill:#e6f4ea,stroke:#1a7f37,color:#1f2328"),
}


def draw_impact_diagram(comparison: Comparison, found: Sequence[RootCause]) -> tuple[list[str], int]:
    """Return the lines of the diagram, and how many objects it omits; empty where nothing is affected."""
    harmful = [cause for cause in found if cause.is_harmful and cause.affected_objects]
    severities = _worst_severities(harmful)
    names = list(severities)[:MOST_DIAGRAM_NODES]
    if not names:
        return [], 0
    changed = {cause.change.object for cause in harmful}
    return list(_diagram_lines(comparison, harmful, {name: severities[name] for name in names}, changed)), len(
        severities
    ) - len(names)


def _worst_severities(found: Sequence[RootCause]) -> dict[str, Severity]:
    """Return the worst severity of each changed or affected object."""
    known: dict[str, Severity] = {}
    for cause in found:
        root = [(cause.change.object, cause.change.effective)]
        readers = [
            (reader.object, reader.effective or Severity.POTENTIALLY_BREAKING) for reader in cause.affected_readers
        ]
        for name, severity in chain(root, readers):
            known[name] = min(known.get(name, severity), severity, key=SEVERITY_RANKS.__getitem__)
    return known


def _diagram_lines(
    comparison: Comparison, found: Sequence[RootCause], severities: dict[str, Severity], changed: set[str]
) -> Iterator[str]:
    ids = {name: f"n{number}" for number, name in enumerate(severities)}
    yield "flowchart LR"
    for name, severity in severities.items():
        opening, closing = ("([", "])") if name in changed else ("[", "]")
        label = escape_mermaid(escape_one_line(name, 80))
        yield f'  {ids[name]}{opening}"{label}"{closing}:::{DIAGRAM_CLASSES[severity][0]}'
    for source, target in _diagram_edges(comparison, found, severities):
        yield f"  {ids[source]} --> {ids[target]}"
    for label, look in sorted({DIAGRAM_CLASSES[severity] for severity in severities.values()}):
        yield f"  classDef {label} {look}"


def _diagram_edges(
    comparison: Comparison, found: Sequence[RootCause], names: dict[str, Severity]
) -> list[tuple[str, str]]:
    """Return the edges between the objects: those of head and those from changed objects to consumers."""
    roots = {cause.change.id for cause in found}
    read = [
        (change.object, consumer.object)
        for change in comparison.changes
        if change.root_id in roots
        for consumer in change.consumers
    ]
    edges = dict.fromkeys(sorted({*comparison.edges, *read}))
    return [(source, target) for source, target in edges if source in names and target in names and source != target]


COMMENT_MARKER = "<!-- lineage-changes -->"
"""The line by which the comment is found again, to be replaced."""

COMMENT_LIMIT = 65_000
"""GitHub accepts 65,536 characters in a comment; some are left for added lines."""

MOST_OPEN = 5
"""Causes that are unfolded: the gravest, then those that affect most."""

MOST_LINES = 4
"""Lines of each side of an edit."""

MOST_SHOWN_READERS, MOST_READERS = 4, 20
"""Readers of a cause that are seen at once, and those that its fold has."""

MOST_FINDINGS = 20
MOST_WAIVED = 30
MOST_SAME = 10
MOST_OWNERS = 20


def write_comment(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return the comment; where it would be too long, the last causes are omitted and counted."""
    found = collect_causes(comparison)
    entries = merge_columns(cause for cause in found if cause.waived is None)
    counting = [cause for cause in entries if cause.change.rule not in SAME_MEANING_RULES]
    head = _comment_head(comparison, found)
    tail = _comment_tail(comparison, found, style)
    open_ids = {cause.change.id for cause in [cause for cause in counting if cause.is_harmful][:MOST_OPEN]}
    sections = [(cause, _cause_section(cause, style, comparison, cause.change.id in open_ids)) for cause in counting]
    room = COMMENT_LIMIT - len(head) - len(tail) - 1_000
    shown = 0
    for _, section in sections:
        room -= len(section) + 100
        if room < 0:
            break
        shown += 1
    body = _comment_body(sections[:shown])
    return head + body + _omitted_causes([cause for cause, _ in sections[shown:]]) + tail


def _comment_head(comparison: Comparison, found: Sequence[RootCause]) -> str:
    between = (
        f"{format_code(shorten_snapshot_key(comparison.base))} → {format_code(shorten_snapshot_key(comparison.head))}"
    )
    number = len({name for cause in found if cause.waived is None for name in cause.affected_objects})
    affected = f" {format_affected_count(number)}." if number else ""
    title = format_severity_counts(found) or "nothing changed"
    owners = rank_owners(found)
    asked = f" Owners: {_list_owners(list(map(format_code, owners)))}." if owners else ""
    counted = f" {text}." if (text := format_compared_files(comparison.account)) else ""
    return f"{COMMENT_MARKER}\n## Lineage changes: {title}\n\n{between}.{affected}{counted}{asked}\n"


def _list_owners(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_OWNERS} more" if len(names) > MOST_OWNERS else ""
    return ", ".join(names[:MOST_OWNERS]) + more


def _comment_body(sections: Sequence[tuple[RootCause, str]]) -> str:
    parts, last = [], None
    for cause, section in sections:
        if cause.change.effective is not last:
            last = cause.change.effective
            parts.append(f"\n### {SEVERITY_TITLES[last]}\n" + ("" if cause.is_harmful else "\n"))
        parts.append(section)
    return "".join(parts)


def _cause_section(cause: RootCause, style: ReportStyle, comparison: Comparison, unfolded: bool) -> str:
    """Return the section of a cause; a harmless one is a line."""
    if cause.is_harmful:
        return "\n" + "\n".join(_harmful_section_lines(cause, style, comparison, unfolded)) + "\n"
    return _cause_line(cause, style, comparison)


def _cause_line(cause: RootCause, style: ReportStyle, comparison: Comparison) -> str:
    path, line = cause.change.path, cause.change.line
    where = "" if path is None else f" at {_format_place(path, line, style, comparison)}"
    return f"* {cause.change.rule} {cause.title}: {format_code(cause.name)}{where}\n"


def _harmful_section_lines(
    cause: RootCause, style: ReportStyle, comparison: Comparison, unfolded: bool
) -> Iterator[str]:
    change = cause.change
    affected = f", {format_affected_count(len(cause.affected_objects))}" if cause.affected_objects else ""
    yield f"<details{' open' if unfolded else ''}>"
    yield f"<summary><b>{change.rule} {cause.title}</b>: <code>{escape_markup(cause.name)}</code>{affected}</summary>"
    yield ""
    place = [] if change.path is None else [_format_place(change.path, change.line, style, comparison)]
    said = ": ".join([*place, *([format_code(cause.detail, 300)] if cause.detail else [])])
    if said:
        yield from (said, "")
    signs = [f"{sign} {line}" for sign, line in diff_lines(change, MOST_LINES)]
    if signs:
        yield from (format_fenced("diff", "\n".join(signs)), "")
    if cause.confidence_note:
        yield from (f"Confidence: {cause.confidence_note}.", "")
    yield from _reader_tables(cause, style, comparison)
    if cause.remedy and cause.is_harmful:
        yield from (f"{cause.meaning} **What to do:** {cause.remedy}", "")
    if change.suggestion:
        yield from (f"**Suggestion:** {format_code(change.suggestion, 300)}", "")
    yield "</details>"


def _reader_tables(cause: RootCause, style: ReportStyle, comparison: Comparison) -> Iterator[str]:
    """Yield the table of the first readers, and a fold with the others."""
    listed = [*cause.alongside, *cause.readers, *cause.further]
    if not listed:
        return
    yield from _reader_table(listed[:MOST_SHOWN_READERS], style, comparison)
    others = listed[MOST_SHOWN_READERS:]
    if others:
        yield from ("<details>", f"<summary>{len(others)} more</summary>", "")
        yield from _reader_table(others[: MOST_READERS - MOST_SHOWN_READERS], style, comparison)
        left = len(listed) - MOST_READERS
        yield from ((f"… and {left} more.", "") if left > 0 else ())
        yield from ("</details>", "")


def _reader_table(readers: Sequence[AffectedReader], style: ReportStyle, comparison: Comparison) -> Iterator[str]:
    owned = any(reader.owners for reader in readers)
    far = any((reader.distance or 1) > 1 for reader in readers)
    titles = ["affected", "how", "where", *(["steps"] if far else []), *(["owners"] if owned else [])]
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    for reader in readers:
        cells = _reader_cells(reader, style, comparison, titles)
        yield "| " + " | ".join(map(escape_table_cell, cells)) + " |"
    yield ""


def _reader_cells(
    reader: AffectedReader, style: ReportStyle, comparison: Comparison, titles: Sequence[str]
) -> Iterator[str]:
    yield format_code(reader.name)
    fate = f"**{reader.fate}**" if reader.effective is Severity.BREAKING else reader.fate
    yield ": ".join([*([fate] if reader.fate else []), *([format_code(reader.becomes, 80)] if reader.becomes else [])])
    yield "" if reader.path is None else _format_place(reader.path, reader.line, style, comparison)
    if "steps" in titles:
        yield "" if reader.distance is None else str(reader.distance)
    if "owners" in titles:
        # As code: a mention would call the whole team whenever the comment is written anew.
        yield " ".join(map(format_code, reader.owners))


def _format_place(path: str, line: int | None, style: ReportStyle, comparison: Comparison) -> str:
    """Format a location, as a link where there is an address."""
    text = format_code(format_location(path, line))
    target = build_link(comparison, style, path, line)
    return text if target is None else f"[{text}]({target})"


def _omitted_causes(left: Sequence[RootCause]) -> str:
    """Return a note on the causes for which there was no room."""
    if not left:
        return ""
    rules = Counter(cause.change.rule for cause in left)
    listed = ", ".join(f"{rule} × {count}" for rule, count in sorted(rules.items()))
    severities = format_severity_counts(left)
    return (
        f"\n**Cut here:** {severities} ({listed}) would not fit into a comment. The other formats have all of them.\n"
    )


def _comment_tail(comparison: Comparison, found: Sequence[RootCause], style: ReportStyle) -> str:
    near = select_near_findings(comparison, found)
    parts = [*_same_meaning_section(comparison, found, style), *_diagram_section(comparison, found)]
    parts += _waived_section(found)
    parts += _findings_section("Settings that judge more mildly", comparison.relaxed_findings, style, comparison)
    parts += _findings_section("Waivers to look at", comparison.waiver_findings, style, comparison)
    parts += _findings_section(NOT_ANALYZED_TITLE, near, style, comparison)
    return "".join(parts)


def _same_meaning_section(comparison: Comparison, found: Sequence[RootCause], style: ReportStyle) -> Iterator[str]:
    same = [cause for cause in found if cause.waived is None and cause.change.rule in SAME_MEANING_RULES]
    if same:
        yield f"\n### {SAME_MEANING_TITLE}\n\n"
        yield from (_cause_line(cause, style, comparison) for cause in same[:MOST_SAME])
        if len(same) > MOST_SAME:
            yield f"* and {len(same) - MOST_SAME} more\n"


def _diagram_section(comparison: Comparison, found: Sequence[RootCause]) -> Iterator[str]:
    graph, left = draw_impact_diagram(comparison, found)
    if graph:
        note = f"\n{format_number_of(left, 'more object')} would not fit.\n" if left else ""
        drawn = format_fenced("mermaid", "\n".join(graph))
        title = "A picture of what changed (rounded) and who depends on it"
        yield f"\n<details>\n<summary>{title}</summary>\n\n{drawn}\n{note}\n</details>\n"


def _waived_section(found: Sequence[RootCause]) -> Iterator[str]:
    waived = [cause for cause in found if cause.waived is not None]
    if waived:
        yield f"\n<details>\n<summary>Waived: {len(waived)}</summary>\n\n"
        for cause in waived[:MOST_WAIVED]:
            reason = format_code(cause.waived or "", 300)
            yield f"* {cause.change.rule} {cause.title}: {format_code(cause.name)}: {reason}\n"
        if len(waived) > MOST_WAIVED:
            yield f"* and {len(waived) - MOST_WAIVED} more\n"
        yield "\n</details>\n"


def _findings_section(
    title: str, findings: Sequence[Diagnostic], style: ReportStyle, comparison: Comparison
) -> Iterator[str]:
    """Yield findings about waivers, settings, or what was not analyzed."""
    if findings:
        yield f"\n<details>\n<summary>{title}: {len(findings)}</summary>\n\n"
        for finding in findings[:MOST_FINDINGS]:
            where = "" if finding.path is None else _format_place(finding.path, finding.line, style, comparison) + ": "
            yield f"* {where}{finding.code}: {format_code(finding.message, 300)}\n"
        if len(findings) > MOST_FINDINGS:
            yield f"* and {len(findings) - MOST_FINDINGS} more\n"
        yield "\n</details>\n"
