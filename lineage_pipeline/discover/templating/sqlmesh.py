"""SQLMesh: the MODEL block names the object, the last query defines it, `@macros` become values of the project."""

import csv
import io
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import yaml

from lineage_pipeline.discover.templating.pieces import Pieces, slice_copies
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template, Templater
from lineage_pipeline.discover.templating.undefined import placeholder_identifier
from lineage_pipeline.files.bounded_yaml import load_yaml

MODEL_HEAD = re.compile(r"(?>\s+|--[^\n]*\n|/\*.*?\*/)*+MODEL\s*\(", re.IGNORECASE | re.DOTALL)
MODEL_PROPERTY = re.compile(r"(?:\A|,)\s*(name|kind|dialect)\s+(?:'([^']+)'|([\w.\"`@{}-]+))", re.IGNORECASE)
NAME_KEYWORD = re.compile(r"(?:name|dialect)\s+\Z", re.IGNORECASE)
COLUMNS_LIST = re.compile(r"\bcolumns\s*\(", re.IGNORECASE)
SEED_PATH = re.compile(r"\bpath\s+['\"]([^'\"]+)['\"]", re.IGNORECASE)
JINJA_BLOCK = re.compile(
    r"\bJINJA_(QUERY|STATEMENT)_BEGIN\s*;?(.*?)(?:\bJINJA_END\b\s*;?|\Z)", re.IGNORECASE | re.DOTALL
)
VIRTUAL_UPDATE_MARK = re.compile(r"\s*ON_VIRTUAL_UPDATE_(?:BEGIN|END)\s*\Z", re.IGNORECASE)
MODEL_TOKENS = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|\"[^\"]*\"|@@?\{?\w+\}?|[();]|[^-/'\"@();]+|.", re.DOTALL
)
QUERY_START = re.compile(r"(?>\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*+(?:with|select|from|\()\b", re.IGNORECASE | re.DOTALL)
MODEL_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
VIEW_KINDS = frozenset({"VIEW"})
OBJECTLESS_MODEL_KINDS = frozenset({"EMBEDDED", "EXTERNAL"})
TIME_MACRO = re.compile(r"(?:start|end|latest|execution)_(ds|dt|date|ts|tstz|epoch|millis|hour)\Z")
NON_NEWLINE = re.compile(r"[^\r\n]")
INTERVAL_BOUNDS = ("start", "end", "execution")
TIME_VALUES = {
    "ds": "'2000-01-01'",
    "ts": "'2000-01-01 00:00:00'",
    "tstz": "'2000-01-01 00:00:00+00:00'",
    "epoch": "0",
    "millis": "0",
    "hour": "0",
    "date": "cast('2000-01-01' as date)",
    "dt": "cast('2000-01-01' as timestamp)",
}
"""Values of the interval bounds by unit."""


def is_sqlmesh_model(text: str) -> bool:
    """Return whether a text begins with a MODEL block."""
    return MODEL_HEAD.match(text) is not None


class ModelStatement(NamedTuple):
    """A statement of a model: its span, whether it is Jinja, and whether it is the query of the model."""

    start: int
    end: int
    is_jinja: bool = False
    is_query: bool = False


class SqlmeshProject(msgspec.Struct, frozen=True):
    """The folder of a project, and the defaults of its configuration."""

    root: str = ""
    dialect: str = ""
    variables: Mapping[str, Any] = {}

    def default_name(self, path: str) -> str:
        """Return the name of a model without one by its path: `models/<schema>/<name>.sql`."""
        inner = posixpath.relpath(posixpath.splitext(path)[0], self.root or ".").split("/")
        return ".".join(inner[1:] if inner[0] == MODELS_FOLDER and len(inner) > 1 else inner[-1:])


class SqlmeshTemplater:
    """Renders the SQL of SQLMesh models."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._projects: SqlmeshProjects | None = None
        self._jinja: Templater | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        text = template.text
        head = MODEL_HEAD.match(text)
        if head is None:
            return Rendered(text, (0, 0, len(text)))
        start = _find_block_end(text, head.end())
        block = MODEL_COMMENT.sub(lambda match: " " * len(match.group()), text[head.end() : start])
        said = {key.lower(): one or two for key, one, two in MODEL_PROPERTY.findall(_own_properties(block))}
        project = self._project(template)
        kind, name = said.get("kind", "VIEW").upper(), said.get("name") or project.default_name(template.path)
        pieces, problems = Pieces(), list[Problem]()
        values = {**project.variables, **template.variables, "this_model": name}
        for span in _find_statements(text, text.find(";", start - 1) + 1 or start):
            if text[span.start : span.end].lstrip().upper().startswith("@DEF"):
                _apply_def(text[span.start : span.end], values)
                continue
            if span.is_query and kind in OBJECTLESS_MODEL_KINDS:
                continue
            if span.is_query:
                pieces.add(f"create {'view' if kind in VIEW_KINDS else 'table'} {name} as\n")
            if span.is_jinja:
                problems.extend(self._render_jinja_block(template, span, values, pieces))
            else:
                _fill_macros(text, span.start, span.end, values, (pieces, problems))
            pieces.add("\n;\n")
        if kind == "SEED":
            self._render_seed(template, (name, block, head.end()), project, pieces)
        return Rendered(*pieces.done(), tuple(problems), dialect=said.get("dialect", "") or project.dialect)

    def _project(self, template: Template) -> SqlmeshProject:
        if self._projects is None or self._projects.library is not template.library:
            self._projects = SqlmeshProjects(template.library)
        return self._projects.of(template.path)

    def _render_jinja_block(
        self, template: Template, span: ModelStatement, values: Mapping[str, Any], into: Pieces
    ) -> Iterator[Problem]:
        """Render a Jinja block; the text around it is blanked, so that offsets stay valid."""
        if self._jinja is None:
            from lineage_pipeline.discover.templating.jinja import JinjaTemplater  # only those who need it pay for it

            self._jinja = JinjaTemplater()
        blank = NON_NEWLINE.sub(" ", template.text[: span.start]) + template.text[span.start : span.end]
        times = {
            f"{bound}_{unit}": value.strip("'") for bound in INTERVAL_BOUNDS for unit, value in TIME_VALUES.items()
        }
        known = {**times, **values, "var": lambda name, default=None: values.get(str(name).lower(), default)}
        result = self._jinja.render(
            Template(
                path=template.path,
                text=blank,
                variables=known,
                dialect="",
                library=template.library,
                limits=template.limits,
            )
        )
        start = len(result.text) - len(result.text.lstrip())
        end = len(result.text.rstrip().rstrip(";"))
        into.add(result.text[start:end], slice_copies(result.copies, start, end))
        yield from result.problems

    def _render_seed(
        self, template: Template, model: tuple[str, str, int], project: SqlmeshProject, pieces: Pieces
    ) -> None:
        """Add the table of a seed, with the columns listed in the model or in the file."""
        name, block, at = model
        listed, seed = COLUMNS_LIST.search(block), SEED_PATH.search(block)
        pieces.add(f"create table {name} (")
        if listed is not None:
            end = _find_block_end(block, listed.end()) - 1
            pieces.copy(template.text[at + listed.end() : at + end], at + listed.end())
        elif seed is not None:
            columns = read_seed_columns(template.library, project, template.path, seed.group(1))
            said = ", ".join(f"{column} {kind}" for column, kind in columns)
            pieces.make(said, at + seed.start(1), len(seed.group(1)))
        pieces.add(")\n;\n")


def _own_properties(block: str) -> str:
    """Return the block without nested columns, arguments or descriptions, whose names may be anything."""
    depth, kept = 0, ""
    for match in MODEL_TOKENS.finditer(block):
        part = match.group()
        depth += (part in "([") - (part in ")]")
        said = part[0] in "'\"" and not (NAME_KEYWORD.search(kept) or kept.endswith("."))
        kept += " " if depth or said else part
    return kept


def _find_statements(text: str, at: int) -> Iterator[ModelStatement]:
    """Return the statements behind the block; the query is the one marked by Jinja, or else the last SQL one."""
    spans: list[ModelStatement] = []
    for match in JINJA_BLOCK.finditer(text, at):
        spans.extend(ModelStatement(*one) for one in _split_statements(text, at, match.start()))
        if match.group(2).strip():
            spans.append(ModelStatement(match.start(2), match.end(2), True, match.group(1).upper() == "QUERY"))
        at = match.end()
    spans.extend(ModelStatement(*one) for one in _split_statements(text, at, len(text)))
    kept = [span for span in spans if not VIRTUAL_UPDATE_MARK.match(text[span.start : span.end])]
    last = next((span for span in reversed(kept) if span.is_query), None)
    if last is None:
        last = next((span for span in reversed(kept) if QUERY_START.match(text[span.start : span.end])), None)
    return (span._replace(is_query=span is last) for span in kept)


def _fill_macros(
    text: str, start: int, end: int, values: Mapping[str, Any], into: tuple[Pieces, list[Problem]]
) -> None:
    """Add a statement with its macros replaced by values."""
    pieces, problems = into
    for match in MODEL_TOKENS.finditer(text, start, end):
        part = match.group()
        if not part.startswith("@") or len(part) < 2:
            pieces.copy(part, match.start())
            continue
        name = part.strip("@{}")
        value = _macro_value(name, values)
        if value is None and text[match.end() : match.end() + 1] == "(":
            value = name  # a call stays one: its arguments are what matters
        if value is None:
            problems.append(Problem("UNDEFINED_VARIABLE", {"name": name}, match.start()))
        pieces.make(placeholder_identifier(name) if value is None else value, match.start(), len(part))


def _macro_value(name: str, values: Mapping[str, Any]) -> str | None:
    found = values.get(name, values.get(name.lower()))
    if found is not None:
        return str(found)
    time = TIME_MACRO.match(name.lower())
    if time is None:
        return None
    return TIME_VALUES[time.group(1)]


def _apply_def(text: str, values: dict[str, Any]) -> None:
    inner = text[text.find("(") + 1 : text.rfind(")")]
    name, _, value = inner.partition(",")
    values[name.strip().lstrip("@")] = value.strip()


def _split_statements(text: str, at: int, stop: int) -> Iterator[tuple[int, int]]:
    """Return the spans of the statements in a part of the text."""
    start = at
    for match in MODEL_TOKENS.finditer(text, at, stop):
        if match.group() == ";":
            if text[start : match.start()].strip():
                yield start, match.start()
            start = match.end()
    if text[start:stop].strip():
        yield start, stop


def _find_block_end(text: str, at: int) -> int:
    """Return the offset behind the bracket that closes the block."""
    depth = 1
    for match in MODEL_TOKENS.finditer(text, at):
        depth += (match.group() == "(") - (match.group() == ")")
        if not depth:
            return match.end()
    return len(text)


CONFIG_FILES = ("config.yaml", "config.yml")
ROOT_MARKER = "$root"
MODELS_FOLDER = "models"

ENV_VARIABLE = re.compile(
    r"\{\{\s*env_var\(\s*['\"]\w+['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)\s*\}\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL
)
"""An environment variable in a configuration: it gets the default."""

MAX_SEED_ROWS = 1000
"""How many rows of a seed are read to infer its types."""


class SqlmeshProjects:
    """The projects of a repository by folder, each read once."""

    def __init__(self, library: Library) -> None:
        """Store the files of the repository."""
        self.library = library
        self._known: dict[str, SqlmeshProject] = {}

    def of(self, path: str) -> SqlmeshProject:
        """Return the innermost project around a file."""
        return self._project_of_folder(posixpath.dirname(path))

    def _project_of_folder(self, folder: str) -> SqlmeshProject:
        if folder not in self._known:
            texts = [self.library.read(posixpath.join(folder, name)) for name in CONFIG_FILES]
            text = next((text for text in texts if text is not None), None)
            found = _parse_config(folder, text) if text is not None else None
            if found is None:
                above = posixpath.dirname(folder)
                found = self._project_of_folder(above) if above != folder else SqlmeshProject()
            self._known[folder] = found
        return self._known[folder]


def _parse_config(folder: str, text: str) -> SqlmeshProject | None:
    """Parse a configuration; a file of that name that is not SQLMesh's is ignored."""
    try:
        document = load_yaml(ENV_VARIABLE.sub(lambda match: match[1] or "", text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(document, Mapping) or not {"model_defaults", "gateways", "variables"} & set(document):
        return None
    defaults, variables = (document.get(key) for key in ("model_defaults", "variables"))
    given = {str(name).lower(): value for name, value in variables.items()} if isinstance(variables, Mapping) else {}
    dialect = str(defaults.get("dialect") or "") if isinstance(defaults, Mapping) else ""
    return SqlmeshProject(folder, dialect.split(",")[0].strip().lower(), given)


def read_seed_columns(library: Library, project: SqlmeshProject, path: str, seed: str) -> Iterator[tuple[str, str]]:
    """Return the columns in the first line of a seed, with types inferred from its values."""
    from lineage_pipeline.discover.dbt.target import infer_seed_type  # as dbt tells them

    beside = (
        seed.replace(ROOT_MARKER, project.root or ".")
        if ROOT_MARKER in seed
        else posixpath.join(posixpath.dirname(path), seed)
    )
    place = posixpath.normpath(beside)
    text = library.read(place) if not place.startswith("..") else None
    try:
        rows = [
            row
            for row, _ in zip(
                csv.reader(io.StringIO((text or "").lstrip("\ufeff"))), range(MAX_SEED_ROWS), strict=False
            )
        ]
    except csv.Error:
        return
    for number, name in enumerate(rows[0] if rows else ()):
        kind = infer_seed_type(row[number] for row in rows[1:] if number < len(row))
        yield name, "double" if kind == "numeric" else kind
