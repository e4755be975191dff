"""Shared parts of all pages: templates, links, and the requested snapshot."""

from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.export.object_page import format_breakable_name
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.api import choose_snapshot
from lineage_pipeline.web.marts import Marts


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
