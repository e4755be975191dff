"""SQL in Python: strings are followed from where they are written to where they are run, by the syntax tree."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence

from lineage_pipeline.discover.hosts.evaluate import UNKNOWN_PART, Evaluator, Names, Source, formatted, name_of
from lineage_pipeline.discover.hosts.sinks import BEGINS, SHAPES, Sink, sinks_of
from lineage_pipeline.discover.hosts.values import (
    UNKNOWN,
    Extract,
    Part,
    Problem,
    Value,
    either,
    place_of,
    substituted,
    text_of,
)

BINDS = re.compile(r"%s|%\(\w+\)s")
"""Parameters as drivers of databases write them."""

JINJA = re.compile(r"\{\{.*?\}\}|\{[%#].*?[%#]\}", re.DOTALL)
"""Templates that an operator fills when it runs."""

FILE = re.compile(r"^[\w./ {}-]+\.(sql|hql)$", re.IGNORECASE)

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def read_python(text: str) -> Extract:
    """Give the SQL of a program, in the order of the file."""
    program = Program()
    program.read(text)
    return program.extract()


class Program:
    """A program, read piece by piece: what one cell of a notebook says, the next one knows."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.names = Names()
        self.found: dict[Value, None] = {}
        self.problems: dict[Problem, None] = {}

    def read(self, text: str, base: int = 0) -> bool:
        """Read a piece that begins at an offset of the file; one that is not Python is a finding, and False."""
        try:
            with warnings.catch_warnings():  # somebody else's escapes are not ours to complain about
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            source = Source.of(text, base)
            at = base + source.lines[min(line, len(source.lines)) - 1]
            reason = f"{getattr(error, 'msg', None) or error} in Python, line {line}"
            self.problems[Problem("PARSE_ERROR", (("reason", reason),), at)] = None
            return False
        Walk(Source.of(text, base), self).module(tree.body)
        return True

    def extract(self) -> Extract:
        """Give what was found, sorted by place."""
        values = sorted(self.found, key=place_of)
        return Extract(tuple(values), tuple(sorted(self.problems, key=lambda problem: problem.at)))


class Walk:
    """One piece of a program, statement by statement; the bodies of functions come last, when all names are known."""

    def __init__(self, source: Source, program: Program) -> None:
        """Start at the top."""
        self.source = source
        self.program = program
        self.names = program.names
        self.later: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Names]] = []

    def module(self, body: Sequence[ast.stmt]) -> None:
        """Read statements, and then the functions that they define."""
        self.block(body)
        while self.later:
            function, members = self.later.pop(0)
            known = self.program.names.copy()
            known.texts |= members.texts
            arguments = function.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                known.texts.pop(argument.arg, None)
                known.lists.pop(argument.arg, None)
            self.names = known
            self.block(function.body)

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Read statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Read one statement: what it runs, then what it assigns, then what is inside it."""
        for expression in _expressions(node):
            self.sinks(expression)
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, value)
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                self.names.texts[name_of(target)] = self.evaluator.texts(
                    ast.copy_location(ast.BinOp(target, ast.Add(), value), node)
                )
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.later.append((node, Names()))
            case ast.ClassDef():
                self.members(node)
            case _:
                self.inside(node)

    def inside(self, node: ast.stmt) -> None:
        """Read the blocks of a statement: those that may be passed over leave both what was and what is."""
        if isinstance(node, ast.For | ast.AsyncFor):
            self.loop(node)
        branches = [getattr(node, name) for name in ("body", "orelse") if getattr(node, name, None)]
        if isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While):
            self.branch(branches if len(branches) > 1 and isinstance(node, ast.If) else [*branches, []])
            return
        for body in branches:
            self.block(body)
        for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.block(handler.body)
        self.block(getattr(node, "finalbody", ()))

    def branch(self, branches: Sequence[Sequence[ast.stmt]]) -> None:
        """Read branches of which one runs."""
        before, ends = self.names, []
        for body in branches:
            self.names = before.copy()
            self.block(body)
            ends.append(self.names)
        for name in dict.fromkeys(name for end in ends for name in end.texts):
            before.texts[name] = either(*(end.texts.get(name, ()) for end in ends)) or UNKNOWN
        for end in ends:
            before.lists |= end.lists
            before.tables |= end.tables
        self.names = before

    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        """Let the variable of a loop be each of the items of a list that is written out."""
        items = self.evaluator.items(node.iter)
        if isinstance(node.target, ast.Name):
            self.names.texts[node.target.id] = tuple(value for item in items for value in item) if items else UNKNOWN

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Remember what a name stands for."""
        name, evaluator = name_of(target), self.evaluator
        if not name:
            return
        items, table = evaluator.items(value), evaluator.table(value)
        if items is not None:
            self.names.lists[name] = items
        if table is not None:
            self.names.tables[name] = table
        self.names.texts[name] = evaluator.texts(value)

    def members(self, node: ast.ClassDef) -> None:
        """Read a class: what its body and its methods assign to the instance is known in all methods."""
        outer, self.names = self.names, self.names.copy()
        waiting, self.later = self.later, []
        self.block(node.body)
        members = Names({f"self.{name}": texts for name, texts in self.names.texts.items() if name not in outer.texts})
        for statement in ast.walk(node):
            if isinstance(statement, ast.Assign) and name_of(statement.targets[0]).startswith("self."):
                members.texts.setdefault(name_of(statement.targets[0]), self.evaluator.texts(statement.value))
        self.later = [*waiting, *((function, members) for function, _ in self.later)]
        self.names = outer

    @property
    def evaluator(self) -> Evaluator:
        """Evaluate with what is known here."""
        return Evaluator(self.source, self.names)

    def sinks(self, node: ast.expr) -> None:
        """Take the SQL that an expression runs."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call | ast.Dict):
                for sink in sinks_of(inner):
                    self.take(sink)

    def take(self, sink: Sink) -> None:
        """Take one argument, or each of a list."""
        items = self.evaluator.items(sink.node)
        values = [value for item in items for value in item] if items is not None else self.evaluator.texts(sink.node)
        for value in values:
            said = text_of(value)
            if (BEGINS if sink.sure else SHAPES).match(said):
                self.program.found[_finished(value, sink, self.evaluator)] = None
            elif sink.sure and UNKNOWN_PART in value and not FILE.match(said):
                at = self.source.base + self.source.offset(sink.node.lineno, sink.node.col_offset)
                self.program.problems[Problem("DYNAMIC_SQL", (("share", "0"),), at)] = None


def _finished(value: Value, sink: Sink, evaluator: Evaluator) -> Value:
    """Give a text as the database sees it: parameters are values, and what is filled in at run time is a hole."""
    if sink.binds:
        value = substituted(value, BINDS, lambda match: (Part("?"),))
    if sink.fields is not None and sink.fields.keywords:
        named = {item.arg: evaluator.texts(item.value) for item in sink.fields.keywords if item.arg}
        value = formatted(value, (), named)
    said = text_of(value)
    if "{{" in said or "{%" in said:
        value = substituted(value, JINJA, lambda match: (UNKNOWN_PART,) if match[0].startswith("{{") else (Part(" "),))
    return value


def _expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Give the expressions of a statement that are not inside the statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr
        elif isinstance(child, ast.keyword):
            yield child.value
