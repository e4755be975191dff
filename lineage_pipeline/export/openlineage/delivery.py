"""Delivery of OpenLineage events over HTTP: in order, retried, and kept on disk until they are accepted."""

import hashlib
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import msgspec

from lineage_pipeline.model.errors import LineageError

DEFAULT_PATH = "/api/v1/lineage"
"""The path of a consumer where its address has none."""

RETRIABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses after which a retry may succeed."""


class EventRejected(LineageError):
    """The consumer rejected an event; sending it again makes no sense."""


class DeliveryRetries(msgspec.Struct, frozen=True):
    """Number of tries, timeout in seconds, and pauses that double from `pause` to `longest`."""

    tries: int = 6
    timeout: float = 30.0
    pause: float = 0.5
    longest: float = 30.0


class EventTarget(msgspec.Struct, frozen=True):
    """The address that events go to, its API key, and how to retry."""

    url: str
    api_key: str = ""
    patience: DeliveryRetries = DeliveryRetries()


def parse_target(url: str, api_key: str = "") -> EventTarget:
    """Parse the address of a consumer; without a path it gets the default one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise LineageError(f"{url} is not an address that events can be sent to; it begins with http:// or https://")
    if parts.username or parts.password:
        raise LineageError("the address holds a password; put the key into OPENLINEAGE_API_KEY instead")
    return EventTarget(url.rstrip("/") + DEFAULT_PATH if parts.path in ("", "/") else url, api_key)


def send_events(lines: Iterable[str], target: EventTarget, sleep: Callable[[float], None] = time.sleep) -> int:
    """Send each event until it is accepted, and return how many were; accepted events are not sent again."""
    opener = urllib.request.build_opener(_NoRedirects)
    taken = 0
    for line in lines:
        _send_with_retries(opener, line, target, sleep, taken)
        taken += 1
    return taken


def _send_with_retries(
    opener: urllib.request.OpenerDirector, line: str, target: EventTarget, sleep: Callable[[float], None], taken: int
) -> None:
    patience, pause = target.patience, target.patience.pause
    for attempt in range(1, patience.tries + 1):
        problem, wait = _post_event(opener, line, target)
        if not problem:
            return
        if wait is None or attempt == patience.tries:
            tries = f" after {attempt} tries" if attempt > 1 else ""
            kind = EventRejected if wait is None else LineageError
            raise kind(f"{target.url} did not take event {taken + 1}{tries}: {problem}; {taken} were taken")
        sleep(min(wait or pause, patience.longest))
        pause = min(pause * 2, patience.longest)


def _post_event(opener: urllib.request.OpenerDirector, line: str, target: EventTarget) -> tuple[str, float | None]:
    """Post one event; return the problem, if any, and how long to wait where a retry makes sense."""
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
        wait = _retry_after_seconds(error.headers.get("Retry-After", "")) if error.code in RETRIABLE_STATUSES else None
        return f"{error.code} {error.reason}" + (f" ({said[:200]})" if said else ""), wait
    except urllib.error.URLError as error:
        return str(error.reason), 0.0
    except (OSError, HTTPException) as error:
        return str(error) or type(error).__name__, 0.0


def _retry_after_seconds(text: str) -> float:
    """Parse Retry-After; 0 where it is not a number of seconds."""
    return float(text) if text.isdigit() else 0.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects: a redirected POST would arrive as an empty GET, and the key at another host."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Reject the redirect."""


class UnsentEvents(msgspec.Struct, frozen=True):
    """An interrupted delivery: the hashes of accepted events, and the events still to send."""

    taken: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def send_with_backlog(lines: Iterable[str], target: EventTarget, folder: Path) -> int:
    """Send events left from an earlier delivery, then those it had not sent; return how many were accepted."""
    file = folder / f"{_short_hash(target.url)}.json"
    before = _read_unsent(file)
    known = set(before.taken)
    todo = list(dict.fromkeys((*before.waiting, *(line for line in lines if _short_hash(line) not in known))))
    begun: list[str] = []
    try:
        sent = send_events(_record_begun(todo, begun), target)
    except LineageError as error:
        # Whoever refuses an event has seen it; whoever is away gets it later.
        waiting = todo[len(begun) - (not isinstance(error, EventRejected)) :]
        _write_unsent(file, UnsentEvents((*before.taken, *map(_short_hash, begun[:-1])), tuple(waiting)))
        rest = f"; {len(waiting)} are kept in {file} and are sent first the next time" if waiting else ""
        raise LineageError(f"{error}{rest}") from None
    file.unlink(missing_ok=True)
    return sent


def _record_begun(lines: Iterable[str], begun: list[str]) -> Iterator[str]:
    for line in lines:
        begun.append(line)
        yield line


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _read_unsent(file: Path) -> UnsentEvents:
    """Read the unsent events; a broken file counts as empty."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=UnsentEvents)
    except (FileNotFoundError, msgspec.DecodeError):
        return UnsentEvents()


def _write_unsent(file: Path, unsent: UnsentEvents) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".new")
    temporary.write_bytes(msgspec.json.encode(unsent))
    temporary.replace(file)
