"""Lineage and changes → what others read: texts, JSON, Markdown and OpenLineage events, each a row of a table.

An exporter takes a `Subject` and gives its text piece by piece; a reporter takes a `Comparison` and gives its text.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from lineage_pipeline.export import json, openlineage, schemas, text
from lineage_pipeline.export.reports.document import changes_schema, write_json
from lineage_pipeline.export.reports.github import write_commands
from lineage_pipeline.export.reports.gitlab import write_issues
from lineage_pipeline.export.reports.junit import write_suite
from lineage_pipeline.export.reports.markdown import write_comment
from lineage_pipeline.export.reports.page import write_page
from lineage_pipeline.export.reports.sarif import write_sarif
from lineage_pipeline.export.reports.singleline import write_lines
from lineage_pipeline.export.reports.text import write_text
from lineage_pipeline.export.subject import PLAIN, Comparison, Naming, Style, Subject, with_head

__all__ = [
    "EXPORTERS",
    "REPORTERS",
    "SCHEMAS",
    "Comparison",
    "Exporter",
    "Naming",
    "Reporter",
    "Style",
    "Subject",
    "with_head",
]


class Exporter(NamedTuple):
    """A way to write the lineage of one snapshot."""

    suffix: str
    write: Callable[[Subject], Iterator[str]]


class Report(Protocol):
    """What writes a report."""

    def __call__(self, comparison: Comparison, style: Style = PLAIN) -> str:
        """Give the text."""


class Reporter(NamedTuple):
    """A way to write the changes between two snapshots."""

    suffix: str
    write: Report


EXPORTERS: Mapping[str, Exporter] = {
    "json": Exporter(".json", json.write_lineage),
    "openlineage": Exporter(".ndjson", openlineage.write_events),
    "text": Exporter(".txt", text.write_lineage),
}

REPORTERS: Mapping[str, Reporter] = {
    "text": Reporter(".txt", write_text),
    "singleline": Reporter(".list.txt", write_lines),
    "markdown": Reporter(".md", write_comment),
    "html": Reporter(".html", write_page),
    "json": Reporter(".json", write_json),
    "sarif": Reporter(".sarif", write_sarif),
    "junit": Reporter(".xml", write_suite),
    "github": Reporter(".github.txt", write_commands),
    "gitlab": Reporter(".gitlab.json", write_issues),
}

SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {**schemas.SCHEMAS, "changes": changes_schema}
"""The JSON Schemas that we publish."""
