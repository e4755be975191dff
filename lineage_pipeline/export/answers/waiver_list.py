"""Waivers and the findings about them, as text and as JSON."""

from collections.abc import Iterable

from lineage_pipeline.export.documents.changes_json import WAIVER_KEYS
from lineage_pipeline.export.documents.lineage_json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, dump_json, pick_fields
from lineage_pipeline.export.formats.lineage_text import format_diagnostic
from lineage_pipeline.export.text_fragments import format_location
from lineage_pipeline.model.tables import Diagnostic
from lineage_pipeline.model.waivers import Waiver


def write_waivers_json(waivers: Iterable[Waiver], findings: Iterable[Diagnostic]) -> str:
    """Return waivers and findings about them as JSON."""
    listed = {"waivers": pick_fields(waivers, WAIVER_KEYS), "diagnostics": pick_fields(findings, DIAGNOSTIC_KEYS)}
    return dump_json({"schema_version": SCHEMA_VERSION, **listed})


def write_waivers_text(waivers: Iterable[Waiver], findings: Iterable[Diagnostic]) -> str:
    """Return a line for each waiver, then the findings about them."""
    lines = [_waiver_line(waiver) for waiver in waivers] + [format_diagnostic(finding) for finding in findings]
    return "".join(f"{line}\n" for line in lines)


def _waiver_line(waiver: Waiver) -> str:
    name = waiver.object or "this line"
    covered = f"{name}.{waiver.column}" if waiver.column else name
    state = "expired" if waiver.expired else "until"
    signed = f" ({waiver.owner})" if waiver.owner else ""
    where = format_location(waiver.path, waiver.line)
    return f"{where}: {waiver.rule} {covered} {state} {waiver.expires}: {waiver.reason}{signed} [{waiver.id}]"
