"""The web application: routes, headers that keep strangers' names harmless, and one place where errors become pages."""

import hashlib
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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


LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Host names that always lead to this machine."""

WILDCARDS = ("0.0.0.0", "::")
"""Addresses to listen on that stand for every address of this machine."""


class Guard(BaseHTTPMiddleware):
    """Answers to known host names and to whoever knows the token, if there is one; adds the security headers."""

    def __init__(self, app: Any, token: str | None, hosts: Collection[str]) -> None:
        """Remember the token and the host names."""
        super().__init__(app)
        self.token = token
        self.hosts = frozenset(host.lower() for host in (*LOOPBACK, *hosts))
        self.mark = hashlib.sha256((token or "").encode()).hexdigest()  # a cookie holds no letters of every alphabet

    async def dispatch(self, request: Request, call_next: Answer) -> Response:
        """Answer, or ask for the token."""
        response = self._misdirected(request) or self._refused(request) or await call_next(request)
        response.headers.update(HEADERS)
        return response

    def _misdirected(self, request: Request) -> Response | None:
        """Refuse a request under a foreign host name.

        A page of another site can make its own name lead to this machine (DNS rebinding) and then read what is served
        here. It cannot choose a bare address, so that those pass where every address is listened on.
        """
        host = _host_name(request.headers.get("host", ""))
        if host in self.hosts or (not self.hosts.isdisjoint(WILDCARDS) and _is_address(host)):
            return None
        text = f"this server does not answer as {host!r}; `lineage serve --allow-host {host}` lets it\n"
        return PlainTextResponse(text, 421)

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


def _host_name(header: str) -> str:
    """Read the name out of a Host header, without the port and the brackets of an IPv6 address."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def create_app(marts: Path, token: str | None = None, hosts: Collection[str] = ()) -> Starlette:
    """Make the application over a file of marts; it answers to loopback names and to `hosts`."""
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
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
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
