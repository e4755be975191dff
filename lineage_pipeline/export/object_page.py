"""The page of one object as a file of its own: columns, what feeds them, readers, findings and SQL, offline."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.engine.trace.reach import column_reach
from lineage_pipeline.export.escaping import visible
from lineage_pipeline.export.highlight import Line, Note, highlighted
from lineage_pipeline.export.html import hash_of, part
from lineage_pipeline.export.portrait import portrait_of
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.sets import EdgeType, Role, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge

BREAKS = re.compile(r"([./_]+)")
STYLES = ("page.css", "reading.css")
SCRIPT = "hints.js"

Row = dict[str, Any]


def name(text: object) -> Markup:
    """Show a name; where it is too long for its place it may break behind a dot, a slash or an underscore."""
    parts = BREAKS.split(visible(str(text)))
    return Markup("").join(
        escape(part) + Markup("<wbr>") if place % 2 and parts[place + 1] else escape(part)
        for place, part in enumerate(parts)
    )


def render_object(subject: Subject, object: str) -> str:
    """Give the page of an object; it needs nothing else, and its script stands in it under the hash of its text."""
    style, script = "\n".join(map(part, STYLES)), part(SCRIPT)
    policy = (
        f"default-src 'none'; script-src '{hash_of(script)}'; style-src '{hash_of(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    snapshot = f"{subject.snapshot.repo}@{subject.snapshot.commit[:12]}" if subject.snapshot else ""
    page = {"policy": policy, "style": Markup(style), "script": Markup(script), "of": snapshot}  # noqa: S704 - our own
    return _templates().get_template("object_file.html").render(**page, **_facts(subject, object))


@cache
def _templates() -> Environment:
    folder = str(files(__package__) / "page")
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, keep_trailing_newline=True)
    made.globals["link"] = _nowhere
    made.filters["visible"] = lambda text: visible(str(text))
    made.filters["name"] = name
    return made


def _nowhere(*_: str, **__: str) -> str:
    """Link nothing: a file alone has no other pages."""
    return ""


def _facts(subject: Subject, object: str) -> Row:
    """Give what the template shows, in the words of the marts."""
    lineage = subject.lineage
    shown = portrait_of(RowFacts(lineage, subject.files), object)
    row = shown.row
    reach = {one.ordinal: one for one in lineage.column_reach or column_reach(lineage) if one.object == object}
    inputs: dict[str, list[Row]] = defaultdict(list)
    for edge in sorted(shown.edges, key=_order):
        inputs[edge.to_column].append(_input(edge))
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
        "made_of": list(_neighbours(subject, object, upwards=True)),
        "read_by": list(_neighbours(subject, object, upwards=False)),
        "findings": [_finding(one) for one in shown.findings],
        "history": [],
        "parts": [
            {"path": part.path, "ordinal": part.ordinal, "line": line, "kind": kinds.get((part.path, part.ordinal), "")}
            for part, line in shown.parts
            if part.role is not Role.READ
        ],
        "lines": _marked(text, (edge for edge in lineage.column_edges if edge.path == row.path)) if text else [],
    }


def _order(edge: ColumnEdge) -> tuple[str, ...]:
    return (edge.type, edge.from_object, edge.from_column, edge.subtype)


def _input(edge: ColumnEdge) -> Row:
    return {
        **{"from_object": edge.from_object, "from_column": edge.from_column, "type": edge.type.value},
        **{"subtype": edge.subtype.value, "approximate": edge.approximate, "masking": edge.masking},
    }


def _finding(one: Any) -> Row:
    return {"severity": one.severity, "code": one.code, "message": one.message, "path": one.path, "line": one.line}


def _neighbours(subject: Subject, object: str, *, upwards: bool) -> Iterable[Row]:
    """List who feeds an object, or who reads it, with the values that flow between the two."""
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


def _marked(text: str, edges: Iterable[ColumnEdge]) -> list[Line]:
    """Mark the expressions of a file that make columns, each with what it is made of."""
    notes = []
    for edge in edges:
        if edge.span is not None and edge.type is EdgeType.DIRECT:
            how = "" if edge.subtype is Subtype.IDENTITY else f" ({edge.subtype.value.lower().replace('_', ' ')})"
            told = f"{edge.to_object}.{edge.to_column} ← {edge.from_object}.{edge.from_column}{how}"
            notes.append(Note(edge.span.start, edge.span.end, visible(told)))
    return highlighted(text, notes)
