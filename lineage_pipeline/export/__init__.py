"""Lineage and changes → what others read: texts, JSON, Markdown and OpenLineage events, each a row of a table.

An exporter takes a `Subject` and gives its text piece by piece; a reporter takes a `Comparison` and gives its text.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lineage_pipeline.export import json, openlineage, report, text
from lineage_pipeline.export.subject import Comparison, Naming, Subject

__all__ = ["EXPORTERS", "REPORTERS", "Comparison", "Exporter", "Naming", "Reporter", "Subject"]


class Exporter(NamedTuple):
    """A way to write the lineage of one snapshot."""

    suffix: str
    write: Callable[[Subject], Iterator[str]]


class Reporter(NamedTuple):
    """A way to write the changes between two snapshots."""

    suffix: str
    write: Callable[[Comparison], str]


EXPORTERS: Mapping[str, Exporter] = {
    "json": Exporter(".json", json.write_lineage),
    "openlineage": Exporter(".ndjson", openlineage.write_events),
    "text": Exporter(".txt", text.write_lineage),
}

REPORTERS: Mapping[str, Reporter] = {
    "json": Reporter(".json", report.write_json),
    "markdown": Reporter(".md", report.write_markdown),
    "text": Reporter(".txt", text.write_changes),
}
