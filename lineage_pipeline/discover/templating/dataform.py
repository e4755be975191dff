"""Dataform: its files become the statements that make their tables; `${ref("x")}` and its like become names."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lineage_pipeline.discover.templating.dataform_names import Action, DataformNames
from lineage_pipeline.discover.templating.dataform_syntax import (
    Called,
    Span,
    behind_hole,
    blocks,
    calls_in,
    constants_of,
)
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import placeholder
from lineage_pipeline.vocabulary.analysis import HOLE

KINDS = {"table": "table", "incremental": "table", "view": "view"}
SILENT = ("assertion", "declaration")
"""The kinds of actions that make nothing."""

ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t"}
END = "\n;\n"


class DataformTemplater:
    """Renders the `.sqlx` files of a repository, and the programs that make actions."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._library: Library | None = None
        self._names: DataformNames | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        if self._names is None or self._library is not template.library:
            self._library, self._names = template.library, DataformNames(template.library)
        if template.path.endswith(".js"):
            return Program(template, self._names).rendered()
        return Sqlx(template, self._names, Pieces(), []).rendered()


class Sqlx(NamedTuple):
    """A `.sqlx` file in the making."""

    template: Template
    names: DataformNames
    pieces: Pieces
    problems: list[Problem]

    def rendered(self) -> Rendered:
        """Give the operations before, the query with what makes a table of it, and the operations after."""
        action = self.names.action_of_file(self.template.path, self.template.text)
        found = list(blocks(self.template.text))
        self._operations("pre_operations", found, action)
        if action.kind not in SILENT:
            self._query(found, action)
        self._operations("post_operations", found, action)
        return Rendered(*self.pieces.done(), tuple(self.problems), dialect="bigquery")

    def _operations(self, word: str, found: list[tuple[str, int, int, int]], action: Action) -> None:
        for kind, _, start, end in found:
            if kind == word:
                self._text(start, end - 1, action)
                self.pieces.add(END)

    def _query(self, found: list[tuple[str, int, int, int]], action: Action) -> None:
        if action.kind in KINDS:
            self.pieces.add(f"create {KINDS[action.kind]} {action.written()} as\n")
        at = 0
        for _, outer, _, end in found:
            self._text(at, outer, action)
            at = end
        self._text(at, len(self.template.text), action)
        self.pieces.add(END)

    def _text(self, start: int, end: int, action: Action) -> None:
        """Add a part of the file with names in the place of its holes."""
        text, at = self.template.text, start
        while (hole := text.find("${", at, end)) >= 0:
            close = behind_hole(text, hole, end)
            self.pieces.copy(text[at:hole], at)
            inner = text[hole + 2 : close - 1].strip()
            made = self.names.value(inner, action, self.template.variables)
            if made is None:
                self.problems.append(Problem("UNDEFINED_VARIABLE", {"name": inner[:60]}, hole))
                made = placeholder(inner[:60])
            self.pieces.make(made, hole, close - hole)
            at = close
        self.pieces.copy(text[at:end], at)


class Program:
    """A program that makes actions; nothing of it is run, and what it does not write out is a hole."""

    def __init__(self, template: Template, names: DataformNames) -> None:
        """Take the program and what its names stand for."""
        self.text, self.names = template.text, names
        self.constants: Mapping[str, object] = {**constants_of(template.text), **template.variables}
        self.pieces, self.problems = Pieces(), list[Problem]()

    def rendered(self) -> Rendered:
        """Give the statements of all actions."""
        for called in calls_in(self.text):
            action = self.names.action_of_call(self.text, called, self.constants)
            if action.kind not in SILENT:
                self._action(called, action)
        return Rendered(*self.pieces.done(), tuple(self.problems), dialect="bigquery")

    def _action(self, called: Called, action: Action) -> None:
        for word in ("pre_operations", "query", "post_operations"):
            for spans in (spans for kind, spans in called.queries if kind == word):
                if not spans:  # a function elsewhere makes it
                    self.problems.append(Problem("DYNAMIC_SQL", {"share": "0"}, called.at))
                for span in spans:
                    if word == "query" and action.kind in KINDS:
                        self.pieces.add(f"create {KINDS[action.kind]} {action.written()} as\n")
                    self._text(span, action)
                    self.pieces.add(END)

    def _text(self, span: Span, action: Action) -> None:
        """Add a literal with names in the place of its holes."""
        at = span.start
        while (hole := self.text.find("${", at, span.end)) >= 0:
            close = behind_hole(self.text, hole, span.end)
            self._copy(at, hole)
            made = self.names.value(self.text[hole + 2 : close - 1].strip(), action, self.constants)
            self.pieces.make(HOLE if made is None else made, hole, close - hole)
            at = close
        self._copy(at, span.end)

    def _copy(self, start: int, end: int) -> None:
        """Copy a part of a literal; what it escapes is made."""
        at = start
        for match in ESCAPE.finditer(self.text, start, end):
            self.pieces.copy(self.text[at : match.start()], at)
            self.pieces.make(ESCAPED.get(match[1], match[1]), match.start(), 2)
            at = match.end()
        self.pieces.copy(self.text[at:end], at)
