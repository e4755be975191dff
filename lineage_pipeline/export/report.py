"""The document of a comparison as plain values, and the counts of changes."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lineage_pipeline.export.json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, pick
from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Change

CHANGE_KEYS = (
    *("id", "rule", "object", "column", "intrinsic", "effective", "confidence", "scope", "root", "root_id"),
    *("consumers", "before", "after", "path", "line", "fingerprint", "waiver"),
)

WAIVER_KEYS = (
    *("id", "rule", "object", "column", "fingerprint", "reason", "owner", "expires", "ticket"),
    *("path", "line", "used", "expired"),
)


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
        "unanalysed": pick(comparison.unanalysed, DIAGNOSTIC_KEYS),
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


def place(path: str, line: int | None) -> str:
    """Write a place as editors read it."""
    return path if line is None else f"{path}:{line}"


def many(count: int, noun: str) -> str:
    """Count things in words: 1 object, 2 objects."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def one_line(text: str) -> str:
    """Put the lines of SQL behind each other."""
    return " ".join(text.split())
