"""Rendering with a map: marks before each piece of a template's own level say where what follows was written.

The marks go through the stream of the rendered text alone: no variable, macro or filter of a template ever sees one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import nodes
from jinja2.environment import Template as Compiled
from jinja2.exceptions import TemplateSyntaxError
from jinja2.visitor import NodeTransformer

from lineage_pipeline.discover.templating.budget import OverBudget
from lineage_pipeline.discover.templating.pieces import Copies, Pieces
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template
from lineage_pipeline.discover.templating.sandbox import Bounded, placed_tokens
from lineage_pipeline.discover.templating.undefined import Report, offset_in, placeholder

MARK = re.compile("\0(\\d+)([ct])\0")
OPENS = frozenset({"variable_begin", "block_begin", "comment_begin", "raw_begin", "linestatement_begin"})
CLOSES = frozenset({"variable_end", "block_end", "comment_end", "raw_end", "linestatement_end"})
NAME = re.compile(r"[A-Za-z_][\w.]*")
HIDDEN = frozenset({"macro", "call", "filter", "test", "materialization", "docs"})


class Written:
    """A template as written: without carriage returns, which Jinja drops, and with the places of its tags."""

    def __init__(self, environment: Bounded, template: Template) -> None:
        """Find the tags; what cannot be read as a template ends them."""
        self.text = template.text.replace("\r\n", "\n")
        self.returns = [match.start() - number for number, match in enumerate(re.finditer("\r\n", template.text))]
        self.tags: list[tuple[int, int]] = []
        self.parts: list[tuple[str, int, str]] = []
        self._read(environment, template.path)

    def _read(self, environment: Bounded, path: str) -> None:
        opened, said = -1, ""
        try:
            for at, kind, value in placed_tokens(environment, self.text, path):
                if kind in OPENS:
                    opened, said = at, ""
                if kind == "data":
                    self.parts.append(("data", at, value))
                elif kind in CLOSES or kind == "raw_begin":
                    self.tags.append((opened, at + len(value.rstrip())))
                    self.parts.append((kind, opened, said))
                elif opened >= 0 and kind not in OPENS:
                    said += value
        except TemplateSyntaxError:
            if opened >= 0:
                self.tags.append((opened, len(self.text)))

    def tag_at(self, offset: int) -> tuple[int, int]:
        """Give the tag around an offset, or the offset alone."""
        index = bisect_right(self.tags, (offset, len(self.text) + 1)) - 1
        if index >= 0 and self.tags[index][0] <= offset < self.tags[index][1]:
            return self.tags[index]
        return offset, offset

    def original(self, offset: int) -> int:
        """Give the offset in the file itself."""
        return offset + bisect_right(self.returns, offset - 1) if self.returns else offset

    def copy(self, pieces: Pieces, text: str, at: int) -> None:
        """Add text that stands in the file."""
        if not self.returns:
            pieces.copy(text, at)
            return
        for line in text.splitlines(keepends=True):
            pieces.copy(line, self.original(at))
            at += len(line)

    def make(self, pieces: Pieces, text: str, at: int) -> None:
        """Add text that the tag around an offset stands for."""
        start, end = (self.original(place) for place in self.tag_at(at))
        pieces.make(text, start, end - start)


def scrubbed(written: Written, context: Mapping[str, Any]) -> tuple[str, Copies]:
    """Give a template with a placeholder for each value, the first branch of each choice, and no macros.

    What is a plain name with a value that SQL can hold is that value.
    """
    pieces = Pieces()
    blocks: list[tuple[str, bool]] = []
    for kind, at, text in written.parts:
        shown = all(kept for _, kept in blocks)
        if kind == "block_end":
            _enter(blocks, text.split())
        elif kind == "variable_end" and shown:
            found = NAME.search(text)
            value = context.get(text.strip())
            known = isinstance(value, str | int | float)
            name = placeholder(found.group() if found else "expression")
            written.make(pieces, str(value) if known else name, at)
        elif kind == "data" and shown:
            written.copy(pieces, text, at)
    return pieces.done()


def _enter(blocks: list[tuple[str, bool]], words: Sequence[str]) -> None:
    """Go on behind the tag of a block."""
    word = words[0] if words else ""
    if word.startswith("end") and blocks:
        blocks.pop()
    elif word in HIDDEN or (word == "set" and "=" not in "".join(words)):
        blocks.append((word, False))
    elif word in ("if", "for", "block", "snapshot"):
        blocks.append((word, True))
    elif word in ("else", "elif") and blocks:
        blocks[-1] = (blocks[-1][0], False)


class _Marking(NodeTransformer):
    """Puts marks before what the template puts out itself; blocks that are kept or filtered first are one piece."""

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        """Mark each part."""
        node.nodes = [part for child in node.nodes for part in (_mark(child), child)]
        return node

    def visit_For(self, node: nodes.For) -> Any:
        """Mark what is inside, turn by turn, and a loop that calls itself as a whole."""
        return _marked(node) if node.recursive else self.generic_visit(node)

    def visit_Block(self, node: nodes.Block) -> Any:
        """Mark what is inside; what the layout puts behind it is the block's, too."""
        self.generic_visit(node)
        node.body.append(nodes.Output([_mark(node)], lineno=node.lineno))
        return _marked(node)

    def _whole(self, node: nodes.Stmt) -> Any:
        return _marked(node)

    visit_Include = visit_CallBlock = visit_FilterBlock = visit_Extends = _whole

    def _kept(self, node: nodes.Stmt) -> nodes.Stmt:
        return node

    visit_Macro = visit_AssignBlock = visit_Assign = visit_ExprStmt = visit_Import = visit_FromImport = _kept


def _mark(node: nodes.Node) -> nodes.TemplateData:
    kind = "c" if isinstance(node, nodes.TemplateData) else "t"
    return nodes.TemplateData(f"\0{node.lineno}{kind}\0", lineno=node.lineno)


def _marked(node: nodes.Stmt) -> list[nodes.Node]:
    return [nodes.Output([_mark(node)], lineno=node.lineno), node]


def render(environment: Bounded, template: Template, context: Mapping[str, Any], report: Report) -> Rendered:
    """Render a template with its map; where it cannot be, its text with names in the place of its tags, and why."""
    written = Written(environment, template)
    environment.begin(template.limits, report)
    pieces = Pieces()
    try:
        tree = _Marking().visit(environment.parse(written.text, template.path, template.path))
        code = environment.compile(tree, template.path, template.path)
        compiled = Compiled.from_code(environment, code, environment.globals)
        _piece_together(compiled.root_render_func(compiled.new_context(dict(context))), written, pieces, environment)
    except Exception as error:  # noqa: BLE001 - the code of a template may raise anything at all
        problem = _problem(error, written, template.path)
        return Rendered(*scrubbed(written, context), (problem, *_placed(report, written)))
    return Rendered(*pieces.done(), tuple(_placed(report, written)))


def _piece_together(chunks: Iterable[str], written: Written, pieces: Pieces, environment: Bounded) -> None:
    kind, at = "t", 0
    for chunk in chunks:
        parts = MARK.split(chunk)
        for index in range(0, len(parts), 3):
            if index:
                kind, at = parts[index - 1], int(parts[index - 2])
            text = parts[index]
            if not text:
                continue
            if kind == "c":
                environment.budget.print(text)
                written.copy(pieces, text, at)
                at += len(text)
            else:
                written.make(pieces, text, at)


def _problem(error: Exception, written: Written, path: str) -> Problem:
    """Say what went wrong, and at which tag."""
    offset = error.lineno if isinstance(error, TemplateSyntaxError) and error.name in (None, path) else -1
    step = error.__traceback__
    while step is not None and offset < 0:
        offset = offset_in(step.tb_frame, step.tb_lineno, path, offset)
        step = step.tb_next
    place = written.original(written.tag_at(offset)[0]) if offset >= 0 else -1
    if isinstance(error, OverBudget):
        values = {"what": f"the number of {error.what} of a template", "limit": str(error.limit)}
        return Problem("LIMIT_EXCEEDED", values, place)
    said = " ".join(str(error).split()) or type(error).__name__
    return Problem("TEMPLATE_ERROR", {"reason": said[:300]}, place)


def _placed(report: Report, written: Written) -> Iterator[Problem]:
    for problem in report.problems():
        offset = written.original(written.tag_at(problem.offset)[0]) if problem.offset >= 0 else -1
        yield Problem(problem.code, problem.values, offset)
