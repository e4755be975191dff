"""SQLMesh models: the MODEL block names the object, the last query makes it, `@macros` become values."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import placeholder

HEAD = re.compile(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*MODEL\s*\(", re.IGNORECASE | re.DOTALL)
PROPERTY = re.compile(r"\b(name|kind|dialect)\s+(?:'([^']+)'|([\w.\"`@{}-]+))", re.IGNORECASE)
PARTS = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|@@?\{?\w+\}?|[();]|[^-/'\"@();]+|.", re.DOTALL)
QUERY = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*(?:with|select|from|\()\b", re.IGNORECASE | re.DOTALL)
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
VIEWS = frozenset({"VIEW"})
SILENT = frozenset({"EMBEDDED", "EXTERNAL", "SEED"})
TIMES = re.compile(r"(?:start|end|latest|execution)_(ds|dt|date|ts|tstz|epoch|millis|hour)\Z")
VALUES = {
    "ds": "'2000-01-01'",
    "ts": "'2000-01-01 00:00:00'",
    "tstz": "'2000-01-01 00:00:00+00:00'",
    "epoch": "0",
    "millis": "0",
    "hour": "0",
    "date": "cast('2000-01-01' as date)",
    "dt": "cast('2000-01-01' as timestamp)",
}
"""What stands for the bounds of an interval, by unit."""


def is_model(text: str) -> bool:
    """Say whether a text begins with a MODEL block."""
    return HEAD.match(text) is not None


class SqlmeshTemplater:
    """Renders SQLMesh models as far as their SQL."""

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        text = template.text
        head = HEAD.match(text)
        if head is None:
            return Rendered(text, (0, 0, len(text)))
        start = _closing(text, head.end())
        block = COMMENT.sub(" ", text[head.end() : start])
        said = {key.lower(): one or two for key, one, two in PROPERTY.findall(block)}
        kind = said.get("kind", "VIEW").upper()
        pieces, problems = Pieces(), list[Problem]()
        statements = list(_statements(text, text.find(";", start - 1) + 1 or start))
        query = next((span for span in reversed(statements) if QUERY.match(text[span[0] : span[1]])), None)
        values = {**template.variables, "this_model": said.get("name", "model")}
        for first, last in statements:
            if text[first:last].lstrip().upper().startswith("@DEF"):
                _define(text[first:last], values)
                continue
            if (first, last) == query:
                if kind in SILENT:
                    continue
                pieces.add(f"create {'view' if kind in VIEWS else 'table'} {said.get('name', 'model')} as\n")
            _fill(text, first, last, values, (pieces, problems))
            pieces.add("\n;\n")
        return Rendered(*pieces.done(), tuple(problems), dialect=said.get("dialect", ""))


def _fill(text: str, start: int, end: int, values: Mapping[str, Any], into: tuple[Pieces, list[Problem]]) -> None:
    """Add a statement with values in the place of its macros."""
    pieces, problems = into
    for match in PARTS.finditer(text, start, end):
        part = match.group()
        if not part.startswith("@") or len(part) < 2:
            pieces.copy(part, match.start())
            continue
        name = part.strip("@{}")
        value = _value(name, values)
        if value is None and text[match.end() : match.end() + 1] == "(":
            value = name  # a call stays one: its arguments are what matters
        if value is None:
            problems.append(Problem("UNDEFINED_VARIABLE", {"name": name}, match.start()))
        pieces.make(placeholder(name) if value is None else value, match.start(), len(part))


def _value(name: str, values: Mapping[str, Any]) -> str | None:
    if name in values:
        return str(values[name])
    time = TIMES.match(name.lower())
    if time is None:
        return None
    return VALUES[time.group(1)]


def _define(text: str, values: dict[str, Any]) -> None:
    inner = text[text.find("(") + 1 : text.rfind(")")]
    name, _, value = inner.partition(",")
    values[name.strip().lstrip("@")] = value.strip()


def _statements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Give where the statements behind the block stand."""
    start = at
    for match in PARTS.finditer(text, at):
        if match.group() == ";":
            if text[start : match.start()].strip():
                yield start, match.start()
            start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _closing(text: str, at: int) -> int:
    """Give the offset behind the bracket that closes the block."""
    depth = 1
    for match in PARTS.finditer(text, at):
        depth += (match.group() == "(") - (match.group() == ")")
        if not depth:
            return match.end()
    return len(text)
