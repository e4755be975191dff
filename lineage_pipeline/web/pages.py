"""The pages: each reads its parameters, asks the marts, and fills a template."""

import io
from csv import writer
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.templating import Jinja2Templates

from lineage_pipeline.export.escaping import cell, visible
from lineage_pipeline.export.html import embedded, part
from lineage_pipeline.web import questions
from lineage_pipeline.web.api import MOST_STEPS, Refusal, chosen, number
from lineage_pipeline.web.charts import bars
from lineage_pipeline.web.dashboards import DASHBOARDS
from lineage_pipeline.web.highlight import highlighted
from lineage_pipeline.web.marts import Marts, Row
from lineage_pipeline.web.neighbourhood import Around, View, drawing, look_around

STATIC = {"app.css": "text/css", "app.js": "text/javascript", "page.css": "text/css", "page.js": "text/javascript"}
SHARED = ("page.css", "page.js")
"""Parts that the static page of an export has too."""


def link(path: str, **parameters: Any) -> str:
    """Make an address of a page."""
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


@cache
def _templates() -> Jinja2Templates:
    templates = Jinja2Templates(directory=str(files(__package__) / "pages"))
    templates.env.globals["link"] = link
    templates.env.filters["visible"] = lambda text: visible(str(text))
    return templates


def shown(request: Request, page: str, snapshot: str = "", **values: Any) -> Response:
    """Fill a template with what every page shows, and more."""
    marts: Marts = request.app.state.marts
    known = values.pop("known", None)
    context = {
        "snapshot": snapshot,
        "snapshots": questions.snapshots(marts) if known is None else known,
        "here": request.url.path,
        "asked": {name: value for name, value in request.query_params.multi_items() if name != "snapshot"},
        **values,
    }
    return _templates().TemplateResponse(request, page, context)


def message(request: Request, text: str, status: int) -> Response:
    """Show a sentence instead of a page."""
    return _templates().TemplateResponse(
        request, "message.html", {"text": text, "snapshots": [], "snapshot": "", "here": "", "asked": {}}, status
    )


def _asked(request: Request) -> tuple[Marts, str]:
    marts: Marts = request.app.state.marts
    return marts, chosen(marts, request.query_params.get("snapshot", ""))


def home(request: Request) -> Response:
    """Show where to begin."""
    marts: Marts = request.app.state.marts
    known = questions.snapshots(marts)
    latest = [row for row in known if row["is_latest"]]
    critical = marts.ask(
        "select snapshot, object, kind, readers, downstream_objects from marts.object_criticality"
        " order by score desc, object limit 10"
    )
    return shown(request, "home.html", known[0]["snapshot"] if known else "", known=known, latest=latest, top=critical)


def search(request: Request) -> Response:
    """List what the words find."""
    marts, snapshot = _asked(request)
    words = request.query_params.get("q", "").replace("\0", "")
    return shown(request, "search.html", snapshot, words=words, hits=questions.search(marts, snapshot, words, 100))


def explore(request: Request) -> Response:
    """Draw what stands around an object; or list it, as a table or as CSV."""
    marts, snapshot = _asked(request)
    given = request.query_params
    focus = given.get("object", "")
    if not focus:
        return shown(request, "search.html", snapshot, words="", hits=[])
    if questions.one_object(marts, snapshot, focus) is None:
        raise Refusal(f"there is no object {visible(focus)} in this snapshot", 404)
    up, down = (number(name, given.get(name, ""), (0, MOST_STEPS, 1)) for name in ("up", "down"))
    view = View(snapshot, focus, up, down, tuple(given.getlist("open"))[:20])
    around = look_around(marts, view)
    if given.get("as") == "csv":
        return _csv(around)
    data = drawing(around) | {"links": _links(view, around)}
    return shown(
        request,
        "explore.html",
        snapshot,
        view=view,
        around=around,
        data=embedded(data),
        table=given.get("as") == "table",
    )


def _links(view: View, around: Around) -> dict[str, list[list[str]]]:
    """Give the addresses that the panel of each box offers."""
    found = {}
    for box in around.picture.boxes:
        more = sorted({*view.opened, box.id})
        same = {"snapshot": view.snapshot, "object": view.focus, "up": view.up, "down": view.down}
        found[visible(box.id)] = [
            ["Open its page", link("/object", snapshot=view.snapshot, object=box.id)],
            ["Look around it", link("/explore", snapshot=view.snapshot, object=box.id)],
            ["Show its neighbours too", link("/explore", **same, open=more)],
        ]
    return found


def _csv(around: Around) -> Response:
    text = io.StringIO()
    rows = writer(text)
    rows.writerow(("from_object", "from_column", "to_object", "to_column", "type", "how"))
    for flow in around.flows:
        ends = (flow.source, flow.source_column or "*", flow.target, flow.target_column or "*")
        how = ("DIRECT" if flow.direct else "INDIRECT", ", ".join(flow.how))
        rows.writerow([cell(visible(value)) for value in (*ends, *how)])
    return PlainTextResponse(
        text.getvalue(), media_type="text/csv", headers={"Content-Disposition": "attachment; filename=lineage.csv"}
    )


def object_page(request: Request) -> Response:
    """Show one object: its columns, its SQL, who reads it, what was found, what happened to it."""
    marts, snapshot = _asked(request)
    name = request.query_params.get("object", "")
    found = questions.one_object(marts, snapshot, name)
    if found is None:
        raise Refusal(f"there is no object {visible(name)} in this snapshot", 404)
    inputs = questions.inputs_of(marts, snapshot, name)
    by_column: dict[str, list[Row]] = {}
    for row in inputs:
        by_column.setdefault(row["to_column"], []).append(row)
    text = questions.text_of(marts, snapshot, found["path"]) if found["path"] else None
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
        history=questions.history_of(marts, name),
        lines=highlighted(text, found["path"], inputs) if text is not None else [],
    )


def changes(request: Request) -> Response:
    """Show the comparisons, and what one of them found."""
    marts: Marts = request.app.state.marts
    pairs = questions.comparisons(marts)
    base, head = (request.query_params.get(name, "") for name in ("base", "head"))
    if not (base and head) and pairs:
        base, head = pairs[0]["base"], pairs[0]["head"]
    found = questions.changes(marts, base, head) if base and head else []
    return shown(request, "changes.html", head, pairs=pairs, base=base, head=head, changes=found)


def dashboards(request: Request) -> Response:
    """List the dashboards."""
    _, snapshot = _asked(request)
    return shown(request, "dashboards.html", snapshot, boards=DASHBOARDS)


def dashboard(request: Request) -> Response:
    """Show one dashboard: bars, and the table behind them."""
    marts, snapshot = _asked(request)
    board = DASHBOARDS.get(request.path_params["name"])
    if board is None:
        raise Refusal("there is no such dashboard", 404)
    rows = marts.ask(board.sql.replace("$snapshot", "?"), snapshot)
    return shown(
        request, "dashboard.html", snapshot, board=board, rows=rows, chart=bars(rows, board.label, board.value)
    )


def health(request: Request) -> Response:
    """Show what the analysis could not do, and why."""
    marts, snapshot = _asked(request)
    rows = questions.health(marts)
    return shown(request, "health.html", snapshot, rows=rows, findings=questions.not_analysed(marts, snapshot))


def static(request: Request) -> Response:
    """Give a style or a script."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise Refusal("there is no such file", 404)
    text = part(name) if name in SHARED else (files(__package__) / "static" / name).read_text(encoding="utf-8")
    return Response(text, media_type=STATIC[name], headers={"Cache-Control": "no-cache"})
