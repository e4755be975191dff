"""Waivers and what is wrong with them, as text and as JSON."""

from collections.abc import Iterable

from lineage_pipeline.export.json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, dump, pick
from lineage_pipeline.export.report import WAIVER_KEYS, place
from lineage_pipeline.export.text import diagnostic_line
from lineage_pipeline.vocabulary.tables import Diagnostic
from lineage_pipeline.vocabulary.waivers import Waiver


def waivers_document(waivers: Iterable[Waiver], findings: Iterable[Diagnostic]) -> str:
    """Give waivers and findings about them as JSON."""
    listed = {"waivers": pick(waivers, WAIVER_KEYS), "diagnostics": pick(findings, DIAGNOSTIC_KEYS)}
    return dump({"schema_version": SCHEMA_VERSION, **listed})


def waivers_text(waivers: Iterable[Waiver], findings: Iterable[Diagnostic]) -> str:
    """Give a line for each waiver, then the findings about them."""
    lines = [_line(waiver) for waiver in waivers] + [diagnostic_line(finding) for finding in findings]
    return "".join(f"{line}\n" for line in lines)


def _line(waiver: Waiver) -> str:
    name = waiver.object or "this line"
    covered = f"{name}.{waiver.column}" if waiver.column else name
    state = "expired" if waiver.expired else "until"
    signed = f" ({waiver.owner})" if waiver.owner else ""
    where = place(waiver.path, waiver.line)
    return f"{where}: {waiver.rule} {covered} {state} {waiver.expires}: {waiver.reason}{signed} [{waiver.id}]"
