"""The JSON of `lineage diff` and its JSON Schema; within a `schema_version`, keys are only added."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from lineage_pipeline.export.documents.lineage_json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, dump_json, pick_fields
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.file_account import UncomparedFile
from lineage_pipeline.model.tables import Change, Diagnostic, Waiver

CHANGE_KEYS = (
    *("id", "rule", "object", "column", "intrinsic", "effective", "confidence", "scope", "root", "root_id"),
    *("consumers", "before", "after", "path", "line", "fingerprint", "waiver"),
    *("sql_before", "sql_after", "suggestion"),
)

WAIVER_KEYS = (
    *("id", "rule", "object", "column", "fingerprint", "reason", "owner", "expires", "ticket"),
    *("path", "line", "used", "expired"),
)


UNCOMPARED_KEYS = ("path", "code", "message", "line")


def build_changes_document(comparison: Comparison) -> dict[str, Any]:
    """Return the document of `lineage diff --format json` as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "base": comparison.base,
        "head": comparison.head,
        "changes": pick_fields(comparison.changes, CHANGE_KEYS),
        "summary": summarize_changes(comparison.changes),
        "waivers": pick_fields(comparison.waivers, WAIVER_KEYS),
        "diagnostics": pick_fields(comparison.findings, DIAGNOSTIC_KEYS),
        "unanalysed": pick_fields(comparison.unanalyzed, DIAGNOSTIC_KEYS),
        "files": {"changed": comparison.account.changed, "compared": comparison.account.compared},
        "not_compared": pick_fields(comparison.account.uncompared, UNCOMPARED_KEYS),
    }


def summarize_changes(changes: Iterable[Change]) -> dict[str, Any]:
    """Count changes by effective severity, all and root causes; waived changes are only counted as waived."""
    everything = list(changes)
    listed = [change for change in everything if change.waiver is None]
    roots = [change for change in listed if change.root]
    readers = {reader.object for change in listed for reader in change.consumers}
    return {
        "changes": {severity.value: count for severity, count in count_by_severity(listed).items()},
        "roots": {severity.value: count for severity, count in count_by_severity(roots).items()},
        "consumers": len(readers),
        "waived": len(everything) - len(listed),
    }


def count_by_severity(changes: Iterable[Change]) -> dict[Severity, int]:
    """Count changes by effective severity, the gravest first."""
    counts = Counter(change.effective for change in changes)
    return {severity: counts[severity] for severity in Severity}


CHANGES_SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"
CHANGES_REF_TEMPLATE = "#/$defs/{name}"


def write_changes_json(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return the document of `lineage diff --format json`."""
    return dump_json(build_changes_document(comparison))


def build_changes_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document, built from the structs of its rows."""
    (change, waiver, finding, file), definitions = msgspec.json.schema_components(
        [Change, Waiver, Diagnostic, UncomparedFile], ref_template=CHANGES_REF_TEMPLATE
    )
    counts = {
        "type": "object",
        "properties": {severity.value: {"type": "integer", "minimum": 0} for severity in Severity},
        "required": [severity.value for severity in Severity],
    }
    rows = {
        **{"Change": CHANGE_KEYS, "Waiver": WAIVER_KEYS, "Diagnostic": DIAGNOSTIC_KEYS},
        "UncomparedFile": UNCOMPARED_KEYS,
    }
    written = {name: _written_definition(definitions[name], keys) for name, keys in rows.items()}
    count = {"type": "integer", "minimum": 0}
    return {
        "$schema": CHANGES_SCHEMA_DRAFT,
        "$id": f"urn:lineage-pipeline:changes:{SCHEMA_VERSION}",
        "title": "The changes between two revisions, as `lineage diff --format json` writes them",
        "type": "object",
        "required": ["schema_version", "base", "head", "changes", "summary", "waivers", "diagnostics", "unanalysed"],
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "base": {"type": "string"},
            "head": {"type": "string"},
            "changes": {"type": "array", "items": change},
            "waivers": {"type": "array", "items": waiver},
            "diagnostics": {"type": "array", "items": finding},
            "unanalysed": {"type": "array", "items": finding},
            "files": {
                "type": "object",
                "required": ["changed", "compared"],
                "properties": {"changed": count, "compared": count},
            },
            "not_compared": {"type": "array", "items": file},
            "summary": {
                "type": "object",
                "required": ["changes", "roots", "consumers", "waived"],
                "properties": {"changes": counts, "roots": counts, "consumers": count, "waived": count},
            },
        },
        "$defs": {**definitions, **written},
    }


def _written_definition(definition: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return the definition of a row as it is written: only these keys, all of them required."""
    properties = {key: {**definition["properties"][key]} for key in keys}
    for value in properties.values():
        value.pop("default", None)
    return {**definition, "properties": properties, "required": list(keys)}
