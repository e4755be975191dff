"""Sinks of alerts: a file, a webhook, Slack or a mail server; which alerts each takes, and the message it gets.

A sink takes an alert or returns why not, in words without secrets. Names in a message are untrusted text.
"""

import json
import os
import re
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from fnmatch import fnmatchcase
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any

import msgspec

from lineage_pipeline.alerts.alert import Alert, AlertKind
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
        reason = f"the variable {name} is not set" if name else "its settings name no variable for the address"
        raise LineageError(f"sink {sink.name}: {reason}")
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
    reason = f"refused {len(refused)} of {len(to)} recipients ({', '.join(map(str, codes))})"
    return SinkRefusal(reason, final=codes[0] >= PERMANENT_SMTP_CODE, left=tuple(refused))


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


LINE_LENGTH, MAIL_TEXT_LENGTH, SLACK_TEXT_LENGTH, SLACK_BLOCK_LIMIT = 300, 20_000, 2_600, 3_000
"""How long a line, the findings of a mail and a block of Slack may be, and what Slack takes of one after escapes."""

ALERT_SCHEMA_VERSION = 1


LOG_COMMAND = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.I)
"""Log prefixes that CI systems interpret as commands."""


def escape_line(text: str, length: int = LINE_LENGTH) -> str:
    """Return a text for one line: invisible, line-ending and control characters are escaped."""
    text = LOG_COMMAND.sub(r"\\u0023", text[: 4 * length])
    shown = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def format_title(alert: Alert) -> str:
    """Return one line that says what happened."""
    where = f" in {alert.partition}" if alert.partition else ""
    word = {AlertKind.FAILED: "failed", AlertKind.RECOVERED: "passes again"}[alert.kind]
    level = f"[{alert.gravity.value}] " if alert.kind is AlertKind.FAILED else "[ok] "
    return escape_line(f"{level}{alert.asset}: {alert.check} {word}{where}")


def format_log_line(alert: Alert) -> str:
    """Format an alert as one log line."""
    shown = f"{format_title(alert)}: {alert.description}" if alert.description else format_title(alert)
    return escape_line(shown, 3 * LINE_LENGTH)


def format_document(alert: Alert) -> dict[str, Any]:
    """Format an alert as a JSON document."""
    return {
        "schema_version": ALERT_SCHEMA_VERSION,
        "id": alert.id,
        "kind": alert.kind.value,
        "severity": alert.gravity.value,
        "asset": alert.asset,
        "check": alert.check,
        "repository": alert.repository,
        "partition": alert.partition,
        "since": alert.since,
        "title": format_title(alert),
        "description": alert.description,
        "findings": alert.findings,
        "owners": list(alert.owners),
        "run": alert.run,
        "link": alert.link,
        "at": _alert_time(alert).isoformat(),
    }


def format_slack(alert: Alert) -> dict[str, Any]:
    """Format an alert for a Slack webhook; names are plain text, which Slack does not interpret."""
    sign = {AlertSeverity.ERROR: ":red_circle:", AlertSeverity.WARN: ":large_yellow_circle:"}[alert.gravity]
    mark = ":large_green_circle:" if alert.kind is AlertKind.RECOVERED else sign
    blocks: list[dict[str, Any]] = [
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": f"{mark} {escape_mrkdwn(format_title(alert))}", "verbatim": True},
        },
    ]
    blocks += [
        {"type": "section", "text": {"type": "plain_text", "text": escape_slack(text), "emoji": False}}
        for text in (escape_line(alert.description, SLACK_TEXT_LENGTH), _format_block(alert.findings))
        if text
    ]
    footer = [text for text in (_format_owners(alert), f"run {alert.run}" if alert.run else "") if text]
    elements: list[dict[str, Any]] = [
        {"type": "plain_text", "text": escape_slack(escape_line(text)), "emoji": False} for text in footer
    ]
    if alert.link:
        elements.append({"type": "mrkdwn", "text": f"<{escape_link(alert.link)}|open in Dagster>"})
    if elements:
        blocks.append({"type": "context", "elements": elements})
    return {"text": escape_mrkdwn(format_title(alert)), "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def escape_mrkdwn(text: str) -> str:
    """Return a text that Slack shows as it is: no mention, link, markup or emoji."""
    # A zero-width space breaks what is left of the mark-up without being seen.
    return "".join(f"\u200b{sign}\u200b" if sign in "*_~`:" else sign for sign in escape_slack(escape_line(text)))


def escape_slack(text: str) -> str:
    """Escape the characters of Slack mentions and links, and cut to the length of a block."""
    cut = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return cut if len(cut) <= SLACK_BLOCK_LIMIT else cut[: SLACK_BLOCK_LIMIT - 1] + "…"


def escape_link(address: str) -> str:
    """Return an address that cannot end the link around it."""
    return address.replace("|", "%7C").replace(">", "%3E").replace("<", "%3C")


def format_mail(alert: Alert, sender: str, recipients: list[str]) -> EmailMessage:
    """Format an alert as a mail; names reach headers only as one line of text."""
    message = EmailMessage()
    message["From"], message["To"] = sender, ", ".join(recipients)
    message["Subject"] = escape_line(format_title(alert), 200)
    message["Date"] = format_datetime(_alert_time(alert))
    domain = sender.rpartition("@")[2].strip("> ") or "localhost"
    message["Message-ID"] = f"<{alert.id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    since = f"It failed in {escape_line(alert.since)}." if alert.since and alert.since != alert.partition else ""
    parts = [
        escape_line(alert.description, MAIL_TEXT_LENGTH),
        since,
        _format_block(alert.findings, MAIL_TEXT_LENGTH),
        _format_owners(alert),
        alert.link,
    ]
    message.set_content("\n\n".join(part for part in (format_title(alert), *parts) if part) + "\n")
    return message


def _format_owners(alert: Alert) -> str:
    return f"owners: {', '.join(map(escape_line, alert.owners))}" if alert.owners else ""


def _format_block(text: str, length: int = SLACK_TEXT_LENGTH) -> str:
    """Return some escaped lines, limited in number, with a note where they are cut."""
    lines: list[str] = []
    room = length - 40
    for number, one in enumerate(text.splitlines()):
        shown = escape_line(one, 1_000)
        room -= len(shown) + 1
        if room < 0:
            left = len(text.splitlines()) - number
            return "\n".join([*lines, f"… and {left} more lines"])
        lines.append(shown)
    return "\n".join(lines)


def _alert_time(alert: Alert) -> datetime:
    return datetime.fromtimestamp(int(alert.at), UTC)
