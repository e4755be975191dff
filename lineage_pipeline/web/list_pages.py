"""Pages with lists: each reads its parameters, queries the marts, and renders a template."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from lineage_pipeline.export.page_resources import read_page_part
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.api import RequestError
from lineage_pipeline.web.dashboards import DASHBOARDS, build_bar_chart
from lineage_pipeline.web.marts import Marts
from lineage_pipeline.web.rendering import render_page, requested_snapshot

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
