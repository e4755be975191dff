"""The pages that list: each reads its parameters, asks the marts, and fills a template."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from lineage_pipeline.export.html import part
from lineage_pipeline.web import questions
from lineage_pipeline.web.api import Refusal
from lineage_pipeline.web.charts import bars
from lineage_pipeline.web.dashboards import DASHBOARDS
from lineage_pipeline.web.marts import Marts
from lineage_pipeline.web.rendering import asked, shown

SHARED = ("page.css", "reading.css", "page.js", "hints.js")
STATIC = {name: "text/css" if name.endswith("css") else "text/javascript" for name in ("app.css", "app.js", *SHARED)}
"""Parts that the static page of an export has too."""

MOST_HITS = 100


def home(request: Request) -> Response:
    """Show where to begin."""
    marts: Marts = request.app.state.marts
    known = questions.snapshots(marts)
    wanted = request.query_params.get("snapshot", "")
    snapshot = next((row["snapshot"] for row in known if wanted in ("", row["snapshot"])), "") if known else ""
    latest = [row for row in known if row["is_latest"]]
    critical = marts.ask(
        "select snapshot, object, kind, readers, downstream_objects, owners from marts.object_criticality"
        " order by score desc, object limit 10"
    )
    recent = questions.comparisons(marts)[:5]
    return shown(
        request,
        "home.html",
        snapshot or (known[0]["snapshot"] if known else ""),
        known=known,
        latest=latest,
        top=critical,
        recent=recent,
    )


def search(request: Request) -> Response:
    """List what the words find."""
    marts, snapshot = asked(request)
    words = request.query_params.get("q", "").replace("\0", "")
    hits = questions.search(marts, snapshot, words, MOST_HITS)
    return shown(request, "search.html", snapshot, words=words, hits=hits, most=MOST_HITS)


def dashboards(request: Request) -> Response:
    """List the dashboards."""
    _, snapshot = asked(request)
    return shown(request, "dashboards.html", snapshot, boards=DASHBOARDS)


def dashboard(request: Request) -> Response:
    """Show one dashboard: bars, and the table behind them."""
    marts, snapshot = asked(request)
    board = DASHBOARDS.get(request.path_params["name"])
    if board is None:
        raise Refusal("there is no such dashboard", 404)
    rows = marts.ask(board.sql.replace("$snapshot", "?"), snapshot)
    chart = bars(rows, board.label, board.value)
    return shown(request, "dashboard.html", snapshot, board=board, rows=rows, chart=chart, boards=DASHBOARDS)


def health(request: Request) -> Response:
    """Show what the analysis could not do, and why."""
    marts, snapshot = asked(request)
    rows = questions.health(marts)
    return shown(request, "health.html", snapshot, rows=rows, findings=questions.not_analysed(marts, snapshot))


def static(request: Request) -> Response:
    """Give a style or a script."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise Refusal("there is no such file", 404)
    text = part(name) if name in SHARED else (files(__package__) / "static" / name).read_text(encoding="utf-8")
    return Response(text, media_type=STATIC[name], headers={"Cache-Control": "no-cache"})
