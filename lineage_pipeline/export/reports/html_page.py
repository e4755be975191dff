"""Changes as one self-contained HTML page: no script, no network, light and dark."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from lineage_pipeline.export.escaping import escape_one_line, format_location
from lineage_pipeline.export.reports.causes import (
    NOT_ANALYZED_TITLE,
    SAME_MEANING_RULES,
    SAME_MEANING_TITLE,
    SEVERITY_TITLES,
    build_link,
    collect_causes,
    diff_lines,
    format_affected_count,
    format_compared_files,
    format_severity_counts,
    merge_columns,
    rank_owners,
    select_near_findings,
    shorten_snapshot_key,
)
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Severity

MOST_LINES = 200
SEVERITY_CLASSES = {
    Severity.BREAKING: "breaking",
    Severity.POTENTIALLY_BREAKING: "potentially",
    Severity.NON_BREAKING: "harmless",
    Severity.INFO: "harmless",
}


def write_html_report(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return the page; everything that comes from SQL is escaped by the template engine."""
    found = collect_causes(comparison)
    entries = merge_columns(found)
    same = [cause for cause in entries if cause.waived is None and cause.change.rule in SAME_MEANING_RULES]
    affected = len({name for cause in found if cause.waived is None for name in cause.affected_objects})
    sheet = _read_resource("page.css")
    return (
        _load_template()
        .render(
            findings=[
                ("Settings that judge more mildly", comparison.relaxed_findings),
                ("Waivers to look at", comparison.waiver_findings),
                (NOT_ANALYZED_TITLE, select_near_findings(comparison, found)),
            ],
            between=(shorten_snapshot_key(comparison.base), shorten_snapshot_key(comparison.head)),
            tally=format_severity_counts(found) or "nothing changed",
            groups=[
                (
                    title,
                    SEVERITY_CLASSES[severity],
                    [
                        one
                        for one in entries
                        if one.change.effective is severity and one.waived is None and one not in same
                    ],
                )
                for severity, title in SEVERITY_TITLES.items()
            ]
            + [(SAME_MEANING_TITLE, SEVERITY_CLASSES[Severity.NON_BREAKING], same)],
            waived=[cause for cause in entries if cause.waived is not None],
            affected=format_affected_count(affected) if affected else "",
            counted=format_compared_files(comparison.account),
            owners=rank_owners(found),
            sheet=sheet,
            digest=base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode(),
            difference=lambda change: diff_lines(change, MOST_LINES, 1000),
            place=format_location,
            words=SEVERITY_CLASSES,
            tags={"-": "del", "+": "ins", " ": "span"},
            link=lambda path, line: build_link(comparison, style, path, line),
        )
        .rstrip("\n")
        + "\n"
    )


@cache
def _load_template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"plain": escape_one_line}
    return environment.from_string(_read_resource("page.html.jinja"))


def _read_resource(name: str) -> str:
    return files("lineage_pipeline.export.reports").joinpath(name).read_text(encoding="utf-8")
