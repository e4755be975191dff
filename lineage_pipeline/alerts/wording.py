"""A message as a line, as a document, as blocks of Slack and as a mail; names in it are strangers' texts."""

import re
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

from lineage_pipeline.alerts.model import Alert, Gravity, Kind

LINE, TEXT, SLACK_TEXT, SLACK_MOST = 300, 20_000, 2_600, 3_000
"""How long a line, the findings of a mail and a block of Slack may be, and what Slack takes of one after escapes."""

SCHEMA_VERSION = 1


COMMAND = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.I)
"""What makes a line of a log a command to who runs a build."""


def plain(text: str, length: int = LINE) -> str:
    """Give a text for one line: what cannot be seen, ends a line or steers a terminal is written as its number."""
    text = COMMAND.sub(r"\\u0023", text[: 4 * length])
    shown = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def title(alert: Alert) -> str:
    """Say in one line what happened."""
    where = f" in {alert.partition}" if alert.partition else ""
    word = {Kind.FAILED: "failed", Kind.RECOVERED: "passes again"}[alert.kind]
    level = f"[{alert.gravity.value}] " if alert.kind is Kind.FAILED else "[ok] "
    return plain(f"{level}{alert.asset}: {alert.check} {word}{where}")


def line(alert: Alert) -> str:
    """Give a message for a log: one line, whatever it holds."""
    told = f"{title(alert)}: {alert.description}" if alert.description else title(alert)
    return plain(told, 3 * LINE)


def document(alert: Alert) -> dict[str, Any]:
    """Give a message for machines, whole."""
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
        "title": title(alert),
        "description": alert.description,
        "findings": alert.findings,
        "owners": list(alert.owners),
        "run": alert.run,
        "link": alert.link,
        "at": _time(alert).isoformat(),
    }


def slack(alert: Alert) -> dict[str, Any]:
    """Give a message for an incoming webhook of Slack; names are plain text, which Slack does not interpret."""
    sign = {Gravity.ERROR: ":red_circle:", Gravity.WARN: ":large_yellow_circle:"}[alert.gravity]
    mark = ":large_green_circle:" if alert.kind is Kind.RECOVERED else sign
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": f"{mark} {mrkdwn(title(alert))}", "verbatim": True}},
    ]
    blocks += [
        {"type": "section", "text": {"type": "plain_text", "text": escaped(text), "emoji": False}}
        for text in (plain(alert.description, SLACK_TEXT), _block(alert.findings))
        if text
    ]
    footer = [text for text in (_owned(alert), f"run {alert.run}" if alert.run else "") if text]
    elements: list[dict[str, Any]] = [
        {"type": "plain_text", "text": escaped(plain(text)), "emoji": False} for text in footer
    ]
    if alert.link:
        elements.append({"type": "mrkdwn", "text": f"<{link(alert.link)}|open in Dagster>"})
    if elements:
        blocks.append({"type": "context", "elements": elements})
    return {"text": mrkdwn(title(alert)), "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def mrkdwn(text: str) -> str:
    """Give a text that Slack shows as it is: no mention, no link, no mark-up, no picture in place of a word."""
    # A zero-width space breaks what is left of the mark-up without being seen.
    return "".join(f"\u200b{sign}\u200b" if sign in "*_~`:" else sign for sign in escaped(plain(text)))


def escaped(text: str) -> str:
    """Give a text without the signs by which Slack knows mentions and links, cut to what a block takes."""
    cut = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return cut if len(cut) <= SLACK_MOST else cut[: SLACK_MOST - 1] + "…"


def link(address: str) -> str:
    """Give an address that cannot end the link that it stands in."""
    return address.replace("|", "%7C").replace(">", "%3E").replace("<", "%3C")


def mail(alert: Alert, sender: str, recipients: list[str]) -> EmailMessage:
    """Give a message as a mail; no name reaches a header but as text of one line."""
    message = EmailMessage()
    message["From"], message["To"] = sender, ", ".join(recipients)
    message["Subject"] = plain(title(alert), 200)
    message["Date"] = format_datetime(_time(alert))
    domain = sender.rpartition("@")[2].strip("> ") or "localhost"
    message["Message-ID"] = f"<{alert.id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    since = f"It failed in {plain(alert.since)}." if alert.since and alert.since != alert.partition else ""
    parts = [plain(alert.description, TEXT), since, _block(alert.findings, TEXT), _owned(alert), alert.link]
    message.set_content("\n\n".join(part for part in (title(alert), *parts) if part) + "\n")
    return message


def _owned(alert: Alert) -> str:
    return f"owners: {', '.join(map(plain, alert.owners))}" if alert.owners else ""


def _block(text: str, length: int = SLACK_TEXT) -> str:
    """Give some lines, each harmless, not too many, and say where they are cut."""
    lines: list[str] = []
    room = length - 40
    for number, one in enumerate(text.splitlines()):
        shown = plain(one, 1_000)
        room -= len(shown) + 1
        if room < 0:
            left = len(text.splitlines()) - number
            return "\n".join([*lines, f"… and {left} more lines"])
        lines.append(shown)
    return "\n".join(lines)


def _time(alert: Alert) -> datetime:
    return datetime.fromtimestamp(int(alert.at), UTC)
