"""Changes as SARIF 2.1.0, which code scanners and editors read: rules, results, related places, suppressions."""

from collections.abc import Iterator
from typing import Any

from lineage_pipeline import __version__
from lineage_pipeline.engine.diff import RULES
from lineage_pipeline.export.json import dump
from lineage_pipeline.export.reports.escapes import address, message, plain
from lineage_pipeline.export.reports.reading import Cause, causes
from lineage_pipeline.export.reports.singleline import sentence
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Level, Severity
from lineage_pipeline.vocabulary.tables import Diagnostic

Row = dict[str, Any]

ROOT = "%SRCROOT%"
"""The name by which scanners know the top of the repository."""

LEVELS = {
    Severity.BREAKING: "error",
    Severity.POTENTIALLY_BREAKING: "warning",
    Severity.NON_BREAKING: "note",
    Severity.INFO: "note",
}
NOTICES = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}

MOST_PLACES = 100
FINGERPRINT = "lineageChange/v1"


def write_sarif(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give one run with a result for each cause."""
    run: Row = {
        "tool": {"driver": {"name": "lineage-pipeline", "semanticVersion": __version__, "rules": _rules()}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    _notification(finding) for finding in (*comparison.findings, *comparison.unanalysed)
                ],
            }
        ],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The top of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(cause) for cause in causes(comparison)],
        "properties": {"base": comparison.base, "head": comparison.head},
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return dump({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _rules() -> list[Row]:
    return [
        {
            "id": rule.id,
            "name": "".join(word.capitalize() for word in rule.title.replace(",", "").split()),
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.meaning},
            "help": {"text": f"{rule.meaning} {rule.remedy}", "markdown": f"{rule.meaning}\n\n{rule.remedy}"},
            "defaultConfiguration": {"level": "warning"},
            "properties": {"tags": ["lineage", rule.scope.value]},
        }
        for rule in RULES
    ]


_INDEX = {rule.id: index for index, rule in enumerate(RULES)}


def _result(cause: Cause) -> Row:
    change = cause.change
    logical = {"fullyQualifiedName": cause.name, "kind": "object" if change.column is None else "member"}
    result: Row = {
        "ruleId": change.rule,
        **({"ruleIndex": _INDEX[change.rule]} if change.rule in _INDEX else {}),
        "level": LEVELS[change.effective],
        "message": {"text": message(sentence(cause)) + (f". {cause.remedy}" if cause.is_harmful else "")},
        "locations": [{**_physical(change.path, change.line), "logicalLocations": [logical]}],
        "relatedLocations": list(_related(cause)),
        "partialFingerprints": {FINGERPRINT: change.fingerprint},
        "properties": {
            "effective": change.effective.value,
            "intrinsic": change.intrinsic.value,
            "confidence": change.confidence.value,
            "scope": change.scope.value,
            "before": change.before,
            "after": change.after,
        },
    }
    if cause.waived is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": cause.waived}]
    return result


def _related(cause: Cause) -> Iterator[Row]:
    placed = [reader for reader in cause.felt if reader.path is not None]
    for number, reader in enumerate(placed[:MOST_PLACES], 1):
        owners = f" ({', '.join(map(plain, reader.owners))})" if reader.owners else ""
        told = message(f"{plain(reader.name)}: {plain(reader.fortune)}{owners}")
        yield {"id": number, **_physical(reader.path, reader.line), "message": {"text": told}}


def _notification(finding: Diagnostic) -> Row:
    physical = _physical(finding.path, finding.line)
    return {
        "descriptor": {"id": finding.code},
        "level": NOTICES[finding.severity],
        "message": {"text": message(finding.message)},
        **({"locations": [physical]} if physical else {}),
    }


def _physical(path: str | None, line: int | None) -> Row:
    """Give a place, relative to the top of the repository."""
    if path is None:
        return {}
    artifact = {"uri": address(path), "uriBaseId": ROOT}
    region = {"region": {"startLine": line}} if line is not None else {}
    return {"physicalLocation": {"artifactLocation": artifact, **region}}
