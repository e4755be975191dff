"""Escaping of names and texts from SQL, for terminals, logs, spreadsheets, Markdown, HTML and Mermaid; short forms."""

import re
from html import escape
from urllib.parse import quote

HIDDEN_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\ufffe\uffff"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""Invisible characters, control characters, line separators and bidirectional marks."""

LOG_COMMANDS = re.compile(r"\A\s*:(?=:)|#(?=#(?:vso|teamcity)?\[)", re.I)
"""Signs that make a log line a command: GitHub's at the start of a line, those of others anywhere."""

SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Prefixes that make a spreadsheet evaluate a cell."""

ELLIPSIS = "…"


def escape_hidden(text: str) -> str:
    r"""Escape characters that are invisible or act on a terminal or log, as `
    ` or `\u200b`.
    """
    shown = HIDDEN_CHARACTERS.sub(_escape_match, text) if HIDDEN_CHARACTERS.search(text) else text
    return LOG_COMMANDS.sub(_escape_match, shown) if "::" in shown or "##" in shown else shown


def _escape_match(match: "re.Match[str]") -> str:
    before, found = match[0][:-1], match[0][-1]
    number = f"\\x{ord(found):02x}" if ord(found) < 256 else f"\\u{ord(found):04x}"
    return before + SHORT_ESCAPES.get(found, number)


def shorten_middle(text: str, most: int) -> str:
    """Escape a text for a drawing, and replace its middle by an ellipsis where it is too long."""
    shown = escape_hidden(text if len(text) <= 4 * most else text[: 2 * most] + text[-2 * most :])
    if len(shown) <= most:
        return shown
    tail = most // 3
    return shown[: most - tail - 1] + ELLIPSIS + shown[-tail:]


def escape_formula(text: str) -> str:
    """Prefix a text with an apostrophe where a spreadsheet would evaluate it, also after blanks."""
    return f"'{text}" if text.startswith(FORMULA_PREFIXES) or text.lstrip().startswith(FORMULA_PREFIXES) else text


def escape_hidden_lines(text: str, kept: str = "\n") -> str:
    """Escape hidden characters, except line feeds or the characters given in `kept`."""
    return HIDDEN_CHARACTERS.sub(
        lambda match: match[0] if match[0] in kept else _escape_match(match), text.replace("\r\n", "\n")
    )


def escape_mermaid(text: str) -> str:
    """Escape a text for a quoted Mermaid label: all but letters, digits and harmless signs become codes.

    A directive counts anywhere, dollars enclose a formula, and words with colons are icons.
    """
    return re.sub(r"[^\w .,()/@…-]", lambda match: f"#{ord(match[0])};", text)


NAME_LENGTH = 160
"""Characters of a name that people are shown; machines get all of it."""


def shorten_end(text: str, length: int = NAME_LENGTH) -> str:
    """Cut a text that is too long for people, and mark the cut by an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


def escape_one_line(text: str, length: int = NAME_LENGTH) -> str:
    """Escape and shorten a text for one line of a terminal or a log."""
    return shorten_end(escape_hidden(text), length)


def escape_lines(text: str, most: int, length: int = 400) -> list[str]:
    """Return the non-empty lines of a text, escaped, shortened, and at most `most` of them."""
    found = [escape_one_line(line.rstrip(), length) for line in text.splitlines() if line.strip()]
    return found if len(found) <= most else [*found[:most], f"… and {len(found) - most} more lines"]


def format_code(text: str, length: int = NAME_LENGTH) -> str:
    """Format a text as inline code in Markdown, whatever backticks it holds."""
    line = escape_one_line(text, length)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    padding = " " if line[:1] in ("`", " ", "") or line[-1:] in ("`", " ") else ""
    return f"{fence}{padding}{line}{padding}{fence}"


def escape_table_cell(markdown: str) -> str:
    """Escape Markdown for a table cell: a bar ends a cell even inside code."""
    return markdown.replace("\\|", "|").replace("|", "\\|")


def format_fenced(language: str, body: str) -> str:
    """Format lines as a fenced block of Markdown that nothing in them can close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"


def escape_markup(text: str, length: int = NAME_LENGTH) -> str:
    """Escape and shorten a text for elements and quoted attributes of HTML or XML."""
    return escape(escape_one_line(text, length), quote=True)


def quote_path(path: str) -> str:
    """Quote a path as the relative part of a URI."""
    return quote(path, safe="/")


def escape_sarif_message(text: str) -> str:
    """Escape a text for a SARIF message, where `[words](address)` is a link."""
    return text.replace("](", "\\](")


def escape_command_value(text: str) -> str:
    """GitHub: escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_command_property(text: str) -> str:
    """GitHub: escape a property of a workflow command."""
    return escape_command_value(text).replace(":", "%3A").replace(",", "%2C")


def format_location(path: str, line: int | None) -> str:
    """Format a location as `path:line`, which editors can open."""
    return path if line is None else f"{path}:{line}"


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun: 1 object, 2 objects."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def collapse_whitespace(text: str) -> str:
    """Replace line breaks and runs of blanks by one blank."""
    return " ".join(text.split())
