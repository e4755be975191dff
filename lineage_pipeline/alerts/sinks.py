"""Sinks of alerts: a file, a webhook, Slack or a mail server, and which alerts each takes.

A sink takes an alert or returns why not, in words without secrets.
"""

import json
import os
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any

import msgspec

from lineage_pipeline.alerts.alert import Alert, AlertKind
from lineage_pipeline.alerts.messages import format_document, format_mail, format_slack
from lineage_pipeline.model.alerting import AlertSeverity, SinkOptions
from lineage_pipeline.model.errors import LineageError


def select_sinks(alert: Alert, sinks: Iterable[SinkOptions]) -> list[SinkOptions]:
    """Return the sinks that take an alert."""
    return [sink for sink in sinks if _accepts(sink, alert)]


def _accepts(sink: SinkOptions, alert: Alert) -> bool:
    if sink.severity is AlertSeverity.ERROR and alert.gravity is AlertSeverity.WARN:
        return False
    if alert.kind is AlertKind.RECOVERED and not sink.recoveries:
        return False
    if sink.kind == "smtp" and not mail_recipients(alert, sink):
        return False
    return (
        _matches_patterns(sink.owners, alert.owners)
        and _matches_patterns(sink.checks, [alert.check])
        and _matches_patterns(sink.repositories, [alert.repository])
    )


def _matches_patterns(patterns: Sequence[str], words: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(word, pattern) for word in words for pattern in patterns)


def mail_recipients(alert: Alert, sink: SinkOptions) -> list[str]:
    """Return the addresses of a mail: those of the sink, and those of the owners with a known address."""
    owned = [sink.addresses[owner] for owner in alert.owners if owner in sink.addresses]
    return list(dict.fromkeys([*sink.recipients, *owned]))


class SinkRefusal(msgspec.Struct, frozen=True):
    """Why a sink did not take an alert, how many seconds to wait, and whether it never will.

    `left` lists the recipients who did not get it, where others did.
    """

    reason: str
    wait: float = 0.0
    final: bool = False
    left: tuple[str, ...] = ()


class SinkContext(msgspec.Struct, frozen=True):
    """What a sink needs beyond its options: the environment with secrets, a folder for files, and a timeout."""

    environ: Mapping[str, str]
    folder: Path
    timeout: float


PERMANENT_STATUS_CODES = frozenset({400, 413, 415, 422})
"""HTTP status codes about the message itself, which a retry would get again."""

PERMANENT_SMTP_CODE = 500
"""From this SMTP code on, a retry gets the same answer."""

SendFunction = Callable[[Alert, SinkOptions, SinkContext], SinkRefusal | None]


def send_alert(alert: Alert, sink: SinkOptions, around: SinkContext) -> SinkRefusal | None:
    """Send an alert to a sink; None where it was taken."""
    try:
        return SINKS[sink.kind](alert, sink, around)
    except LineageError as error:
        return SinkRefusal(str(error))


def _read_secret(name: str, around: SinkContext, sink: SinkOptions) -> str:
    """Read a secret by the name of its environment variable, which is all that errors show."""
    value = around.environ.get(name, "") if name else ""
    if not value:
        told = f"the variable {name} is not set" if name else "its settings name no variable for the address"
        raise LineageError(f"sink {sink.name}: {told}")
    return value


def _send_to_log(alert: Alert, sink: SinkOptions, around: SinkContext) -> SinkRefusal | None:
    """Append a line of JSON to a file."""
    file = around.folder / (sink.path or "alerts.ndjson")
    text = json.dumps(format_document(alert), ensure_ascii=True, sort_keys=True) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        return SinkRefusal(f"{file}: {error.strerror}")
    return None


def _send_to_webhook(alert: Alert, sink: SinkOptions, around: SinkContext) -> SinkRefusal | None:
    """Post the document; its id lets the receiver detect a second delivery."""
    return _post_json(format_document(alert), alert, sink, around)


def _send_to_slack(alert: Alert, sink: SinkOptions, around: SinkContext) -> SinkRefusal | None:
    return _post_json(format_slack(alert), alert, sink, around)


def _post_json(body: Mapping[str, Any], alert: Alert, sink: SinkOptions, around: SinkContext) -> SinkRefusal | None:
    url = _read_secret(sink.url_env, around, sink)
    if not url.startswith(("http://", "https://")):
        raise LineageError(f"sink {sink.name}: {sink.url_env} holds no address that begins with http:// or https://")
    headers = {"Content-Type": "application/json", "Idempotency-Key": alert.id}
    if sink.token_env:
        headers["Authorization"] = f"Bearer {_read_secret(sink.token_env, around, sink)}"
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
        return SinkRefusal(f"answered {error.code}", _parse_retry_after(asked), error.code in PERMANENT_STATUS_CODES)
    except urllib.error.URLError as error:
        return SinkRefusal(_describe_network_error(error.reason))
    except (OSError, HTTPException, ValueError) as error:
        return SinkRefusal(_describe_network_error(error))


def _parse_retry_after(asked: str) -> float:
    """Parse how long a server asks us to wait; only ASCII digits are a number."""
    return float(asked) if asked.isascii() and asked.isdigit() else 0.0


def _describe_network_error(error: object) -> str:
    """Describe a network error without the address, which the error text may repeat."""
    if isinstance(error, TimeoutError | socket.timeout):
        return "did not answer in time"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or 'no reason given'}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return f"cannot be reached ({type(error).__name__})"


def _send_mail(alert: Alert, sink: SinkOptions, around: SinkContext) -> SinkRefusal | None:
    """Send a mail to the sink's recipients and the owners with a known address."""
    to = mail_recipients(alert, sink)
    if not to or not sink.sender:
        missing = "recipient" if sink.sender else "sender"
        raise LineageError(f"sink {sink.name}: its settings name no {missing} for this message")
    message = format_mail(alert, sink.sender, to)
    try:
        with _connect_smtp(sink, around) as server:
            if sink.username:
                server.login(sink.username, _read_secret(sink.password_env, around, sink))
            return _partial_refusal(server.send_message(message), to)
    except smtplib.SMTPResponseException as error:
        return SinkRefusal(f"answered {error.smtp_code}")
    except smtplib.SMTPRecipientsRefused as error:
        codes = sorted({code for code, _ in error.recipients.values()})
        return SinkRefusal(f"refused all recipients ({', '.join(map(str, codes))})")
    except smtplib.SMTPException as error:
        return SinkRefusal(f"the mail server failed ({type(error).__name__})")
    except (OSError, ValueError) as error:
        return SinkRefusal(_describe_network_error(error))


def _partial_refusal(refused: Mapping[str, tuple[int, bytes]], to: list[str]) -> SinkRefusal | None:
    """Return who did not get a mail that others got; unknown recipients stay unknown."""
    if not refused:
        return None
    codes = sorted({code for code, _ in refused.values()})
    told = f"refused {len(refused)} of {len(to)} recipients ({', '.join(map(str, codes))})"
    return SinkRefusal(told, final=codes[0] >= PERMANENT_SMTP_CODE, left=tuple(refused))


def _connect_smtp(sink: SinkOptions, around: SinkContext) -> smtplib.SMTP:
    """Connect to the mail server, with encryption where configured; it is never skipped silently."""
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


SINKS: dict[str, SendFunction] = {
    "log": _send_to_log,
    "webhook": _send_to_webhook,
    "slack": _send_to_slack,
    "smtp": _send_mail,
}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a redirected POST becomes an empty GET, and the token would reach another host."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow no redirect."""
