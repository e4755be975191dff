"""Changes as JSON for machines, and the JSON Schema of it; within a `schema_version`, keys are only added."""

from collections.abc import Sequence
from typing import Any

import msgspec

from lineage_pipeline.export.json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, dump
from lineage_pipeline.export.report import CHANGE_KEYS, WAIVER_KEYS, changes_document
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity
from lineage_pipeline.vocabulary.tables import Change, Diagnostic
from lineage_pipeline.vocabulary.waivers import Waiver

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PLACE = "#/$defs/{name}"


def write_json(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give the document of `lineage diff --format json`."""
    return dump(changes_document(comparison))


def changes_schema() -> dict[str, Any]:
    """Give the JSON Schema of the document, made from the row of the table."""
    (change, waiver, finding), definitions = msgspec.json.schema_components(
        [Change, Waiver, Diagnostic], ref_template=PLACE
    )
    counts = {
        "type": "object",
        "properties": {severity.value: {"type": "integer", "minimum": 0} for severity in Severity},
        "required": [severity.value for severity in Severity],
    }
    rows = {"Change": CHANGE_KEYS, "Waiver": WAIVER_KEYS, "Diagnostic": DIAGNOSTIC_KEYS}
    written = {name: _row(definitions[name], keys) for name, keys in rows.items()}
    count = {"type": "integer", "minimum": 0}
    return {
        "$schema": DRAFT,
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
            "summary": {
                "type": "object",
                "required": ["changes", "roots", "consumers", "waived"],
                "properties": {"changes": counts, "roots": counts, "consumers": count, "waived": count},
            },
        },
        "$defs": {**definitions, **written},
    }


def _row(definition: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Give a row of a table as it is written: these of its keys, each of them always."""
    properties = {key: {**definition["properties"][key]} for key in keys}
    for value in properties.values():
        value.pop("default", None)
    return {**definition, "properties": properties, "required": list(keys)}
