"""Events over HTTP: one request an event, in order, tried again where the other side may recover."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.parse import urlsplit

import msgspec

from lineage_pipeline.vocabulary.errors import LineageError

ENDPOINT = "/api/v1/lineage"
"""Where consumers take events when an address names no path."""

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that may be others a moment later."""


class Refused(LineageError):
    """The other side has seen an event and does not want it; to send it again makes no sense."""


class Patience(msgspec.Struct, frozen=True):
    """How often and how long we wait: seconds for an answer, and pauses that double from `pause` to `longest`."""

    tries: int = 6
    timeout: float = 30.0
    pause: float = 0.5
    longest: float = 30.0


class Target(msgspec.Struct, frozen=True):
    """Where events go, and the key that opens the door."""

    url: str
    api_key: str = ""
    patience: Patience = Patience()


def target_of(url: str, api_key: str = "") -> Target:
    """Take an address of a consumer; without a path it gets the usual one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise LineageError(f"{url} is not an address that events can be sent to; it begins with http:// or https://")
    if parts.username or parts.password:
        raise LineageError("the address holds a password; put the key into OPENLINEAGE_API_KEY instead")
    return Target(url.rstrip("/") + ENDPOINT if parts.path in ("", "/") else url, api_key)


def send(lines: Iterable[str], target: Target, sleep: Callable[[float], None] = time.sleep) -> int:
    """Send each event until it is taken, and give how many were; what was taken is never sent again."""
    opener = urllib.request.build_opener(_NoRedirects)
    taken = 0
    for line in lines:
        _deliver(opener, line, target, sleep, taken)
        taken += 1
    return taken


def _deliver(
    opener: urllib.request.OpenerDirector, line: str, target: Target, sleep: Callable[[float], None], taken: int
) -> None:
    patience, pause = target.patience, target.patience.pause
    for attempt in range(1, patience.tries + 1):
        problem, wait = _post(opener, line, target)
        if not problem:
            return
        if wait is None or attempt == patience.tries:
            tries = f" after {attempt} tries" if attempt > 1 else ""
            kind = Refused if wait is None else LineageError
            raise kind(f"{target.url} did not take event {taken + 1}{tries}: {problem}; {taken} were taken")
        sleep(min(wait or pause, patience.longest))
        pause = min(pause * 2, patience.longest)


def _post(opener: urllib.request.OpenerDirector, line: str, target: Target) -> tuple[str, float | None]:
    """Post one event; give what went wrong, if anything, and how long to wait where another try makes sense."""
    headers = {"Content-Type": "application/json"} | (
        {"Authorization": f"Bearer {target.api_key}"} if target.api_key else {}
    )
    request = urllib.request.Request(target.url, line.encode(), headers, method="POST")
    try:
        with opener.open(request, timeout=target.patience.timeout) as answer:
            answer.read()
            return "", None
    except urllib.error.HTTPError as error:
        with error:
            said = " ".join(error.read(500).decode("utf-8", "replace").split())
        wait = _seconds(error.headers.get("Retry-After", "")) if error.code in PASSING else None
        return f"{error.code} {error.reason}" + (f" ({said[:200]})" if said else ""), wait
    except urllib.error.URLError as error:
        return str(error.reason), 0.0
    except (OSError, HTTPException) as error:
        return str(error) or type(error).__name__, 0.0


def _seconds(text: str) -> float:
    """Read how long the other side asks us to wait; 0 where it does not say so in seconds."""
    return float(text) if text.isdigit() else 0.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a redirected POST would arrive as an empty GET, and the key at somebody else's door."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow nothing."""
