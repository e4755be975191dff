"""Exports: lineage and changes as text, JSON, Markdown, HTML and OpenLineage events, one table row a format.

An exporter takes a `Subject` and yields its text in pieces; a reporter takes a `Comparison` and returns its text.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from lineage_pipeline.export.documents import json_schemas
from lineage_pipeline.export.documents.changes_json import build_changes_schema, write_changes_json
from lineage_pipeline.export.reports.comment import write_comment
from lineage_pipeline.export.reports.github import write_github_commands
from lineage_pipeline.export.reports.gitlab import write_gitlab_issues
from lineage_pipeline.export.reports.html_page import write_html_report
from lineage_pipeline.export.reports.junit import write_junit
from lineage_pipeline.export.reports.sarif import write_sarif
from lineage_pipeline.export.reports.singleline import write_singleline
from lineage_pipeline.export.reports.text_report import write_text_report
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, OpenLineageNaming, ReportStyle, Subject, with_head

__all__ = [
    "REPORTERS",
    "SCHEMAS",
    "Comparison",
    "OpenLineageNaming",
    "Reporter",
    "ReportStyle",
    "Subject",
    "with_head",
]


class ReportWriter(Protocol):
    """The signature of the function that writes a report."""

    def __call__(self, comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
        """Return the text of the report."""


class Reporter(NamedTuple):
    """A format for the changes between two snapshots."""

    suffix: str
    write: ReportWriter


REPORTERS: Mapping[str, Reporter] = {
    "text": Reporter(".txt", write_text_report),
    "singleline": Reporter(".list.txt", write_singleline),
    "markdown": Reporter(".md", write_comment),
    "html": Reporter(".html", write_html_report),
    "json": Reporter(".json", write_changes_json),
    "sarif": Reporter(".sarif", write_sarif),
    "junit": Reporter(".xml", write_junit),
    "github": Reporter(".github.txt", write_github_commands),
    "gitlab": Reporter(".gitlab.json", write_gitlab_issues),
}

SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {**json_schemas.DOCUMENT_SCHEMAS, "changes": build_changes_schema}
"""The published JSON Schemas by document."""
