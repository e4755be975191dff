"""Where messages go: a file, an HTTP address, Slack, a mail server. A sink takes a message or says why not, in words
that hold no secret."""

import json
import os
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any

import msgspec

from lineage_pipeline.alerts.model import Alert, SinkOptions
from lineage_pipeline.alerts.routing import recipients
from lineage_pipeline.alerts.wording import document, mail, slack
from lineage_pipeline.vocabulary.errors import LineageError


class Refusal(msgspec.Struct, frozen=True):
    """Why a sink did not take a message, how many seconds it asks us to wait, and whether it never will.

    `left` names the recipients who do not have it, where others do.
    """

    reason: str
    wait: float = 0.0
    final: bool = False
    left: tuple[str, ...] = ()


class Surroundings(msgspec.Struct, frozen=True):
    """What a sink needs beyond its options: the environment with the secrets, a folder for its files, and a limit."""

    environ: Mapping[str, str]
    folder: Path
    timeout: float


UNACCEPTABLE = frozenset({400, 413, 415, 422})
"""Answers to a message itself, which another try would get again; others are about the address, the key or the day."""

LASTING = 500
"""Answers of a mail server from this code on will be the same at another try."""

Send = Callable[[Alert, SinkOptions, Surroundings], Refusal | None]


def send(alert: Alert, sink: SinkOptions, around: Surroundings) -> Refusal | None:
    """Hand a message to a sink; None where it was taken."""
    try:
        return SINKS[sink.kind](alert, sink, around)
    except LineageError as error:
        return Refusal(str(error))


def _secret(name: str, around: Surroundings, sink: SinkOptions) -> str:
    """Read a secret by the name of its variable, which is all that anybody is told."""
    value = around.environ.get(name, "") if name else ""
    if not value:
        told = f"the variable {name} is not set" if name else "its settings name no variable for the address"
        raise LineageError(f"sink {sink.name}: {told}")
    return value


def _log(alert: Alert, sink: SinkOptions, around: Surroundings) -> Refusal | None:
    """Append a line of JSON to a file."""
    file = around.folder / (sink.path or "alerts.ndjson")
    text = json.dumps(document(alert), ensure_ascii=True, sort_keys=True) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        return Refusal(f"{file}: {error.strerror}")
    return None


def _webhook(alert: Alert, sink: SinkOptions, around: Surroundings) -> Refusal | None:
    """Post the document; its id is the key by which a receiver tells a second delivery."""
    return _post(document(alert), alert, sink, around)


def _slack(alert: Alert, sink: SinkOptions, around: Surroundings) -> Refusal | None:
    return _post(slack(alert), alert, sink, around)


def _post(body: Mapping[str, Any], alert: Alert, sink: SinkOptions, around: Surroundings) -> Refusal | None:
    url = _secret(sink.url_env, around, sink)
    if not url.startswith(("http://", "https://")):
        raise LineageError(f"sink {sink.name}: {sink.url_env} holds no address that begins with http:// or https://")
    headers = {"Content-Type": "application/json", "Idempotency-Key": alert.id}
    if sink.token_env:
        headers["Authorization"] = f"Bearer {_secret(sink.token_env, around, sink)}"
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
        with opener.open(request, timeout=around.timeout) as answer:
            answer.read(1_000)
        return None
    except urllib.error.HTTPError as error:
        # The body is left out: a server may repeat the address, which is the secret, in it.
        with error:
            asked = error.headers.get("Retry-After", "")
        return Refusal(f"answered {error.code}", _seconds(asked), error.code in UNACCEPTABLE)
    except urllib.error.URLError as error:
        return Refusal(_network(error.reason))
    except (OSError, HTTPException, ValueError) as error:
        return Refusal(_network(error))


def _seconds(asked: str) -> float:
    """Read how long a server asks us to wait; other signs than 0 to 9 may count as digits, and are no number."""
    return float(asked) if asked.isascii() and asked.isdigit() else 0.0


def _network(error: object) -> str:
    """Say what the network did, without the address: the words of an error may repeat it."""
    if isinstance(error, TimeoutError | socket.timeout):
        return "did not answer in time"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or 'no reason given'}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return f"cannot be reached ({type(error).__name__})"


def _smtp(alert: Alert, sink: SinkOptions, around: Surroundings) -> Refusal | None:
    """Send a mail to the sink's recipients and the owners that it knows."""
    to = recipients(alert, sink)
    if not to or not sink.sender:
        missing = "recipient" if sink.sender else "sender"
        raise LineageError(f"sink {sink.name}: its settings name no {missing} for this message")
    message = mail(alert, sink.sender, to)
    try:
        with _server(sink, around) as server:
            if sink.username:
                server.login(sink.username, _secret(sink.password_env, around, sink))
            return _partly(server.send_message(message), to)
    except smtplib.SMTPResponseException as error:
        return Refusal(f"answered {error.smtp_code}")
    except smtplib.SMTPRecipientsRefused as error:
        codes = sorted({code for code, _ in error.recipients.values()})
        return Refusal(f"refused all recipients ({', '.join(map(str, codes))})")
    except smtplib.SMTPException as error:
        return Refusal(f"the mail server failed ({type(error).__name__})")
    except (OSError, ValueError) as error:
        return Refusal(_network(error))


def _partly(refused: Mapping[str, tuple[int, bytes]], to: list[str]) -> Refusal | None:
    """Say who did not get a mail that others got; whom the server does not know, it will not know later either."""
    if not refused:
        return None
    codes = sorted({code for code, _ in refused.values()})
    told = f"refused {len(refused)} of {len(to)} recipients ({', '.join(map(str, codes))})"
    return Refusal(told, final=codes[0] >= LASTING, left=tuple(refused))


def _server(sink: SinkOptions, around: Surroundings) -> smtplib.SMTP:
    """Connect, and turn encryption on where it is asked for; it is never left out in silence."""
    if sink.security == "tls":
        secure = ssl.create_default_context()
        return smtplib.SMTP_SSL(sink.host, sink.port, timeout=around.timeout, context=secure)
    server = smtplib.SMTP(sink.host, sink.port, timeout=around.timeout)
    if sink.security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except (smtplib.SMTPException, OSError):
            server.close()
            raise
    return server


SINKS: dict[str, Send] = {"log": _log, "webhook": _webhook, "slack": _slack, "smtp": _smtp}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a redirected POST would arrive as an empty GET, and the token at somebody else's door."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow nothing."""
