"""Plain Jinja, rendered with a source map; lists are immutable, and only files of the repository are included.

Marks before each output say where it was written. They are in the output stream only: no variable, macro or filter of
a template ever sees one.
"""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import BaseLoader, Environment, nodes
from jinja2.environment import Template as Compiled
from jinja2.exceptions import TemplateNotFound, TemplateSyntaxError
from jinja2.visitor import NodeTransformer

from lineage_pipeline.discover.templating.jinja_sandbox import (
    BoundedEnvironment,
    ImmutableEnvironment,
    RenderBudgetExceeded,
    tokenize_with_offsets,
)
from lineage_pipeline.discover.templating.pieces import Copies, Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import (
    TemplateReport,
    UndefinedName,
    frame_offset,
    placeholder_identifier,
)

JINJA_EXTENSIONS = ("jinja2.ext.do", "jinja2.ext.loopcontrols")


class LibraryLoader(BaseLoader):
    """Loads templates from the files of a repository."""

    def __init__(self, library: Library) -> None:
        """Store the files."""
        self.library = library

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a file by its path from the top."""
        path = posixpath.normpath(template.lstrip("/"))
        text = None if path.startswith("..") else self.library.read(path)
        if text is None:
            raise TemplateNotFound(template, f"{template} is not a file of the repository")
        return text, path, lambda: True


class JinjaEnvironment(ImmutableEnvironment):
    """An environment in which a path is relative to the file that names it, or else to the top."""

    def __init__(self, library: Library) -> None:
        """Open the files of a repository."""
        super().__init__(loader=LibraryLoader(library), extensions=JINJA_EXTENSIONS)
        self.library = library
        self.variables: Mapping[str, Any] = {}
        self.globals.update(dbt_fallbacks(self))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Parse a template; an included file that does not exist is a finding, and nothing more."""
        tree = super()._parse(source, name, filename)
        for include in tree.find_all(nodes.Include):
            path = include.template.value if isinstance(include.template, nodes.Const) else None
            if (
                not include.ignore_missing
                and isinstance(path, str)
                and not self._has_template(self.join_path(path, name or ""))
            ):
                include.ignore_missing = True
                reason = f"{path} is not a file of the repository"
                self.report.add_at(include.lineno if name == self.report.file else -1, "TEMPLATE_ERROR", reason)
        return tree

    def _has_template(self, template: str) -> bool:
        path = posixpath.normpath(template.lstrip("/"))
        return not path.startswith("..") and self.library.read(path) is not None

    def join_path(self, template: str, parent: str) -> str:
        """Return the path from the top."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(parent), template))
        found = not beside.startswith("..") and self.library.read(beside) is not None
        return beside if found else template


def dbt_fallbacks(environment: JinjaEnvironment) -> dict[str, Callable[..., Any]]:
    """Return `ref`, `source` and the like for files outside of dbt projects: distinct unknown names."""

    def ref(*names: Any, **_named: Any) -> str:
        environment.report.undefined("ref")
        return str(names[-1]) if names else ""

    def source(*names: Any) -> str:
        environment.report.undefined("source")
        return ".".join(str(name) for name in names)

    def var(name: str = "", default: Any = None) -> Any:
        given = environment.variables.get(name, default)
        return UndefinedName(environment, f"var.{name}") if given is None else given

    return {
        "ref": ref,
        "source": source,
        "var": var,
        "config": lambda *_arguments, **_named: "",
        "is_incremental": lambda: False,
    }


class JinjaTemplater:
    """Renders Jinja; the environment is created once per repository."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._environment: JinjaEnvironment | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        environment = self._environment
        if environment is None or environment.library is not template.library:
            environment = self._environment = JinjaEnvironment(template.library)
        environment.variables = template.variables
        return render_jinja(environment, template, template.variables, TemplateReport(template.path))


SOURCE_MARK = re.compile("\0(\\d+)([ct])\0")
OPENING_TOKENS = frozenset({"variable_begin", "block_begin", "comment_begin", "raw_begin", "linestatement_begin"})
CLOSING_TOKENS = frozenset({"variable_end", "block_end", "comment_end", "raw_end", "linestatement_end"})
PLAIN_NAME = re.compile(r"[A-Za-z_][\w.]*")
HIDDEN_BLOCKS = frozenset({"macro", "call", "filter", "test", "materialization", "docs"})


class TemplateText:
    """The text of a template without carriage returns, which Jinja drops, and the spans of its tags."""

    def __init__(self, environment: BoundedEnvironment, template: Template) -> None:
        """Find the tags up to the first syntax error."""
        self.text = template.text.replace("\r\n", "\n")
        self.returns = [match.start() - number for number, match in enumerate(re.finditer("\r\n", template.text))]
        self.tags: list[tuple[int, int]] = []
        self.parts: list[tuple[str, int, str]] = []
        self._find_tags(environment, template.path)

    def _find_tags(self, environment: BoundedEnvironment, path: str) -> None:
        opened, said = -1, ""
        try:
            for at, kind, value in tokenize_with_offsets(environment, self.text, path):
                if kind in OPENING_TOKENS:
                    opened, said = at, ""
                if kind == "data":
                    self.parts.append(("data", at, value))
                elif kind in CLOSING_TOKENS or kind == "raw_begin":
                    self.tags.append((opened, at + len(value.rstrip())))
                    self.parts.append((kind, opened, said))
                elif opened >= 0 and kind not in OPENING_TOKENS:
                    said += value
        except TemplateSyntaxError:
            if opened >= 0:
                self.tags.append((opened, len(self.text)))

    def tag_at(self, offset: int) -> tuple[int, int]:
        """Return the span of the tag around an offset, or the offset alone."""
        index = bisect_right(self.tags, (offset, len(self.text) + 1)) - 1
        if index >= 0 and self.tags[index][0] <= offset < self.tags[index][1]:
            return self.tags[index]
        return offset, offset

    def file_offset(self, offset: int) -> int:
        """Return the offset in the file itself."""
        return offset + bisect_right(self.returns, offset - 1) if self.returns else offset

    def copy_text(self, pieces: Pieces, text: str, at: int) -> None:
        """Add text that stands in the file."""
        if not self.returns:
            pieces.copy(text, at)
            return
        for line in text.splitlines(keepends=True):
            pieces.copy(line, self.file_offset(at))
            at += len(line)

    def make_text(self, pieces: Pieces, text: str, at: int) -> None:
        """Add text that the tag around an offset generates."""
        start, end = (self.file_offset(place) for place in self.tag_at(at))
        pieces.make(text, start, end - start)


def strip_tags(written: TemplateText, context: Mapping[str, Any]) -> tuple[str, Copies]:
    """Return a template with a placeholder for each value, the first branch of each condition, and no macros.

    A plain name with a value that SQL can hold is replaced by it.
    """
    pieces = Pieces()
    blocks: list[tuple[str, bool]] = []
    for kind, at, text in written.parts:
        shown = all(kept for _, kept in blocks)
        if kind == "block_end":
            _enter_block(blocks, text.split())
        elif kind == "variable_end" and shown:
            found = PLAIN_NAME.search(text)
            value = context.get(text.strip())
            known = isinstance(value, str | int | float)
            name = placeholder_identifier(found.group() if found else "expression")
            written.make_text(pieces, str(value) if known else name, at)
        elif kind == "data" and shown:
            written.copy_text(pieces, text, at)
    return pieces.done()


def _enter_block(blocks: list[tuple[str, bool]], words: Sequence[str]) -> None:
    """Update the open blocks behind a block tag."""
    word = words[0] if words else ""
    if word.startswith("end") and blocks:
        blocks.pop()
    elif word in HIDDEN_BLOCKS or (word == "set" and "=" not in "".join(words)):
        blocks.append((word, False))
    elif word in ("if", "for", "block", "snapshot"):
        blocks.append((word, True))
    elif word in ("else", "elif") and blocks:
        blocks[-1] = (blocks[-1][0], False)


class _MarkInserter(NodeTransformer):
    """Inserts marks before the output of a template; blocks that are captured or filtered are one piece."""

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        """Mark each part."""
        node.nodes = [part for child in node.nodes for part in (_build_mark(child), child)]
        return node

    def visit_For(self, node: nodes.For) -> Any:
        """Mark the output of each iteration, and a recursive loop as a whole."""
        return _mark_statement(node) if node.recursive else self.generic_visit(node)

    def visit_Block(self, node: nodes.Block) -> Any:
        """Mark the output of a block, including what the parent layout puts behind it."""
        self.generic_visit(node)
        node.body.append(nodes.Output([_build_mark(node)], lineno=node.lineno))
        return _mark_statement(node)

    def _whole(self, node: nodes.Stmt) -> Any:
        return _mark_statement(node)

    visit_Include = visit_CallBlock = visit_FilterBlock = visit_Extends = _whole

    def _kept(self, node: nodes.Stmt) -> nodes.Stmt:
        return node

    visit_Macro = visit_AssignBlock = visit_Assign = visit_ExprStmt = visit_Import = visit_FromImport = _kept


def _build_mark(node: nodes.Node) -> nodes.TemplateData:
    kind = "c" if isinstance(node, nodes.TemplateData) else "t"
    return nodes.TemplateData(f"\0{node.lineno}{kind}\0", lineno=node.lineno)


def _mark_statement(node: nodes.Stmt) -> list[nodes.Node]:
    return [nodes.Output([_build_mark(node)], lineno=node.lineno), node]


def render_jinja(
    environment: BoundedEnvironment, template: Template, context: Mapping[str, Any], report: TemplateReport
) -> Rendered:
    """Render a template with its source map; on an error, its text with names in place of its tags."""
    written = TemplateText(environment, template)
    environment.begin(template.limits, report)
    pieces = Pieces()
    try:
        tree = _MarkInserter().visit(environment.parse(written.text, template.path, template.path))
        code = environment.compile(tree, template.path, template.path)
        compiled = Compiled.from_code(environment, code, environment.globals)
        _assemble_output(compiled.root_render_func(compiled.new_context(dict(context))), written, pieces, environment)
    except Exception as error:  # noqa: BLE001 - the code of a template may raise anything at all
        problem = _describe_error(error, written, template.path)
        return Rendered(*strip_tags(written, context), (problem, *_located_problems(report, written)))
    return Rendered(*pieces.done(), tuple(_located_problems(report, written)))


def _assemble_output(
    chunks: Iterable[str], written: TemplateText, pieces: Pieces, environment: BoundedEnvironment
) -> None:
    kind, at = "t", 0
    for chunk in chunks:
        parts = SOURCE_MARK.split(chunk)
        for index in range(0, len(parts), 3):
            if index:
                kind, at = parts[index - 1], int(parts[index - 2])
            text = parts[index]
            if not text:
                continue
            if kind == "c":
                environment.budget.print(text)
                written.copy_text(pieces, text, at)
                at += len(text)
            else:
                written.make_text(pieces, text, at)


def _describe_error(error: Exception, written: TemplateText, path: str) -> Problem:
    """Return the problem of an error with the offset of its tag."""
    offset = error.lineno if isinstance(error, TemplateSyntaxError) and error.name in (None, path) else -1
    step = error.__traceback__
    while step is not None and offset < 0:
        offset = frame_offset(step.tb_frame, step.tb_lineno, path, offset)
        step = step.tb_next
    place = written.file_offset(written.tag_at(offset)[0]) if offset >= 0 else -1
    if isinstance(error, RenderBudgetExceeded):
        values = {"what": f"the number of {error.what} of a template", "limit": str(error.limit)}
        return Problem("LIMIT_EXCEEDED", values, place)
    said = " ".join(str(error).split()) or type(error).__name__
    return Problem("TEMPLATE_ERROR", {"reason": said[:300]}, place)


def _located_problems(report: TemplateReport, written: TemplateText) -> Iterator[Problem]:
    for problem in report.problems():
        offset = written.file_offset(written.tag_at(problem.offset)[0]) if problem.offset >= 0 else -1
        yield Problem(problem.code, problem.values, offset)
