"""The pages that show one thing: what is around an object, the object itself, a file, the inside of a statement."""

import io
from csv import writer

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lineage_pipeline.export.escaping import cell, visible
from lineage_pipeline.export.highlight import highlighted, notes_of
from lineage_pipeline.export.html import content, embedded
from lineage_pipeline.export.inside import draw_statement
from lineage_pipeline.web import questions
from lineage_pipeline.web.api import MOST_STEPS, Refusal, chosen, number
from lineage_pipeline.web.insides import Inside
from lineage_pipeline.web.marts import Gone, Marts, Row
from lineage_pipeline.web.neighbourhood import Around, View, drawing, look_around
from lineage_pipeline.web.overlay import look_at_both
from lineage_pipeline.web.rendering import asked, link, shown


def explore(request: Request) -> Response:
    """Draw what stands around an object; or list it, as a table or as CSV."""
    marts, snapshot = asked(request)
    given = request.query_params
    focus = given.get("object", "")
    if not focus:
        return shown(request, "search.html", snapshot, words="", hits=[], most=0)
    up, down = (number(name, given.get(name, ""), (0, MOST_STEPS, 1)) for name in ("up", "down"))
    view = View(snapshot, focus, up, down, tuple(given.getlist("open"))[:20])
    against = chosen(marts, given["against"]) if given.get("against") else ""
    around = look_at_both(marts, view, against) if against else look_around(marts, view)
    if not any(box.id == focus for box in around.picture.boxes):
        raise Refusal(f"there is no object {visible(focus)} in this snapshot", 404)
    if given.get("as") == "csv":
        return _csv(around)
    data = drawing(around) | {"links": _links(view, around, against)}
    table = given.get("as") == "table"
    return shown(
        request, "explore.html", snapshot, view=view, around=around, data=embedded(data), table=table, against=against
    )


def _links(view: View, around: Around, against: str) -> dict[str, list[list[str]]]:
    """Give the addresses that the panel of each box offers."""
    found = {}
    for box in around.picture.boxes:
        more = sorted({*view.opened, box.id})
        same = {"snapshot": view.snapshot, "object": view.focus, "up": view.up, "down": view.down, "against": against}
        snapshot = against if box.state == "removed" else view.snapshot
        found[visible(box.id)] = [
            ["Open its page", link("/object", snapshot=snapshot, object=box.id)],
            ["Look around it", link("/explore", snapshot=snapshot, object=box.id)],
            ["Show its neighbours too", link("/explore", **same, open=more)],
        ]
    return found


def _csv(around: Around) -> Response:
    text = io.StringIO()
    rows = writer(text)
    rows.writerow(("from_object", "from_column", "to_object", "to_column", "type", "how", "state"))
    for flow in around.flows:
        ends = (flow.source, flow.source_column or "*", flow.target, flow.target_column or "*")
        how = ("DIRECT" if flow.direct else "INDIRECT", ", ".join(flow.how), flow.state)
        rows.writerow([cell(visible(value)) for value in (*ends, *how)])
    return PlainTextResponse(
        text.getvalue(), media_type="text/csv", headers={"Content-Disposition": "attachment; filename=lineage.csv"}
    )


def object_page(request: Request) -> Response:
    """Show one object: its columns, its SQL, who reads it, what was found, what happened to it."""
    marts, snapshot = asked(request)
    name = request.query_params.get("object", "")
    found = questions.one_object(marts, snapshot, name)
    if found is None:
        raise Refusal(f"there is no object {visible(name)} in this snapshot", 404)
    by_column: dict[str, list[Row]] = {}
    for row in questions.inputs_of(marts, snapshot, name):
        by_column.setdefault(row["to_column"], []).append(row)
    inside = _inside(request, snapshot, found["path"]) if found["path"] else None
    neighbours = questions.neighbours_of(marts, snapshot, name)
    return shown(
        request,
        "object.html",
        snapshot,
        found=found,
        columns=questions.columns_of(marts, snapshot, name),
        inputs=by_column,
        made_of=[row for row in neighbours if row["to_object"] == name],
        read_by=[row for row in neighbours if row["from_object"] == name],
        findings=questions.findings_of(marts, snapshot, name, found["path"]),
        history=questions.history_of(marts, name, found["repo"]),
        parts=_parts(marts, snapshot, name),
        lines=_marked(inside) if inside else [],
    )


def file_page(request: Request) -> Response:
    """Show a file: its statements, and its SQL with the expressions marked."""
    marts, snapshot = asked(request)
    inside = _looked_into(request, snapshot)
    findings = questions.findings_in(marts, snapshot, inside.path)
    return shown(request, "file.html", snapshot, inside=inside, lines=_marked(inside), findings=findings)


def statement_page(request: Request) -> Response:
    """Draw the inside of a statement: what it reads, its CTEs and subqueries, and what it writes."""
    _, snapshot = asked(request)
    inside = _looked_into(request, snapshot)
    most = max(len(inside.statements) - 1, 0)
    ordinal = number("statement", request.query_params.get("statement", ""), (0, most, 0))
    if (inside.path, ordinal) not in {(row.path, row.ordinal) for row in inside.graphs.lineage.statements}:
        raise Refusal("this statement was not analysed", 404)
    picture, flows = draw_statement(inside.graphs.statement(inside.path, ordinal))
    known = {row.object for row in inside.graphs.lineage.objects}
    links = {
        visible(box.id): [
            ["Open its page", link("/object", snapshot=snapshot, object=box.id)],
            ["Look around it", link("/explore", snapshot=snapshot, object=box.id)],
        ]
        for box in picture.boxes
        if box.id in known
    }
    row = inside.statements[ordinal]
    start, end = row["span_start"], row["span_end"]
    return shown(
        request,
        "statement.html",
        snapshot,
        inside=inside,
        row=row,
        data=embedded(content(picture, flows) | {"links": links}),
        parts=[box for box in picture.boxes if box.kind in ("cte", "subquery", "variable")],
        sql=inside.text[start:end] if start is not None else "",
    )


def _looked_into(request: Request, snapshot: str) -> Inside:
    path = request.query_params.get("path", "")
    inside = _inside(request, snapshot, path)
    if inside is None:
        raise Refusal(f"there is no text of {visible(path)} in this snapshot", 404)
    return inside


def _inside(request: Request, snapshot: str, path: str) -> Inside | None:
    """Look into a file; what is not in the warehouse any more cannot be looked into."""
    try:
        found: Inside | None = request.app.state.insides.of(snapshot, path)
    except Gone:
        return None
    return found


def _parts(marts: Marts, snapshot: str, name: str) -> list[Row]:
    try:
        return questions.written_by(marts, snapshot, name)
    except Gone:
        return []


def _marked(inside: Inside) -> list[object]:
    """Mark the expressions of all statements of a file."""
    known = [row.ordinal for row in inside.graphs.lineage.statements if row.path == inside.path]
    notes = [note for ordinal in known for note in notes_of(inside.graphs.statement(inside.path, ordinal))]
    return list(highlighted(inside.text, notes))
