"""The web application: routes, headers that keep strangers' names harmless, and one place where errors become pages."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.web import api, comparing, pages, rendering, views
from lineage_pipeline.web.insides import Insides
from lineage_pipeline.web.marts import Marts

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
COOKIE = "lineage_token"
Answer = Callable[[Request], Awaitable[Response]]


class Guard(BaseHTTPMiddleware):
    """Lets in whoever knows the token, if there is one, and puts the headers on every answer."""

    def __init__(self, app: Any, token: str | None) -> None:
        """Remember the token."""
        super().__init__(app)
        self.token = token
        self.mark = hashlib.sha256((token or "").encode()).hexdigest()  # a cookie holds no letters of every alphabet

    async def dispatch(self, request: Request, call_next: Answer) -> Response:
        """Answer, or ask for the token."""
        response = self._refused(request) or await call_next(request)
        response.headers.update(HEADERS)
        return response

    def _refused(self, request: Request) -> Response | None:
        if self.token is None:
            return None
        given = request.query_params.get("token", "")
        if _same(given, self.token):
            entrance = RedirectResponse(str(request.url.remove_query_params("token")), 303)
            entrance.set_cookie(COOKIE, self.mark, httponly=True, samesite="strict")
            return entrance
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if _same(bearer, self.token) or _same(request.cookies.get(COOKIE, ""), self.mark):
            return None
        return PlainTextResponse("a token is needed: open the address that `lineage serve` printed\n", 401)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def create_app(marts: Path, token: str | None = None) -> Starlette:
    """Make the application over a file of marts."""
    routes = [
        Route("/", pages.home),
        Route("/search", pages.search),
        Route("/explore", views.explore),
        Route("/object", views.object_page),
        Route("/file", views.file_page),
        Route("/statement", views.statement_page),
        Route("/changes", comparing.changes),
        Route("/sql", comparing.side_by_side),
        Route("/dashboards", pages.dashboards),
        Route("/dashboards/{name}", pages.dashboard),
        Route("/health", pages.health),
        Route("/static/{name}", pages.static),
        *(Route(path, answer) for path, answer in api.ROUTES.items()),
    ]
    application = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={LineageError: _problem, 404: _missing, 405: _missing},
    )
    application.state.marts = Marts(marts)
    application.state.insides = Insides(application.state.marts)
    return application


def _problem(request: Request, error: Exception) -> Response:
    """Say in one sentence what is wrong."""
    status = error.status if isinstance(error, api.Refusal) else 503
    if request.url.path.startswith("/api"):
        return JSONResponse({"error": str(error)}, status)
    return rendering.message(request, str(error), status)


def _missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    text = "there is no such page" if status == 404 else "this address answers GET alone"
    if request.url.path.startswith("/api"):
        return JSONResponse({"error": text}, status, getattr(error, "headers", None))
    return rendering.message(request, text, status)
