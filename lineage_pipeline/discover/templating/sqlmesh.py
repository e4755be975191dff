"""SQLMesh models: the MODEL block names the object, the last query makes it, `@macros` become values."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lineage_pipeline.discover.templating.pieces import Pieces, cut
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template, Templater
from lineage_pipeline.discover.templating.sqlmesh_project import SqlmeshProject, SqlmeshProjects, seed_columns
from lineage_pipeline.discover.templating.undefined import placeholder

HEAD = re.compile(r"(?>\s+|--[^\n]*\n|/\*.*?\*/)*+MODEL\s*\(", re.IGNORECASE | re.DOTALL)
PROPERTY = re.compile(r"(?:\A|,)\s*(name|kind|dialect)\s+(?:'([^']+)'|([\w.\"`@{}-]+))", re.IGNORECASE)
NAMED = re.compile(r"(?:name|dialect)\s+\Z", re.IGNORECASE)
LISTED = re.compile(r"\bcolumns\s*\(", re.IGNORECASE)
SEED = re.compile(r"\bpath\s+['\"]([^'\"]+)['\"]", re.IGNORECASE)
JINJA = re.compile(r"\bJINJA_(QUERY|STATEMENT)_BEGIN\s*;?(.*?)(?:\bJINJA_END\b\s*;?|\Z)", re.IGNORECASE | re.DOTALL)
MARKS = re.compile(r"\s*ON_VIRTUAL_UPDATE_(?:BEGIN|END)\s*\Z", re.IGNORECASE)
PARTS = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|\"[^\"]*\"|@@?\{?\w+\}?|[();]|[^-/'\"@();]+|.", re.DOTALL)
QUERY = re.compile(r"(?>\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*+(?:with|select|from|\()\b", re.IGNORECASE | re.DOTALL)
COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
VIEWS = frozenset({"VIEW"})
SILENT = frozenset({"EMBEDDED", "EXTERNAL"})
TIMES = re.compile(r"(?:start|end|latest|execution)_(ds|dt|date|ts|tstz|epoch|millis|hour)\Z")
BLANK = re.compile(r"[^\r\n]")
BOUNDS = ("start", "end", "execution")
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


class Span(NamedTuple):
    """A statement of a model: where it stands, and whether it is a template and the query of the model."""

    start: int
    end: int
    is_jinja: bool = False
    is_query: bool = False


class SqlmeshTemplater:
    """Renders SQLMesh models as far as their SQL."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._projects: SqlmeshProjects | None = None
        self._jinja: Templater | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        text = template.text
        head = HEAD.match(text)
        if head is None:
            return Rendered(text, (0, 0, len(text)))
        start = _closing(text, head.end())
        block = COMMENT.sub(lambda match: " " * len(match.group()), text[head.end() : start])
        said = {key.lower(): one or two for key, one, two in PROPERTY.findall(_own(block))}
        project = self._project(template)
        kind, name = said.get("kind", "VIEW").upper(), said.get("name") or project.name_of(template.path)
        pieces, problems = Pieces(), list[Problem]()
        values = {**project.variables, **template.variables, "this_model": name}
        for span in _spans(text, text.find(";", start - 1) + 1 or start):
            if text[span.start : span.end].lstrip().upper().startswith("@DEF"):
                _define(text[span.start : span.end], values)
                continue
            if span.is_query and kind in SILENT:
                continue
            if span.is_query:
                pieces.add(f"create {'view' if kind in VIEWS else 'table'} {name} as\n")
            if span.is_jinja:
                problems.extend(self._rendered(template, span, values, pieces))
            else:
                _fill(text, span.start, span.end, values, (pieces, problems))
            pieces.add("\n;\n")
        if kind == "SEED":
            self._seed(template, (name, block, head.end()), project, pieces)
        return Rendered(*pieces.done(), tuple(problems), dialect=said.get("dialect", "") or project.dialect)

    def _project(self, template: Template) -> SqlmeshProject:
        if self._projects is None or self._projects.library is not template.library:
            self._projects = SqlmeshProjects(template.library)
        return self._projects.of(template.path)

    def _rendered(self, template: Template, span: Span, values: Mapping[str, Any], into: Pieces) -> Iterator[Problem]:
        """Render a block of Jinja; all around it is blank, so that its places are those of the file."""
        if self._jinja is None:
            from lineage_pipeline.discover.templating.jinja import JinjaTemplater  # only those who need it pay for it

            self._jinja = JinjaTemplater()
        blank = BLANK.sub(" ", template.text[: span.start]) + template.text[span.start : span.end]
        times = {f"{bound}_{unit}": value.strip("'") for bound in BOUNDS for unit, value in VALUES.items()}
        known = {**times, **values, "var": lambda name, default=None: values.get(str(name).lower(), default)}
        result = self._jinja.render(Template(template.path, blank, known, "", template.library, template.limits))
        start = len(result.text) - len(result.text.lstrip())
        end = len(result.text.rstrip().rstrip(";"))
        into.add(result.text[start:end], cut(result.copies, start, end))
        yield from result.problems

    def _seed(self, template: Template, model: tuple[str, str, int], project: SqlmeshProject, pieces: Pieces) -> None:
        """Add the table that a seed becomes: of the columns that the model lists, or those of the file."""
        name, block, at = model
        listed, seed = LISTED.search(block), SEED.search(block)
        pieces.add(f"create table {name} (")
        if listed is not None:
            end = _closing(block, listed.end()) - 1
            pieces.copy(template.text[at + listed.end() : at + end], at + listed.end())
        elif seed is not None:
            columns = seed_columns(template.library, project, template.path, seed.group(1))
            said = ", ".join(f"{column} {kind}" for column, kind in columns)
            pieces.make(said, at + seed.start(1), len(seed.group(1)))
        pieces.add(")\n;\n")


def _own(block: str) -> str:
    """Give what a block says itself: no columns, arguments or descriptions, which may be called as anything."""
    depth, kept = 0, ""
    for match in PARTS.finditer(block):
        part = match.group()
        depth += (part in "([") - (part in ")]")
        said = part[0] in "'\"" and not (NAMED.search(kept) or kept.endswith("."))
        kept += " " if depth or said else part
    return kept


def _spans(text: str, at: int) -> Iterator[Span]:
    """Give the statements behind the block; the query is the one of Jinja that says so, or else the last of SQL."""
    spans: list[Span] = []
    for match in JINJA.finditer(text, at):
        spans.extend(Span(*one) for one in _statements(text, at, match.start()))
        if match.group(2).strip():
            spans.append(Span(match.start(2), match.end(2), True, match.group(1).upper() == "QUERY"))
        at = match.end()
    spans.extend(Span(*one) for one in _statements(text, at, len(text)))
    kept = [span for span in spans if not MARKS.match(text[span.start : span.end])]
    last = next((span for span in reversed(kept) if span.is_query), None)
    if last is None:
        last = next((span for span in reversed(kept) if QUERY.match(text[span.start : span.end])), None)
    return (span._replace(is_query=span is last) for span in kept)


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
    found = values.get(name, values.get(name.lower()))
    if found is not None:
        return str(found)
    time = TIMES.match(name.lower())
    if time is None:
        return None
    return VALUES[time.group(1)]


def _define(text: str, values: dict[str, Any]) -> None:
    inner = text[text.find("(") + 1 : text.rfind(")")]
    name, _, value = inner.partition(",")
    values[name.strip().lstrip("@")] = value.strip()


def _statements(text: str, at: int, stop: int) -> Iterator[tuple[int, int]]:
    """Give where the statements of a part of the text stand."""
    start = at
    for match in PARTS.finditer(text, at, stop):
        if match.group() == ";":
            if text[start : match.start()].strip():
                yield start, match.start()
            start = match.end()
    if text[start:stop].strip():
        yield start, stop


def _closing(text: str, at: int) -> int:
    """Give the offset behind the bracket that closes the block."""
    depth = 1
    for match in PARTS.finditer(text, at):
        depth += (match.group() == "(") - (match.group() == ")")
        if not depth:
            return match.end()
    return len(text)
