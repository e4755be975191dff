"""Names are strangers' texts: how they are shown where a control character or a formula would do harm."""

import re

HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\ufffe\uffff"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""Characters that steer a terminal, turn text around, end a line or are not to be seen at all."""

COMMAND = re.compile(r"\A\s*:(?=:)|#(?=#(?:vso|teamcity)?\[)", re.I)
"""Signs that make a line of a log a command: at its beginning for GitHub's runners, anywhere for those of others."""

SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet would work out."""

ELLIPSIS = "…"


def visible(text: str) -> str:
    """Write characters that cannot be seen, or that do something, as a programmer would."""
    shown = HIDDEN.sub(_escaped, text) if HIDDEN.search(text) else text
    return COMMAND.sub(_escaped, shown) if "::" in shown or "##" in shown else shown


def _escaped(match: "re.Match[str]") -> str:
    before, found = match[0][:-1], match[0][-1]
    number = f"\\x{ord(found):02x}" if ord(found) < 256 else f"\\u{ord(found):04x}"
    return before + SHORT.get(found, number)


def short(text: str, most: int) -> str:
    """Give a text that fits a picture: visible, and with its middle left out where it is too long."""
    shown = visible(text if len(text) <= 4 * most else text[: 2 * most] + text[-2 * most :])
    if len(shown) <= most:
        return shown
    tail = most // 3
    return shown[: most - tail - 1] + ELLIPSIS + shown[-tail:]


def cell(text: str) -> str:
    """Give a text that no spreadsheet takes for a formula, whatever blanks are before it."""
    return f"'{text}" if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def lines(text: str, kept: str = "\n") -> str:
    """Keep the lines of a text, and other signs that are named; whatever else steers a terminal is written out."""
    return HIDDEN.sub(lambda match: match[0] if match[0] in kept else _escaped(match), text.replace("\r\n", "\n"))


def mermaid(text: str) -> str:
    """Give a text for a quoted label of Mermaid: what is not a letter, digit or harmless sign is a number.

    A directive counts wherever it stands, between dollars there is a formula, and words with colons are icons.
    """
    return re.sub(r"[^\w .,()/@…-]", lambda match: f"#{ord(match[0])};", text)
