"""The HTML pages: each reads its parameters and the requested snapshot, queries the marts, and renders a template."""

import io
from collections.abc import Iterator, Sequence
from csv import writer
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.templating import Jinja2Templates

from lineage_pipeline.export.drawing.box_layout import build_page_data
from lineage_pipeline.export.drawing.picture import draw_statement
from lineage_pipeline.export.escaping import escape_formula, escape_hidden
from lineage_pipeline.export.html_parts import build_notes, embed_json, highlight_text, read_page_part
from lineage_pipeline.export.object_page import format_breakable_name
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.api import MOST_STEPS, RequestError, choose_snapshot, parse_number
from lineage_pipeline.web.dashboards import DASHBOARDS, build_bar_chart
from lineage_pipeline.web.marts import Marts, MissingFiles, Row
from lineage_pipeline.web.neighborhood import (
    Neighborhood,
    NeighborhoodView,
    build_drawing,
    find_diff_neighborhood,
    find_neighborhood,
)
from lineage_pipeline.web.statement_detail import FileDetail


def build_address(page: str, /, **parameters: Any) -> str:
    """Build the address of a page with its parameters."""
    given = {name: value for name, value in parameters.items() if value not in (None, "", [], ())}
    return f"{page}?{urlencode(given, doseq=True)}" if given else page


@cache
def load_templates() -> Jinja2Templates:
    """Load the templates: our own, and those shared with static pages."""
    folders = [files(__package__) / "pages", files("lineage_pipeline.export") / "page"]
    made = Jinja2Templates(directory=[str(folder) for folder in folders])
    made.env.globals["link"] = build_address
    made.env.filters["visible"] = lambda text: escape_hidden(str(text))
    made.env.filters["name"] = format_breakable_name
    return made


def render_page(request: Request, page: str, snapshot: str = "", **values: Any) -> Response:
    """Render a template with the values that every page shows, and more."""
    marts: Marts = request.app.state.marts
    known = values.pop("known", None)
    context = {
        "snapshot": snapshot,
        "snapshots": mart_queries.list_snapshots(marts) if known is None else known,
        "here": request.url.path,
        "asked": [(name, value) for name, value in request.query_params.multi_items() if name != "snapshot"],
        **values,
    }
    return load_templates().TemplateResponse(request, page, context)


def render_message(request: Request, text: str, status: int) -> Response:
    """Render a page with only a message."""
    context = {"text": text, "status": status, "snapshots": [], "snapshot": "", "here": "", "asked": []}
    return load_templates().TemplateResponse(request, "message.html", context, status)


def requested_snapshot(request: Request) -> tuple[Marts, str]:
    """Return the marts, and the requested snapshot."""
    marts: Marts = request.app.state.marts
    return marts, choose_snapshot(marts, request.query_params.get("snapshot", ""))


SHARED_FILES = ("page.css", "reading.css", "page.js", "hints.js")
STATIC_TYPES = {
    name: "text/css" if name.endswith("css") else "text/javascript" for name in ("app.css", "app.js", *SHARED_FILES)
}
"""Media types of static files, our own and those shared with exported pages."""

MOST_HITS = 100


def show_home(request: Request) -> Response:
    """Show the start page."""
    marts: Marts = request.app.state.marts
    known = mart_queries.list_snapshots(marts)
    wanted = request.query_params.get("snapshot", "")
    snapshot = next((row["snapshot"] for row in known if wanted in ("", row["snapshot"])), "") if known else ""
    latest = [row for row in known if row["is_latest"]]
    critical = marts.ask(
        "select snapshot, object, kind, readers, downstream_objects, owners from marts.object_criticality"
        " order by score desc, object limit 10"
    )
    recent = mart_queries.list_comparisons(marts)[:5]
    return render_page(
        request,
        "home.html",
        snapshot or (known[0]["snapshot"] if known else ""),
        known=known,
        latest=latest,
        top=critical,
        recent=recent,
    )


def show_search(request: Request) -> Response:
    """List the hits of a search."""
    marts, snapshot = requested_snapshot(request)
    words = request.query_params.get("q", "").replace("\0", "")
    hits = mart_queries.search_marts(marts, snapshot, words, MOST_HITS)
    return render_page(request, "search.html", snapshot, words=words, hits=hits, most=MOST_HITS)


def show_dashboards(request: Request) -> Response:
    """List the dashboards."""
    _, snapshot = requested_snapshot(request)
    return render_page(request, "dashboards.html", snapshot, boards=DASHBOARDS)


def show_dashboard(request: Request) -> Response:
    """Show one dashboard: bars, and the table behind them."""
    marts, snapshot = requested_snapshot(request)
    board = DASHBOARDS.get(request.path_params["name"])
    if board is None:
        raise RequestError("there is no such dashboard", 404)
    rows = marts.ask(board.sql.replace("$snapshot", "?"), snapshot)
    chart = build_bar_chart(rows, board.label, board.value)
    return render_page(request, "dashboard.html", snapshot, board=board, rows=rows, chart=chart, boards=DASHBOARDS)


def show_health(request: Request) -> Response:
    """Show what the analysis could not do, and why."""
    marts, snapshot = requested_snapshot(request)
    rows = mart_queries.list_health(marts)
    return render_page(
        request, "health.html", snapshot, rows=rows, findings=mart_queries.list_findings(marts, snapshot)
    )


def serve_static(request: Request) -> Response:
    """Respond with a style or a script."""
    name = request.path_params["name"]
    if name not in STATIC_TYPES:
        raise RequestError("there is no such file", 404)
    text = (
        read_page_part(name)
        if name in SHARED_FILES
        else (files(__package__) / "static" / name).read_text(encoding="utf-8")
    )
    return Response(text, media_type=STATIC_TYPES[name], headers={"Cache-Control": "no-cache"})


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
            ["Show its neighbors too", build_address("/explore", **same, open=more)],
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
    neighbors = mart_queries.list_neighbors(marts, snapshot, name)
    return render_page(
        request,
        "object.html",
        snapshot,
        found=found,
        columns=mart_queries.list_columns(marts, snapshot, name),
        inputs=by_column,
        made_of=[row for row in neighbors if row["to_object"] == name],
        read_by=[row for row in neighbors if row["from_object"] == name],
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
        raise RequestError("this statement was not analyzed", 404)
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


CONTEXT_LINES = 4
"""The number of unchanged lines shown around changed ones."""


class LinePair(NamedTuple):
    """A line before and after; `kind` is `same`, `changed`, `added`, `removed`, or `skipped` for omitted lines."""

    kind: str
    before_number: int | None
    before: str
    after_number: int | None
    after: str


def show_changes(request: Request) -> Response:
    """Show the comparisons, and the changes of one of them."""
    marts: Marts = request.app.state.marts
    pairs = mart_queries.list_comparisons(marts)
    base, head = (request.query_params.get(name, "") for name in ("base", "head"))
    if not (base and head) and pairs:
        wanted = request.query_params.get("snapshot", "")
        row = next((row for row in pairs if row["head"] == wanted), pairs[0])
        base, head = row["base"], row["head"]
    found = mart_queries.list_changes(marts, base, head) if base and head else []
    return render_page(request, "changes.html", head, pairs=pairs, base=base, head=head, changes=found)


def show_side_by_side(request: Request) -> Response:
    """Show the file that defines an object, before and after."""
    marts, head = requested_snapshot(request)
    base = choose_snapshot(marts, request.query_params.get("base", ""))
    name = request.query_params.get("object", "")
    sides = [_definition_text(marts, snapshot, name) for snapshot in (base, head)]
    if sides[0] is None and sides[1] is None:
        raise RequestError(f"there is no SQL of {escape_hidden(name)} in these snapshots", 404)
    before, after = (side or ("", "") for side in sides)
    pairs = list(_skip_unchanged(list(align_lines(before[1], after[1]))))
    return render_page(request, "sql.html", head, base=base, object=name, pairs=pairs, paths=(before[0], after[0]))


def _definition_text(marts: Marts, snapshot: str, name: str) -> tuple[str, str] | None:
    """Return the path and the text of the file that defines an object, or None."""
    try:
        return mart_queries.get_definition(marts, snapshot, name)
    except MissingFiles:
        return None


def align_lines(before: str, after: str) -> Iterator[LinePair]:
    """Yield the lines of two texts side by side."""
    old, new = before.splitlines(), after.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step in range(max(i_end - i, j_end - j)):
            left = i + step if i + step < i_end else None
            right = j + step if j + step < j_end else None
            kind = "same" if tag == "equal" else "added" if left is None else "removed" if right is None else "changed"
            yield LinePair(
                kind=kind,
                before_number=None if left is None else left + 1,
                before="" if left is None else old[left],
                after_number=None if right is None else right + 1,
                after="" if right is None else new[right],
            )


def _skip_unchanged(pairs: Sequence[LinePair]) -> Iterator[LinePair]:
    """Replace unchanged lines far from changed ones by a count."""
    near = {
        place + step
        for place, pair in enumerate(pairs)
        if pair.kind != "same"
        for step in range(-CONTEXT_LINES, CONTEXT_LINES + 1)
    }
    skipped = 0
    for place, pair in enumerate(pairs):
        if place in near or not near:
            if skipped:
                yield LinePair(
                    kind="skipped",
                    before_number=None,
                    before=f"{skipped} lines are the same",
                    after_number=None,
                    after="",
                )
            skipped = 0
            yield pair
        else:
            skipped += 1
    if skipped:
        yield LinePair(
            kind="skipped", before_number=None, before=f"{skipped} lines are the same", after_number=None, after=""
        )
