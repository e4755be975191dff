"""What all pages share: templates, addresses, names that break where they may, and the snapshot that was asked for."""

from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.export.object_page import name
from lineage_pipeline.web import questions
from lineage_pipeline.web.api import chosen
from lineage_pipeline.web.marts import Marts


def link(page: str, /, **parameters: Any) -> str:
    """Make an address of a page."""
    given = {name: value for name, value in parameters.items() if value not in (None, "", [], ())}
    return f"{page}?{urlencode(given, doseq=True)}" if given else page


@cache
def templates() -> Jinja2Templates:
    """Open the templates: our own, and those that static pages have too."""
    folders = [files(__package__) / "pages", files("lineage_pipeline.export") / "page"]
    made = Jinja2Templates(directory=[str(folder) for folder in folders])
    made.env.globals["link"] = link
    made.env.filters["visible"] = lambda text: visible(str(text))
    made.env.filters["name"] = name
    return made


def shown(request: Request, page: str, snapshot: str = "", **values: Any) -> Response:
    """Fill a template with what every page shows, and more."""
    marts: Marts = request.app.state.marts
    known = values.pop("known", None)
    context = {
        "snapshot": snapshot,
        "snapshots": questions.snapshots(marts) if known is None else known,
        "here": request.url.path,
        "asked": [(name, value) for name, value in request.query_params.multi_items() if name != "snapshot"],
        **values,
    }
    return templates().TemplateResponse(request, page, context)


def message(request: Request, text: str, status: int) -> Response:
    """Show a sentence instead of a page."""
    context = {"text": text, "status": status, "snapshots": [], "snapshot": "", "here": "", "asked": []}
    return templates().TemplateResponse(request, "message.html", context, status)


def asked(request: Request) -> tuple[Marts, str]:
    """Give the marts, and the snapshot that was asked for."""
    marts: Marts = request.app.state.marts
    return marts, chosen(marts, request.query_params.get("snapshot", ""))
