"""String literals of Python as they are written: which characters stand for themselves, and where fields are."""

import re
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from lineage_pipeline.discover.hosts.values import Part

OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
BETWEEN = re.compile(r"(?:\s|\\\r?\n|#[^\n]*|[()])+")
ESCAPE = re.compile(r"\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\r?\n|.)", re.DOTALL)
TELLING = re.compile(r"[\\{}'\"]")
"""What may end a literal, or begin a field or an escape."""

BRACKETS = {"(": ")", "[": "]", "{": "}"}


class Field(msgspec.Struct, frozen=True):
    """A field of a formatted string: the expression in it, where that stands, and where the field ends."""

    expression: str
    at: int
    end: int


Piece = Part | Field


def pieces_of(written: str, at: int) -> list[Piece] | None:
    """Give the parts of one literal or of several in a row, or None where it is something else."""
    found: list[Piece] = []
    position = 0
    while position < len(written):
        between = BETWEEN.match(written, position)
        if between:
            position = between.end()
            continue
        opening = OPENING.match(written, position)
        if opening is None or "b" in opening[1].lower():
            return None
        end = _closing(written, opening)
        if end < 0:
            return None
        start = opening.end()
        found.extend(_body(written[start:end], at + start, opening[1].lower()))
        position = end + len(opening[2])
    return found


def _closing(written: str, opening: re.Match[str]) -> int:
    """Find the quotes that close a literal; those inside the fields of a formatted one do not."""
    quotes, position = opening[2], opening.end()
    formatted = "f" in opening[1].lower()
    while (found := TELLING.search(written, position)) is not None:
        position = found.start()
        if written.startswith(quotes, position):
            return position
        if formatted and written.startswith(("{{", "}}"), position):
            position += 2
        elif formatted and written[position] == "{":
            position = _behind_field(written, position)
        else:
            position += 2 if written[position] == "\\" else 1
    return -1


def _behind_field(written: str, position: int) -> int:
    """Give the offset behind a field that opens here."""
    depth = 0
    while position < len(written):
        sign = written[position]
        nested = OPENING.match(written, position) if sign in "'\"" else None
        if nested is not None:
            end = _closing(written, nested)
            if end < 0:
                return len(written)
            position = end + len(nested[2])
            continue
        depth += (sign in BRACKETS) - (sign in BRACKETS.values())
        position += 1
        if depth == 0:
            return position
    return position


def _body(body: str, at: int, prefix: str) -> Iterator[Piece]:
    plain = _raw if "r" in prefix else partial(unescaped, pattern=ESCAPE, meaning=_meaning)
    if "f" not in prefix:
        yield from plain(body, at)
        return
    done = position = 0
    while (found := TELLING.search(body, position)) is not None:
        position = found.start()
        if body.startswith(("{{", "}}"), position):
            yield from plain(body[done : position + 1], at + done)
            done = position = position + 2
        elif body[position] == "{":
            yield from plain(body[done:position], at + done)
            done = _behind_field(body, position)
            yield Field(_expression(body[position + 1 : done - 1]), at + position + 1, at + done)
            position = done
        else:
            escaped = body[position] == "\\" and "r" not in prefix and body[position + 1 : position + 2] not in "{}"
            position += 2 if escaped else 1
    yield from plain(body[done:], at + done)


def _raw(body: str, at: int) -> Iterator[Part]:
    if body:
        yield Part(body, at)


def unescaped(body: str, at: int, pattern: re.Pattern[str], meaning: Callable[[str], str]) -> Iterator[Part]:
    """Give the runs between escapes as they stand, and what each escape means."""
    done = 0
    for match in pattern.finditer(body):
        if match.start() > done:
            yield Part(body[done : match.start()], at + done)
        meant = meaning(match[0])
        if meant:
            yield Part(meant)
        done = match.end()
    if done < len(body):
        yield Part(body[done:], at + done)


SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _meaning(escape: str) -> str:
    """Give what an escape stands for; a line that is continued is nothing."""
    sign = escape[1]
    if sign in "\r\n":
        return ""
    if sign in SIMPLE:
        return SIMPLE[sign]
    if sign in "xuU" and len(escape) > 2:
        return chr(int(escape[2:], 16)) if int(escape[2:], 16) < 0x110000 else "?"
    if sign in "01234567":
        return chr(int(escape[1:], 8))
    return sign if sign in "\\'\"" else "?" if sign == "N" else escape


def _expression(field: str) -> str:
    """Give the expression of a field without conversion, format and the sign that repeats it."""
    depth, position = 0, 0
    while position < len(field):
        sign = field[position]
        nested = OPENING.match(field, position) if sign in "'\"" else None
        if nested is not None:
            end = _closing(field, nested)
            position = end + len(nested[2]) if end >= 0 else len(field)
            continue
        depth += (sign in BRACKETS) - (sign in BRACKETS.values())
        if depth == 0 and (sign == ":" or (sign == "!" and field[position + 1 : position + 2] != "=")):
            return field[:position]
        position += 1
    return field.rstrip().removesuffix("=")
