"""Changes as SARIF 2.1.0 for code scanners and editors: rules, results, related locations, suppressions."""

from collections.abc import Iterator
from typing import Any

from lineage_pipeline import __version__
from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.export.documents.lineage_json import dump_json
from lineage_pipeline.export.escaping import escape_one_line, escape_sarif_message, quote_path
from lineage_pipeline.export.reports.causes import RootCause, collect_causes, qualify_column, select_near_findings
from lineage_pipeline.export.reports.singleline import describe_cause
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.tables import Diagnostic

Row = dict[str, Any]

SOURCE_ROOT = "%SRCROOT%"
"""The name of the repository root in SARIF."""

RESULT_LEVELS = {
    Severity.BREAKING: "error",
    Severity.POTENTIALLY_BREAKING: "warning",
    Severity.NON_BREAKING: "note",
    Severity.INFO: "note",
}
NOTIFICATION_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}

MOST_PLACES = 100
FINGERPRINT_KEY = "lineageChange/v1"


def write_sarif(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return one run with a result for each cause."""
    found = collect_causes(comparison)
    notified = (*comparison.findings, *select_near_findings(comparison, found))
    run: Row = {
        "tool": {"driver": {"name": "lineage-pipeline", "semanticVersion": __version__, "rules": _rule_descriptors()}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": list(map(_build_notification, notified)),
            }
        ],
        "originalUriBaseIds": {SOURCE_ROOT: {"description": {"text": "The top of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_build_result(cause) for cause in found],
        "properties": {"base": comparison.base, "head": comparison.head},
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return dump_json({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _rule_descriptors() -> list[Row]:
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


_RULE_INDEXES = {rule.id: index for index, rule in enumerate(RULES)}


def _build_result(cause: RootCause) -> Row:
    change = cause.change
    logical = {
        "fullyQualifiedName": qualify_column(change.object, change.column),
        "kind": "object" if change.column is None else "member",
    }
    result: Row = {
        "ruleId": change.rule,
        **({"ruleIndex": _RULE_INDEXES[change.rule]} if change.rule in _RULE_INDEXES else {}),
        "level": RESULT_LEVELS[change.effective],
        "message": {
            "text": escape_sarif_message(describe_cause(cause)) + (f". {cause.remedy}" if cause.is_harmful else "")
        },
        "locations": [{**_physical_location(change.path, change.line), "logicalLocations": [logical]}],
        "relatedLocations": list(_related_locations(cause)),
        "partialFingerprints": {FINGERPRINT_KEY: change.fingerprint},
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


def _related_locations(cause: RootCause) -> Iterator[Row]:
    placed = [reader for reader in cause.affected_readers if reader.path is not None]
    for number, reader in enumerate(placed[:MOST_PLACES], 1):
        owners = f" ({', '.join(map(escape_one_line, reader.owners))})" if reader.owners else ""
        shown = escape_sarif_message(f"{escape_one_line(reader.name)}: {escape_one_line(reader.effect)}{owners}")
        yield {"id": number, **_physical_location(reader.path, reader.line), "message": {"text": shown}}


def _build_notification(finding: Diagnostic) -> Row:
    physical = _physical_location(finding.path, finding.line)
    return {
        "descriptor": {"id": finding.code},
        "level": NOTIFICATION_LEVELS[finding.severity],
        "message": {"text": escape_sarif_message(finding.message)},
        **({"locations": [physical]} if physical else {}),
    }


def _physical_location(path: str | None, line: int | None) -> Row:
    """Return a location relative to the repository root."""
    if path is None:
        return {}
    artifact = {"uri": quote_path(path), "uriBaseId": SOURCE_ROOT}
    region = {"region": {"startLine": line}} if line is not None else {}
    return {"physicalLocation": {"artifactLocation": artifact, **region}}
