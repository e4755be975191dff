"""The web application: routes, security headers, access by host name and token, and error pages."""

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.web import api, page_routes
from lineage_pipeline.web.marts import Marts
from lineage_pipeline.web.statement_detail import FileDetailCache

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
TOKEN_COOKIE = "lineage_token"
NextHandler = Callable[[Request], Awaitable[Response]]


LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
"""Host names that always lead to this machine."""

WILDCARD_ADDRESSES = ("0.0.0.0", "::")
"""Addresses to listen on that mean every address of this machine."""


class AccessMiddleware(BaseHTTPMiddleware):
    """Checks the host name and the token, if there is one, and adds the security headers to every response."""

    def __init__(self, app: Any, token: str | None, hosts: Collection[str], *, every_address: bool) -> None:
        """Store the token and the host names; with `every_address`, bare addresses are answered, too."""
        super().__init__(app)
        self.token = token
        self.hosts = frozenset(host.lower() for host in (*LOOPBACK_HOSTS, *hosts))
        self.every_address = every_address
        self.mark = hashlib.sha256((token or "").encode()).hexdigest()  # a cookie holds no letters of every alphabet

    async def dispatch(self, request: Request, call_next: NextHandler) -> Response:
        """Respond, or refuse a foreign host name or a missing token."""
        response = self._refuse_foreign_host(request) or self._refuse_without_token(request) or await call_next(request)
        response.headers.update(SECURITY_HEADERS)
        return response

    def _refuse_foreign_host(self, request: Request) -> Response | None:
        """Refuse a request under a foreign host name.

        A page of another site can make its own name lead to this machine (DNS rebinding) and then read what is served
        here. It cannot choose a bare address, so that those pass where every address is listened on.
        """
        host = parse_host_name(request.headers.get("host", ""))
        if host and (host in self.hosts or (self.every_address and _is_ip_address(host))):
            return None
        text = f"unknown host name {host!r}; to allow it, start the server with --allow-host {host}\n"
        return PlainTextResponse(text, 421)

    def _refuse_without_token(self, request: Request) -> Response | None:
        if self.token is None:
            return None
        given = request.query_params.get("token", "")
        if _is_same_token(given, self.token):
            entrance = RedirectResponse(str(request.url.remove_query_params("token")), 303)
            entrance.set_cookie(TOKEN_COOKIE, self.mark, httponly=True, samesite="strict")
            return entrance
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if _is_same_token(bearer, self.token) or _is_same_token(request.cookies.get(TOKEN_COOKIE, ""), self.mark):
            return None
        return PlainTextResponse("a token is needed: open the address that `lineage serve` printed\n", 401)


_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?", re.IGNORECASE)
"""A host name, an IPv4 address or an IPv6 address in brackets, and a port: nothing else is a Host header."""


def parse_host_name(header: str) -> str:
    """Parse the name in a Host header, without the port and brackets; empty if it is none."""
    found = _HOST.fullmatch(header)
    if found is None:
        return ""
    if found[1] is None:
        return found[2].lower().removesuffix(".")
    return str(ipaddress.ip_address(found[1])) if _is_ip_address(found[1]) else ""


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_same_token(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def create_app(
    marts: Path, token: str | None = None, hosts: Collection[str] = (), *, every_address: bool = False
) -> Starlette:
    """Create the application for a file of marts; it answers to loopback names and to `hosts`."""
    routes = [
        Route("/", page_routes.show_home),
        Route("/search", page_routes.show_search),
        Route("/explore", page_routes.show_neighborhood),
        Route("/object", page_routes.show_object),
        Route("/file", page_routes.show_file),
        Route("/statement", page_routes.show_statement),
        Route("/changes", page_routes.show_changes),
        Route("/sql", page_routes.show_side_by_side),
        Route("/dashboards", page_routes.show_dashboards),
        Route("/dashboards/{name}", page_routes.show_dashboard),
        Route("/health", page_routes.show_health),
        Route("/static/{name}", page_routes.serve_static),
        *(Route(path, answer) for path, answer in api.API_ROUTES.items()),
    ]
    application = Starlette(
        routes=routes,
        middleware=[Middleware(AccessMiddleware, token=token, hosts=hosts, every_address=every_address)],
        exception_handlers={LineageError: _handle_error, 404: _handle_missing, 405: _handle_missing},
    )
    application.state.marts = Marts(marts)
    application.state.insides = FileDetailCache(application.state.marts)
    return application


def _handle_error(request: Request, error: Exception) -> Response:
    """Respond with the message of an error."""
    status = error.status if isinstance(error, api.RequestError) else 503
    if request.url.path.startswith("/api"):
        return JSONResponse({"error": str(error)}, status)
    return page_routes.render_message(request, str(error), status)


def _handle_missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    text = "there is no such page" if status == 404 else "this address answers GET alone"
    if request.url.path.startswith("/api"):
        return JSONResponse({"error": text}, status, getattr(error, "headers", None))
    return page_routes.render_message(request, text, status)
