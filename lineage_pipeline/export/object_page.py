"""One object as a self-contained HTML page: columns, what feeds them, readers, findings and SQL."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.engine.trace.reach import build_column_reach
from lineage_pipeline.export.answers.object_portrait import build_portrait
from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.export.html_parts import HighlightedLine, SpanNote, csp_hash, highlight_text, read_page_part
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.enums import EdgeType, Role, Subtype
from lineage_pipeline.model.tables import ColumnEdge

BREAKS = re.compile(r"([./_]+)")
STYLES = ("page.css", "reading.css")
SCRIPT = "hints.js"

Row = dict[str, Any]


def format_breakable_name(text: object) -> Markup:
    """Escape a name for HTML; it may break after a dot, a slash or an underscore."""
    parts = BREAKS.split(escape_hidden(str(text)))
    return Markup("").join(
        escape(part) + Markup("<wbr>") if place % 2 and parts[place + 1] else escape(part)
        for place, part in enumerate(parts)
    )


def render_object_page(subject: Subject, object: str) -> str:
    """Render the page of an object; its script is allowed by hash."""
    style, script = "\n".join(map(read_page_part, STYLES)), read_page_part(SCRIPT)
    policy = (
        f"default-src 'none'; script-src '{csp_hash(script)}'; style-src '{csp_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    snapshot = f"{subject.snapshot.repo}@{subject.snapshot.commit[:12]}" if subject.snapshot else ""
    page = {"policy": policy, "style": Markup(style), "script": Markup(script), "of": snapshot}  # noqa: S704 - our own
    return _template_environment().get_template("object_file.html").render(**page, **_template_values(subject, object))


@cache
def _template_environment() -> Environment:
    folder = str(files(__package__) / "page")
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, keep_trailing_newline=True)
    made.globals["link"] = _no_link
    made.filters["visible"] = lambda text: escape_hidden(str(text))
    made.filters["name"] = format_breakable_name
    return made


def _no_link(*_: str, **__: str) -> str:
    """Return no address: a single file has no other pages."""
    return ""


def _template_values(subject: Subject, object: str) -> Row:
    """Return what the template shows, named as in the marts."""
    lineage = subject.lineage
    shown = build_portrait(RowFacts(lineage, subject.files), object)
    row = shown.row
    reach = {one.ordinal: one for one in lineage.column_reach or build_column_reach(lineage) if one.object == object}
    inputs: dict[str, list[Row]] = defaultdict(list)
    for edge in sorted(shown.edges, key=_input_order):
        inputs[edge.to_column].append(_input_row(edge))
    kinds = {(one.path, one.ordinal): one.kind for one in lineage.statements}
    text = subject.texts.get(row.path or "")
    return {
        "snapshot": "",
        "found": {
            **{"object": row.object, "kind": row.kind.value, "path": row.path, "line": row.line},
            **{"origin": row.origin.value, "owners": ", ".join(row.owners), "tags": ", ".join(row.tags)},
            **{"is_open": row.open, "description": row.description},
        },
        "columns": [
            {
                **{"ordinal": column.ordinal, "column_name": column.name, "data_type": column.type},
                **{"is_nullable": column.nullable, "tags": ", ".join(column.tags), "origin": column.origin.value},
                "all_downstream_columns": reach[column.ordinal].all_downstream_columns
                if column.ordinal in reach
                else None,
            }
            for column in shown.columns
        ],
        "inputs": inputs,
        "made_of": list(_neighbor_rows(subject, object, upwards=True)),
        "read_by": list(_neighbor_rows(subject, object, upwards=False)),
        "findings": [_finding_row(one) for one in shown.findings],
        "history": [],
        "parts": [
            {"path": part.path, "ordinal": part.ordinal, "line": line, "kind": kinds.get((part.path, part.ordinal), "")}
            for part, line in shown.parts
            if part.role is not Role.READ
        ],
        "lines": _highlight_file(text, (edge for edge in lineage.column_edges if edge.path == row.path))
        if text
        else [],
    }


def _input_order(edge: ColumnEdge) -> tuple[str, ...]:
    return (edge.type, edge.from_object, edge.from_column, edge.subtype)


def _input_row(edge: ColumnEdge) -> Row:
    return {
        **{"from_object": edge.from_object, "from_column": edge.from_column, "type": edge.type.value},
        **{"subtype": edge.subtype.value, "approximate": edge.approximate, "masking": edge.masking},
    }


def _finding_row(one: Any) -> Row:
    return {"severity": one.severity, "code": one.code, "message": one.message, "path": one.path, "line": one.line}


def _neighbor_rows(subject: Subject, object: str, *, upwards: bool) -> Iterable[Row]:
    """Yield who feeds an object, or who reads it, with the number of values that flow between the two."""
    lineage = subject.lineage
    owners = {row.object: ", ".join(row.owners) for row in lineage.objects}
    values = Counter(
        (edge.from_object, edge.to_object) for edge in lineage.column_edges if edge.type is EdgeType.DIRECT
    )
    for edge in lineage.object_edges:
        ends = (edge.from_object, edge.to_object)
        if ends[upwards] == object and ends[0] != ends[1]:
            yield {
                **{"from_object": ends[0], "to_object": ends[1], "kind": edge.kind.value},
                **{"direct_edges": values[ends], "to_owners": owners.get(ends[1], "")},
            }


def _highlight_file(text: str, edges: Iterable[ColumnEdge]) -> list[HighlightedLine]:
    """Highlight the expressions of a file that make columns, each with its sources."""
    notes = []
    for edge in edges:
        if edge.span is not None and edge.type is EdgeType.DIRECT:
            how = "" if edge.subtype is Subtype.IDENTITY else f" ({edge.subtype.value.lower().replace('_', ' ')})"
            note = f"{edge.to_object}.{edge.to_column} ← {edge.from_object}.{edge.from_column}{how}"
            notes.append(SpanNote(edge.span.start, edge.span.end, escape_hidden(note)))
    return highlight_text(text, notes)
