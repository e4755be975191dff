"""Names come from strangers' SQL: what each kind of document needs so that a name stays a name."""

import re
from html import escape
from urllib.parse import quote

from lineage_pipeline.export.escaping import visible

NAME_LENGTH = 160
"""How much of a name people are shown; machines get all of it."""


def shorten(text: str, length: int = NAME_LENGTH) -> str:
    """Cut a text that is too long for people, and say so by dots."""
    return text if len(text) <= length else text[: length - 1] + "…"


def plain(text: str, length: int = NAME_LENGTH) -> str:
    """Give a text for one line of a terminal or a log."""
    return shorten(visible(text), length)


def lines(text: str, most: int, length: int = 400) -> list[str]:
    """Give the lines of a longer text, harmless and not too many."""
    found = [plain(line.rstrip(), length) for line in text.splitlines() if line.strip()]
    return found if len(found) <= most else [*found[:most], f"… and {len(found) - most} more lines"]


def code(text: str, length: int = NAME_LENGTH) -> str:
    """Set a text as code in Markdown, whatever backticks it holds."""
    line = plain(text, length)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    padding = " " if line[:1] in ("`", " ", "") or line[-1:] in ("`", " ") else ""
    return f"{fence}{padding}{line}{padding}{fence}"


def cell(markdown: str) -> str:
    """Put Markdown into a cell of a table: a bar ends a cell even inside code."""
    return markdown.replace("\\|", "|").replace("|", "\\|")


def fenced(language: str, body: str) -> str:
    """Put lines into a block that nothing in them can close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"


def markup(text: str, length: int = NAME_LENGTH) -> str:
    """Give a text for HTML or XML, in elements and in quoted attributes."""
    return escape(plain(text, length), quote=True)


def address(path: str) -> str:
    """Give a path as the relative part of a URI."""
    return quote(path, safe="/")


def message(text: str) -> str:
    """Give a text for a message of SARIF, in which words in brackets with an address behind them are a link."""
    return text.replace("](", "\\](")


def command_value(text: str) -> str:
    """Give a text for the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Give a text for a property of a workflow command."""
    return command_value(text).replace(":", "%3A").replace(",", "%2C")
