"""Pages of one thing: the neighborhood of an object, the object itself, a file, a statement."""

import io
from csv import writer

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lineage_pipeline.export.drawing.page_data import build_page_data
from lineage_pipeline.export.drawing.statement_picture import draw_statement
from lineage_pipeline.export.escaping import escape_formula, escape_hidden
from lineage_pipeline.export.page_resources import embed_json
from lineage_pipeline.export.sql_highlight import build_notes, highlight_text
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.api import MOST_STEPS, RequestError, choose_snapshot, parse_number
from lineage_pipeline.web.diff_overlay import find_diff_neighborhood
from lineage_pipeline.web.marts import Marts, MissingFiles, Row
from lineage_pipeline.web.neighborhood import Neighborhood, NeighborhoodView, build_drawing, find_neighborhood
from lineage_pipeline.web.rendering import build_address, render_page, requested_snapshot
from lineage_pipeline.web.statement_detail import FileDetail


def show_neighborhood(request: Request) -> Response:
    """Draw the neighborhood of an object, or list it as a table or as CSV."""
    marts, snapshot = requested_snapshot(request)
    given = request.query_params
    focus = given.get("object", "")
    if not focus:
        return render_page(request, "search.html", snapshot, words="", hits=[], most=0)
    up, down = (parse_number(name, given.get(name, ""), (0, MOST_STEPS, 1)) for name in ("up", "down"))
    view = NeighborhoodView(snapshot=snapshot, focus=focus, up=up, down=down, opened=tuple(given.getlist("open"))[:20])
    against = choose_snapshot(marts, given["against"]) if given.get("against") else ""
    around = find_diff_neighborhood(marts, view, against) if against else find_neighborhood(marts, view)
    if not any(box.id == focus for box in around.picture.boxes):
        raise RequestError(f"there is no object {escape_hidden(focus)} in this snapshot", 404)
    if given.get("as") == "csv":
        return _respond_csv(around)
    data = build_drawing(around) | {"links": _panel_links(view, around, against)}
    table = given.get("as") == "table"
    return render_page(
        request, "explore.html", snapshot, view=view, around=around, data=embed_json(data), table=table, against=against
    )


def _panel_links(view: NeighborhoodView, around: Neighborhood, against: str) -> dict[str, list[list[str]]]:
    """Return the links that the panel of each box offers."""
    found = {}
    for box in around.picture.boxes:
        more = sorted({*view.opened, box.id})
        same = {"snapshot": view.snapshot, "object": view.focus, "up": view.up, "down": view.down, "against": against}
        snapshot = against if box.state == "removed" else view.snapshot
        found[escape_hidden(box.id)] = [
            ["Open its page", build_address("/object", snapshot=snapshot, object=box.id)],
            ["Look around it", build_address("/explore", snapshot=snapshot, object=box.id)],
            ["Show its neighbours too", build_address("/explore", **same, open=more)],
        ]
    return found


def _respond_csv(around: Neighborhood) -> Response:
    text = io.StringIO()
    rows = writer(text)
    rows.writerow(("from_object", "from_column", "to_object", "to_column", "type", "how", "state"))
    for flow in around.flows:
        ends = (flow.source, flow.source_column or "*", flow.target, flow.target_column or "*")
        how = ("DIRECT" if flow.direct else "INDIRECT", ", ".join(flow.how), flow.state)
        rows.writerow([escape_formula(escape_hidden(value)) for value in (*ends, *how)])
    return PlainTextResponse(
        text.getvalue(), media_type="text/csv", headers={"Content-Disposition": "attachment; filename=lineage.csv"}
    )


def show_object(request: Request) -> Response:
    """Show one object: its columns, SQL, readers, findings and history."""
    marts, snapshot = requested_snapshot(request)
    name = request.query_params.get("object", "")
    found = mart_queries.get_object(marts, snapshot, name)
    if found is None:
        raise RequestError(f"there is no object {escape_hidden(name)} in this snapshot", 404)
    by_column: dict[str, list[Row]] = {}
    for row in mart_queries.list_inputs(marts, snapshot, name):
        by_column.setdefault(row["to_column"], []).append(row)
    inside = _file_detail(request, snapshot, found["path"]) if found["path"] else None
    neighbours = mart_queries.list_neighbors(marts, snapshot, name)
    return render_page(
        request,
        "object.html",
        snapshot,
        found=found,
        columns=mart_queries.list_columns(marts, snapshot, name),
        inputs=by_column,
        made_of=[row for row in neighbours if row["to_object"] == name],
        read_by=[row for row in neighbours if row["from_object"] == name],
        findings=mart_queries.list_object_findings(marts, snapshot, name, found["path"]),
        history=mart_queries.list_history(marts, name, found["repo"]),
        parts=_writing_statements(marts, snapshot, name),
        lines=_highlight_statements(inside) if inside else [],
    )


def show_file(request: Request) -> Response:
    """Show a file: its statements, and its SQL with the expressions marked."""
    marts, snapshot = requested_snapshot(request)
    inside = _requested_file(request, snapshot)
    findings = mart_queries.list_file_findings(marts, snapshot, inside.path)
    return render_page(
        request, "file.html", snapshot, inside=inside, lines=_highlight_statements(inside), findings=findings
    )


def show_statement(request: Request) -> Response:
    """Draw a statement: what it reads, its CTEs and subqueries, and what it writes."""
    _, snapshot = requested_snapshot(request)
    inside = _requested_file(request, snapshot)
    most = max(len(inside.statements) - 1, 0)
    ordinal = parse_number("statement", request.query_params.get("statement", ""), (0, most, 0))
    if (inside.path, ordinal) not in {(row.path, row.ordinal) for row in inside.graphs.lineage.statements}:
        raise RequestError("this statement was not analysed", 404)
    picture, flows = draw_statement(inside.graphs.statement(inside.path, ordinal))
    known = {row.object for row in inside.graphs.lineage.objects}
    links = {
        escape_hidden(box.id): [
            ["Open its page", build_address("/object", snapshot=snapshot, object=box.id)],
            ["Look around it", build_address("/explore", snapshot=snapshot, object=box.id)],
        ]
        for box in picture.boxes
        if box.id in known
    }
    row = inside.statements[ordinal]
    start, end = row["span_start"], row["span_end"]
    return render_page(
        request,
        "statement.html",
        snapshot,
        inside=inside,
        row=row,
        data=embed_json(build_page_data(picture, flows) | {"links": links}),
        parts=[box for box in picture.boxes if box.kind in ("cte", "subquery", "variable")],
        sql=inside.text[start:end] if start is not None else "",
    )


def _requested_file(request: Request, snapshot: str) -> FileDetail:
    path = request.query_params.get("path", "")
    inside = _file_detail(request, snapshot, path)
    if inside is None:
        raise RequestError(f"there is no text of {escape_hidden(path)} in this snapshot", 404)
    return inside


def _file_detail(request: Request, snapshot: str, path: str) -> FileDetail | None:
    """Return the detail of a file, or None where its text is no longer in the warehouse."""
    try:
        found: FileDetail | None = request.app.state.insides.of(snapshot, path)
    except MissingFiles:
        return None
    return found


def _writing_statements(marts: Marts, snapshot: str, name: str) -> list[Row]:
    try:
        return mart_queries.list_writers(marts, snapshot, name)
    except MissingFiles:
        return []


def _highlight_statements(inside: FileDetail) -> list[object]:
    """Highlight the expressions of all statements of a file."""
    known = [row.ordinal for row in inside.graphs.lineage.statements if row.path == inside.path]
    notes = [note for ordinal in known for note in build_notes(inside.graphs.statement(inside.path, ordinal))]
    return list(highlight_text(inside.text, notes))
