"""String literals of Python: unescaped text with offsets, and the fields of formatted strings."""

import re
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from lineage_pipeline.discover.embedded_sql.text_parts import TextPart

LITERAL_OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
LITERAL_GAP = re.compile(r"(?:\s|\\\r?\n|#[^\n]*|[()])+")
PYTHON_ESCAPE = re.compile(
    r"\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\r?\n|.)", re.DOTALL
)
SIGNIFICANT_CHARACTER = re.compile(r"[\\{}'\"]")
"""A character that may end a literal, or begin a field or an escape."""

BRACKET_PAIRS = {"(": ")", "[": "]", "{": "}"}


class FormatField(msgspec.Struct, frozen=True):
    """A field of a formatted string: its expression with offset, and where the field ends."""

    expression: str
    at: int
    end: int


LiteralPiece = TextPart | FormatField


def parse_literals(written: str, at: int) -> list[LiteralPiece] | None:
    """Return the parts of one literal or of several adjacent ones, or None where it is something else."""
    found: list[LiteralPiece] = []
    position = 0
    while position < len(written):
        between = LITERAL_GAP.match(written, position)
        if between:
            position = between.end()
            continue
        opening = LITERAL_OPENING.match(written, position)
        if opening is None or "b" in opening[1].lower():
            return None
        end = _find_closing_quote(written, opening)
        if end < 0:
            return None
        start = opening.end()
        found.extend(_parse_body(written[start:end], at + start, opening[1].lower()))
        position = end + len(opening[2])
    return found


def _find_closing_quote(written: str, opening: re.Match[str]) -> int:
    """Return the offset of the closing quote; quotes inside fields of a formatted string do not count."""
    quotes, position = opening[2], opening.end()
    formatted = "f" in opening[1].lower()
    while (found := SIGNIFICANT_CHARACTER.search(written, position)) is not None:
        position = found.start()
        if written.startswith(quotes, position):
            return position
        if formatted and written.startswith(("{{", "}}"), position):
            position += 2
        elif formatted and written[position] == "{":
            position = _skip_field(written, position)
        else:
            position += 2 if written[position] == "\\" else 1
    return -1


def _skip_field(written: str, position: int) -> int:
    """Return the offset behind a field that opens here."""
    depth = 0
    while position < len(written):
        sign = written[position]
        nested = LITERAL_OPENING.match(written, position) if sign in "'\"" else None
        if nested is not None:
            end = _find_closing_quote(written, nested)
            if end < 0:
                return len(written)
            position = end + len(nested[2])
            continue
        depth += (sign in BRACKET_PAIRS) - (sign in BRACKET_PAIRS.values())
        position += 1
        if depth == 0:
            return position
    return position


def _parse_body(body: str, at: int, prefix: str) -> Iterator[LiteralPiece]:
    plain = _raw_part if "r" in prefix else partial(unescape_parts, pattern=PYTHON_ESCAPE, meaning=_python_escape_value)
    if "f" not in prefix:
        yield from plain(body, at)
        return
    done = position = 0
    while (found := SIGNIFICANT_CHARACTER.search(body, position)) is not None:
        position = found.start()
        if body.startswith(("{{", "}}"), position):
            yield from plain(body[done : position + 1], at + done)
            done = position = position + 2
        elif body[position] == "{":
            yield from plain(body[done:position], at + done)
            done = _skip_field(body, position)
            yield FormatField(_field_expression(body[position + 1 : done - 1]), at + position + 1, at + done)
            position = done
        else:
            escaped = body[position] == "\\" and "r" not in prefix and body[position + 1 : position + 2] not in "{}"
            position += 2 if escaped else 1
    yield from plain(body[done:], at + done)


def _raw_part(body: str, at: int) -> Iterator[TextPart]:
    if body:
        yield TextPart(body, at)


def unescape_parts(body: str, at: int, pattern: re.Pattern[str], meaning: Callable[[str], str]) -> Iterator[TextPart]:
    """Yield the runs between escapes unchanged, and the meaning of each escape."""
    done = 0
    for match in pattern.finditer(body):
        if match.start() > done:
            yield TextPart(body[done : match.start()], at + done)
        meant = meaning(match[0])
        if meant:
            yield TextPart(meant)
        done = match.end()
    if done < len(body):
        yield TextPart(body[done:], at + done)


PYTHON_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _python_escape_value(escape: str) -> str:
    """Return the text of an escape; a line continuation is empty."""
    sign = escape[1]
    if sign in "\r\n":
        return ""
    if sign in PYTHON_SIMPLE_ESCAPES:
        return PYTHON_SIMPLE_ESCAPES[sign]
    if sign in "xuU" and len(escape) > 2:
        return chr(int(escape[2:], 16)) if int(escape[2:], 16) < 0x110000 else "?"
    if sign in "01234567":
        return chr(int(escape[1:], 8))
    return sign if sign in "\\'\"" else "?" if sign == "N" else escape


def _field_expression(field: str) -> str:
    """Return the expression of a field without conversion, format and the `=` of self-documenting fields."""
    depth, position = 0, 0
    while position < len(field):
        sign = field[position]
        nested = LITERAL_OPENING.match(field, position) if sign in "'\"" else None
        if nested is not None:
            end = _find_closing_quote(field, nested)
            position = end + len(nested[2]) if end >= 0 else len(field)
            continue
        depth += (sign in BRACKET_PAIRS) - (sign in BRACKET_PAIRS.values())
        if depth == 0 and (sign == ":" or (sign == "!" and field[position + 1 : position + 2] != "=")):
            return field[:position]
        position += 1
    return field.rstrip().removesuffix("=")
