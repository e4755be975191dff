"""Names are strangers' texts: how they are shown where a control character or a formula would do harm."""

import re

HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\ufffe\uffff"
    "\u180e\U000e0000-\U000e007f]"
)
"""Characters that steer a terminal, turn text around, end a line or are not to be seen at all."""

SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet would work out."""

ELLIPSIS = "…"


def visible(text: str) -> str:
    """Write characters that cannot be seen, or that do something, as a programmer would."""
    return HIDDEN.sub(_escaped, text) if HIDDEN.search(text) else text


def _escaped(match: "re.Match[str]") -> str:
    found = match[0]
    return SHORT.get(found) or (f"\\x{ord(found):02x}" if ord(found) < 256 else f"\\u{ord(found):04x}")


def short(text: str, most: int) -> str:
    """Give a text that fits a picture: visible, and with its middle left out where it is too long."""
    shown = visible(text if len(text) <= 4 * most else text[: 2 * most] + text[-2 * most :])
    if len(shown) <= most:
        return shown
    tail = most // 3
    return shown[: most - tail - 1] + ELLIPSIS + shown[-tail:]


def cell(text: str) -> str:
    """Give a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
