"""Dataform: its files become CREATE statements of their tables; `${ref("x")}` and the like become names."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lineage_pipeline.discover.templating.dataform_project import DataformAction, DataformNames
from lineage_pipeline.discover.templating.dataform_syntax import (
    ActionCall,
    TextSpan,
    find_action_calls,
    find_blocks,
    find_constants,
    skip_placeholder,
)
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import placeholder_identifier
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

CREATED_KINDS = {"table": "table", "incremental": "table", "view": "view"}
OBJECTLESS_ACTIONS = ("assertion", "declaration")
"""Kinds of actions that create nothing."""

JS_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
JS_SIMPLE_ESCAPES = {"n": "\n", "t": "\t"}
STATEMENT_END = "\n;\n"


class DataformTemplater:
    """Renders the `.sqlx` files of a repository, and the programs that define actions."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._library: Library | None = None
        self._names: DataformNames | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        if self._names is None or self._library is not template.library:
            self._library, self._names = template.library, DataformNames(template.library)
        if template.path.endswith(".js"):
            return ActionProgramRenderer(template, self._names).render()
        return SqlxRenderer(template, self._names, Pieces(), []).render()


class SqlxRenderer(NamedTuple):
    """Renders one `.sqlx` file."""

    template: Template
    names: DataformNames
    pieces: Pieces
    problems: list[Problem]

    def render(self) -> Rendered:
        """Return the pre-operations, the CREATE statement of the query, and the post-operations."""
        action = self.names.action_of_file(self.template.path, self.template.text)
        found = list(find_blocks(self.template.text))
        self._add_operations("pre_operations", found, action)
        if action.kind not in OBJECTLESS_ACTIONS:
            self._add_query(found, action)
        self._add_operations("post_operations", found, action)
        return Rendered(*self.pieces.done(), tuple(self.problems), dialect="bigquery")

    def _add_operations(self, word: str, found: list[tuple[str, int, int, int]], action: DataformAction) -> None:
        for kind, _, start, end in found:
            if kind == word:
                self._add_text(start, end - 1, action)
                self.pieces.add(STATEMENT_END)

    def _add_query(self, found: list[tuple[str, int, int, int]], action: DataformAction) -> None:
        if action.kind in CREATED_KINDS:
            self.pieces.add(f"create {CREATED_KINDS[action.kind]} {action.qualified_name()} as\n")
        at = 0
        for _, outer, _, end in found:
            self._add_text(at, outer, action)
            at = end
        self._add_text(at, len(self.template.text), action)
        self.pieces.add(STATEMENT_END)

    def _add_text(self, start: int, end: int, action: DataformAction) -> None:
        """Add a part of the file with names in place of its `${…}`."""
        text, at = self.template.text, start
        while (hole := text.find("${", at, end)) >= 0:
            close = skip_placeholder(text, hole, end)
            self.pieces.copy(text[at:hole], at)
            inner = text[hole + 2 : close - 1].strip()
            made = self.names.evaluate(inner, action, self.template.variables)
            if made is None:
                self.problems.append(Problem("UNDEFINED_VARIABLE", {"name": inner[:60]}, hole))
                made = placeholder_identifier(inner[:60])
            self.pieces.make(made, hole, close - hole)
            at = close
        self.pieces.copy(text[at:end], at)


class ActionProgramRenderer:
    """Renders a JavaScript program that defines actions, without running it; non-literal parts are placeholders."""

    def __init__(self, template: Template, names: DataformNames) -> None:
        """Store the program and the names of the project."""
        self.text, self.names = template.text, names
        self.constants: Mapping[str, object] = {**find_constants(template.text), **template.variables}
        self.pieces, self.problems = Pieces(), list[Problem]()

    def render(self) -> Rendered:
        """Return the statements of all actions."""
        for called in find_action_calls(self.text):
            action = self.names.action_of_call(self.text, called, self.constants)
            if action.kind not in OBJECTLESS_ACTIONS:
                self._add_action(called, action)
        return Rendered(*self.pieces.done(), tuple(self.problems), dialect="bigquery")

    def _add_action(self, called: ActionCall, action: DataformAction) -> None:
        for word in ("pre_operations", "query", "post_operations"):
            for spans in (spans for kind, spans in called.queries if kind == word):
                if not spans:  # a function elsewhere makes it
                    self.problems.append(Problem("DYNAMIC_SQL", {"share": "0"}, called.at))
                for span in spans:
                    if word == "query" and action.kind in CREATED_KINDS:
                        self.pieces.add(f"create {CREATED_KINDS[action.kind]} {action.qualified_name()} as\n")
                    self._add_text(span, action)
                    self.pieces.add(STATEMENT_END)

    def _add_text(self, span: TextSpan, action: DataformAction) -> None:
        """Add a literal with names in place of its `${…}`."""
        at = span.start
        while (hole := self.text.find("${", at, span.end)) >= 0:
            close = skip_placeholder(self.text, hole, span.end)
            self._copy_literal(at, hole)
            made = self.names.evaluate(self.text[hole + 2 : close - 1].strip(), action, self.constants)
            self.pieces.make(RUNTIME_PLACEHOLDER if made is None else made, hole, close - hole)
            at = close
        self._copy_literal(at, span.end)

    def _copy_literal(self, start: int, end: int) -> None:
        """Copy a part of a literal; its escapes are generated text."""
        at = start
        for match in JS_ESCAPE.finditer(self.text, start, end):
            self.pieces.copy(self.text[at : match.start()], at)
            self.pieces.make(JS_SIMPLE_ESCAPES.get(match[1], match[1]), match.start(), 2)
            at = match.end()
        self.pieces.copy(self.text[at:end], at)
