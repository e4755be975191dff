"""Formats an alert as a log line, a JSON document, Slack blocks or a mail; names in it are untrusted text."""

import re
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

from lineage_pipeline.alerts.alert import Alert, AlertKind
from lineage_pipeline.model.alerting import AlertSeverity

LINE, TEXT, SLACK_TEXT, SLACK_MOST = 300, 20_000, 2_600, 3_000
"""How long a line, the findings of a mail and a block of Slack may be, and what Slack takes of one after escapes."""

SCHEMA_VERSION = 1


LOG_COMMAND = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.I)
"""Log prefixes that CI systems interpret as commands."""


def escape_line(text: str, length: int = LINE) -> str:
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
    told = f"{format_title(alert)}: {alert.description}" if alert.description else format_title(alert)
    return escape_line(told, 3 * LINE)


def format_document(alert: Alert) -> dict[str, Any]:
    """Format an alert as a JSON document."""
    return {
        "schema_version": SCHEMA_VERSION,
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
        for text in (escape_line(alert.description, SLACK_TEXT), _format_block(alert.findings))
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
    return cut if len(cut) <= SLACK_MOST else cut[: SLACK_MOST - 1] + "…"


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
        escape_line(alert.description, TEXT),
        since,
        _format_block(alert.findings, TEXT),
        _format_owners(alert),
        alert.link,
    ]
    message.set_content("\n\n".join(part for part in (format_title(alert), *parts) if part) + "\n")
    return message


def _format_owners(alert: Alert) -> str:
    return f"owners: {', '.join(map(escape_line, alert.owners))}" if alert.owners else ""


def _format_block(text: str, length: int = SLACK_TEXT) -> str:
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
