"""The change report: what changed, how much it hurts, and whom. Markdown for people, JSON for machines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from lineage_pipeline.engine.diff import RULES
from lineage_pipeline.export.json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, dump, pick
from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Change, Consumer

CHANGE_KEYS = (
    *("id", "rule", "object", "column", "intrinsic", "effective", "confidence", "scope", "root", "root_id"),
    *("consumers", "before", "after", "path", "line", "fingerprint", "waiver"),
)

WAIVER_KEYS = (
    *("id", "rule", "object", "column", "fingerprint", "reason", "owner", "expires", "ticket"),
    *("path", "line", "used", "expired"),
)

TITLES = {
    Severity.BREAKING: "Breaking",
    Severity.POTENTIALLY_BREAKING: "Potentially breaking",
    Severity.NON_BREAKING: "Not breaking",
    Severity.INFO: "For information",
}

MOST_CONSUMERS = 20
"""How many readers of one change are listed; the rest are counted."""


def write_json(comparison: Comparison) -> str:
    """Give the document of `lineage diff --format json` as text."""
    return dump(changes_document(comparison))


def changes_document(comparison: Comparison) -> dict[str, Any]:
    """Give the document of `lineage diff --format json` as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "base": comparison.base,
        "head": comparison.head,
        "changes": pick(comparison.changes, CHANGE_KEYS),
        "summary": summarise_changes(comparison.changes),
        "waivers": pick(comparison.waivers, WAIVER_KEYS),
        "diagnostics": pick(comparison.findings, DIAGNOSTIC_KEYS),
    }


def summarise_changes(changes: Iterable[Change]) -> dict[str, Any]:
    """Count changes by effective severity, all and roots apart; waived ones are counted as that alone."""
    everything = list(changes)
    listed = [change for change in everything if change.waiver is None]
    roots = [change for change in listed if change.root]
    readers = {reader.object for change in listed for reader in change.consumers}
    return {
        "changes": {severity.value: count for severity, count in count_changes(listed).items()},
        "roots": {severity.value: count for severity, count in count_changes(roots).items()},
        "consumers": len(readers),
        "waived": len(everything) - len(listed),
    }


def count_changes(changes: Iterable[Change]) -> dict[Severity, int]:
    """Count changes by effective severity, the gravest first."""
    counts = Counter(change.effective for change in changes)
    return {severity: counts[severity] for severity in Severity}


def by_severity(changes: Iterable[Change]) -> list[Change]:
    """Put the gravest first and keep the order otherwise."""
    order = list(Severity)
    return sorted(changes, key=lambda change: order.index(change.effective))


def write_markdown(comparison: Comparison) -> str:
    """Give the report: counts, then the roots of each severity with before, after and readers."""
    return "\n".join(_report(comparison)) + "\n"


def place(path: str, line: int | None) -> str:
    """Write a place as editors read it."""
    return path if line is None else f"{path}:{line}"


def headline(rule: str) -> str:
    """Give a rule with its title."""
    return " ".join([rule, *(known.title for known in RULES if known.id == rule)])


def one_line(text: str) -> str:
    """Put the lines of a text behind each other."""
    return "; ".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def _report(comparison: Comparison) -> Iterator[str]:
    shown = comparison.shown
    roots = [change for change in by_severity(shown) if change.root]
    counts, all_counts = count_changes(roots), count_changes(shown)
    yield "# Changes"
    yield ""
    yield f"From `{comparison.base}` to `{comparison.head}`."
    yield ""
    yield "| severity | causes | changes in all |"
    yield "|---|---:|---:|"
    for severity, title in TITLES.items():
        yield f"| {title} | {counts[severity]} | {all_counts[severity]} |"
    for severity, title in TITLES.items():
        chosen = [change for change in roots if change.effective is severity]
        if chosen:
            yield from ("", f"## {title}")
        for change in chosen:
            yield from _change(change)
            yield from _following(change, shown)
    if not comparison.changes:
        yield from ("", "Nothing changed.")
    waived = sum(change.waiver is not None for change in comparison.changes)
    if waived:
        yield from ("", f"Waived: {waived}.")
    for finding in comparison.findings:
        yield from ("", f"{finding.code}: {finding.message}")


def _change(change: Change) -> Iterator[str]:
    name = change.object if change.column is None else f"{change.object}.{change.column}"
    yield from ("", f"### {headline(change.rule)}: {code(name)}", "")
    if change.path is not None:
        yield f"* place: {code(place(change.path, change.line))}"
    if change.before is not None:
        yield f"* before: {code(change.before)}"
    if change.after is not None:
        yield f"* after: {code(change.after)}"
    yield f"* confidence: {change.confidence.value}, scope: {change.scope.value}"
    if change.waiver is not None:
        yield f"* waived: {change.waiver}"
    for reader in change.consumers[:MOST_CONSUMERS]:
        yield f"* read by {_reader(reader)}"
    if len(change.consumers) > MOST_CONSUMERS:
        yield f"* and by {len(change.consumers) - MOST_CONSUMERS} more"


def _following(root: Change, changes: Iterable[Change]) -> Iterator[str]:
    """List what follows from a change further down."""
    for change in changes:
        if not change.root and change.root_id == root.id:
            name = change.object if change.column is None else f"{change.object}.{change.column}"
            where = "" if change.path is None else f" at {code(place(change.path, change.line))}"
            yield f"* then {TITLES[change.effective].lower()} for {code(name)} ({change.rule}){where}"


def _reader(reader: Consumer) -> str:
    name = reader.object if reader.column is None else f"{reader.object}.{reader.column}"
    where = "" if reader.path is None else f" at {code(place(reader.path, reader.line))}"
    owners = f" ({', '.join(reader.owners)})" if reader.owners else ""
    return code(name) + where + owners


def code(text: str) -> str:
    """Set a text as code on one line, whatever backticks it holds."""
    line = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    padding = " " if "`" in line else ""
    return f"{fence}{padding}{line}{padding}{fence}"
