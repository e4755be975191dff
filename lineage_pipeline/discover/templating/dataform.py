"""Dataform: `.sqlx` files become the statements that make their tables; `${ref("x")}` and its like become names."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import placeholder

BLOCK = re.compile(r"^[ \t]*(config|js|pre_operations|post_operations|input\s+\"[^\"]*\")\s*\{", re.MULTILINE)
SETTING = re.compile(r"\b(\w+)\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`)")
CALL = re.compile(r"(ref|resolve|self|name)\s*\((.*)\)\s*\Z", re.DOTALL)
STRING = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`")
WHEN = re.compile(r"when\s*\(\s*incremental\(\)\s*,\s*`(.*?)`", re.DOTALL)
KINDS = {"table": "table", "incremental": "table", "view": "view"}
SETTINGS = ("workflow_settings.yaml", "dataform.json")
KEYS = (("defaultProject", "defaultDatabase"), ("defaultDataset", "defaultSchema"))


class Action(NamedTuple):
    """What a file makes: its kind, and the parts of its name."""

    kind: str
    database: str
    schema: str
    name: str

    def written(self) -> str:
        """Give the name as BigQuery writes it."""
        return ".".join(f"`{part}`" for part in (self.database, self.schema, self.name) if part)


class DataformTemplater:
    """Renders the `.sqlx` files of a repository."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._library: Library | None = None
        self._actions: dict[str, Action] = {}
        self._defaults = ("", "")

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        if self._library is not template.library:
            self._library = template.library
            self._defaults = _defaults(template.library)
            self._actions = dict(self._listed(template.library))
        action = self._action(template.path, template.text)
        pieces, problems = Pieces(), list[Problem]()
        blocks = list(_blocks(template.text))
        for word in ("pre_operations", "", "post_operations"):
            self._add(word, blocks, action, template, (pieces, problems))
        return Rendered(*pieces.done(), tuple(problems), dialect="bigquery")

    def _add(
        self,
        word: str,
        blocks: list[tuple[str, int, int, int]],
        action: Action,
        template: Template,
        into: tuple[Pieces, list[Problem]],
    ) -> None:
        """Add the operations before or after, or the query itself with what makes a table of it."""
        pieces, _ = into
        if word:
            for kind, _, start, end in blocks:
                if kind == word:
                    self._text(template, start, end - 1, action, into)
                    pieces.add("\n;\n")
            return
        if action.kind in ("assertion", "declaration"):
            return
        if action.kind in KINDS:
            pieces.add(f"create {KINDS[action.kind]} {action.written()} as\n")
        at = 0
        for _, outer, _, end in blocks:
            self._text(template, at, outer, action, into)
            at = end
        self._text(template, at, len(template.text), action, into)
        pieces.add("\n;\n")

    def _text(
        self, template: Template, start: int, end: int, action: Action, into: tuple[Pieces, list[Problem]]
    ) -> None:
        """Add a part of the file with names in the place of its holes."""
        pieces, problems = into
        text, at = template.text, start
        while (hole := text.find("${", at, end)) >= 0:
            close = _closing(text, hole + 2, end)
            pieces.copy(text[at:hole], at)
            inner = text[hole + 2 : close - 1].strip()
            made = self._value(inner, action, template.variables)
            if made is None:
                problems.append(Problem("UNDEFINED_VARIABLE", {"name": inner[:60]}, hole))
                made = placeholder(inner[:60])
            pieces.make(made, hole, close - hole)
            at = close
        pieces.copy(text[at:end], at)

    def _value(self, inner: str, action: Action, variables: Mapping[str, object]) -> str | None:
        call = CALL.match(inner)
        if call is None:
            when = WHEN.match(inner)
            known = variables.get(inner.removeprefix("dataform.projectConfig.vars.").removeprefix("constants."))
            return "" if when else None if known is None else str(known)
        if call.group(1) in ("self", "name"):
            return action.written()
        said = {key: one or two or three for key, one, two, three in SETTING.findall(call.group(2))}
        parts = [one or two or three for one, two, three in STRING.findall(call.group(2))]
        name = said.get("name") or (parts[-1] if parts else "")
        schema = said.get("schema") or (parts[-2] if len(parts) > 1 and not said else "")
        known_action = self._actions.get(name)
        if known_action is not None and schema in ("", known_action.schema):
            return known_action.written()
        return Action("", said.get("database", self._defaults[0]), schema or self._defaults[1], name).written()

    def _listed(self, library: Library) -> Iterator[tuple[str, Action]]:
        for path in library.paths():
            if path.endswith(".sqlx"):
                action = self._action(path, library.read(path) or "")
                yield action.name, action

    def _action(self, path: str, text: str) -> Action:
        config = next((text[start:end] for word, _, start, end in _blocks(text) if word == "config"), "")
        said = {key: one or two or three for key, one, two, three in SETTING.findall(config)}
        stem = posixpath.splitext(posixpath.basename(path))[0]
        database, schema = self._defaults
        return Action(
            said.get("type", "operations"),
            said.get("database", database),
            said.get("schema", schema),
            said.get("name", stem),
        )


def _defaults(library: Library) -> tuple[str, str]:
    """Give the project and the dataset that names without them mean."""
    for path in library.paths():
        if posixpath.basename(path) in SETTINGS:
            try:
                document = yaml.safe_load(library.read(path) or "")  # JSON is YAML, too
            except (yaml.YAMLError, RecursionError):  # names stay as they are written
                continue
            if isinstance(document, Mapping):
                first, second = (next((str(document[key]) for key in keys if document.get(key)), "") for keys in KEYS)
                return first, second
    return "", ""


def _blocks(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Give the blocks of a file: word, where it begins, where its inside begins, and where it ends."""
    at = 0
    while (match := BLOCK.search(text, at)) is not None:
        end = _closing(text, match.end(), len(text))
        yield match.group(1).split()[0], match.start(), match.end(), end
        at = end


def _closing(text: str, at: int, end: int) -> int:
    """Give the offset behind the brace that closes one that is open; strings may hold braces."""
    depth, quote = 1, ""
    while at < end and depth:
        sign = text[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign == "{") - (sign == "}")
        at += 1
    return at
