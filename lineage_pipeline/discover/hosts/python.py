"""SQL in Python: strings are followed from where they are written to where they are run, by the syntax tree."""

import ast
from collections.abc import Iterable, Mapping, Sequence

from lineage_pipeline.discover.hosts.evaluate import Evaluator
from lineage_pipeline.discover.hosts.imports import Constants, imported_names, no_constants
from lineage_pipeline.discover.hosts.known import (
    NOTHING,
    Function,
    Known,
    Later,
    Names,
    Source,
    callers_first,
    join_branches,
    name_of,
    one_of,
    texts_in,
)
from lineage_pipeline.discover.hosts.sinks import Sink, finished, is_file, is_sql, is_statement, returns_sql, sinks_of
from lineage_pipeline.discover.hosts.syntax import BROKEN, expressions_of, nodes_of, parsed, statements_in
from lineage_pipeline.discover.hosts.values import (
    BUDGET,
    UNKNOWN_PART,
    Extract,
    Problem,
    Value,
    is_elsewhere,
    place_of,
    plain,
    text_of,
    too_much,
    unused,
    weigh,
)

DEEPEST = 4
"""How deep functions that call each other are followed."""

STEPS = 5_000
"""How many statements of functions are gone through for what those functions give."""


def read_python(text: str, constants: Constants = no_constants) -> Extract:
    """Give the SQL of a program, in the order of the file; `constants` are those of the modules that it imports."""
    program = Program(constants)
    program.read(text)
    return program.extract()


class Program:
    """A program, read piece by piece: what one cell of a notebook says, the next one knows."""

    def __init__(self, constants: Constants = no_constants) -> None:
        """Start with nothing but those who know the constants of modules."""
        self.constants = constants
        self.names = Names()
        self.found: dict[Value, None] = {}
        self.spare: dict[Value, None] = {}
        self.problems: dict[Problem, None] = {}
        self.calls: dict[ast.AST, list[Mapping[str, Known]]] = {}
        self.given: dict[ast.AST, Known] = {}
        self.later: list[Later] = []
        self.steps, self.weight = 0, [0, 0]

    def read(self, text: str, base: int = 0) -> bool:
        """Read a piece that begins at an offset of the file; one that is not Python is a finding, and False."""
        try:
            tree = parsed(text)
        except BROKEN as error:
            line = getattr(error, "lineno", None) or 1
            source = Source.of(text, base)
            at = base + source.lines[min(line, len(source.lines)) - 1]
            reason = f"{getattr(error, 'msg', None) or error} in Python, line {line}"
            self.problems[Problem("PARSE_ERROR", (("reason", reason),), at)] = None
            return False
        Walk(Source.of(text, base), self, self.names).module(tree.body)
        return True

    def extract(self) -> Extract:
        """Read the bodies of functions, callers first, and give what was found, sorted by place."""
        while self.later:
            waiting, self.later = callers_first(self.later), []
            for later in waiting:
                Walk(later.function.source, self, self.names).function(later, later.function)
        self.found |= dict.fromkeys(unused(self.spare, self.found))
        values = sorted(self.found, key=place_of)
        return Extract(tuple(values), tuple(sorted(self.problems, key=lambda problem: problem.at)))


class Walk:
    """One piece of a program, statement by statement; the bodies of functions come last, when all names are known.

    A `silent` one goes through a function for what that gives, and takes nothing.
    """

    def __init__(self, source: Source, program: Program, names: Names, *, silent: bool = False) -> None:
        """Start at the top of a module or a function."""
        self.source = source
        self.program = program
        self.names = self.scope = names
        self.silent = silent
        self.returned: list[Known] = []
        self.gives_sql = False
        self.constants = False

    def module(self, body: Sequence[ast.stmt]) -> None:
        """Read statements; the functions that they define are left for later."""
        self.names.functions |= self.defined(body)
        self.constants = True  # of a module or a class: others may run what they hold
        self.block(body)

    def defined(self, body: Iterable[ast.stmt], prefix: str = "") -> dict[str, Function]:
        """Give the functions that statements define by the names that they are called by."""
        found = {}
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                bound = bool(prefix) and not any(name_of(item) == "staticmethod" for item in node.decorator_list)
                found[prefix + node.name] = Function(node, self.source, bound)
        return found

    def function(self, later: Later, function: Function) -> None:
        """Read the body of a function; its parameters are what the calls of it in the program say."""
        known = later.scope.copy()
        known.known |= later.members
        known.functions = {**known.functions, **later.methods, **self.defined(function.node.body)}
        calls = self.program.calls.get(function.node, [])
        number = known.choice()
        for parameter in function.all_parameters():
            known.known[parameter] = one_of([given.get(parameter, NOTHING) for given in calls], number)
        self.names = self.scope = known
        self.gives_sql = returns_sql(function.node)
        self.block(function.node.body)

    def run(self, function: Function, given: Mapping[str, Known]) -> Known:
        """Say what a function of the program gives for what it is given."""
        blind = all(value is NOTHING for value in given.values())
        if blind and function.node in self.program.given:
            return self.program.given[function.node]
        if self.names.depth >= DEEPEST or self.program.steps > STEPS:
            return NOTHING
        names = self.program.names.copy()
        names.depth, names.functions = self.names.depth + 1, self.names.functions
        names.known |= {name: value for name, value in self.names.known.items() if name.startswith("self.")}
        names.known |= {name: given.get(name, NOTHING) for name in function.all_parameters()}
        inner = Walk(function.source, self.program, names, silent=True)
        inner.block(function.node.body)
        found = one_of(inner.returned, names.choice())
        if blind:
            self.program.given[function.node] = found
        return found

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Read statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Read one statement: what it runs, then what it assigns, then what is inside it."""
        if self.silent:
            self.program.steps += 1
        else:
            for expression in expressions_of(node):
                self.sinks(expression)
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assign(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.defer(Later(Function(node, self.source), self.scope))
            case ast.ClassDef():
                self.members(node)
            case ast.Import() | ast.ImportFrom():
                self.names.imported |= imported_names(node)
            case ast.Return(value=ast.expr() as value):
                self.give(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "extend")) as call):
                self.append(call)
            case _:
                self.inside(node)

    def assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        """Remember what names stand for."""
        evaluator, value = self.evaluator, node.value
        if isinstance(node, ast.AugAssign):
            value = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        if value is None:
            return
        known = evaluator.known(value)
        if self.constants and not isinstance(value, ast.Dict):
            self.take(Sink(value, spare=True))
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            evaluator.bound(target, known)

    def defer(self, later: Later) -> None:
        """Leave the body of a function until all names are known."""
        if not self.silent:
            self.program.later.append(later)

    def give(self, value: ast.expr) -> None:
        """Remember what a function gives."""
        if self.gives_sql:
            self.take(Sink(value, sure=True))
        if self.silent:
            self.returned.append(self.evaluator.known(value))

    def append(self, call: ast.Call) -> None:
        """Let a list have more items: in a loop, one for each turn."""
        evaluator, target = self.evaluator, call.func
        name = name_of(target.value) if isinstance(target, ast.Attribute) else ""
        before = self.names.known.get(name, NOTHING)
        if before.items is None or len(call.args) != 1:
            return
        added: tuple[Known, ...] | None = tuple(Known((text,)) for text in evaluator.texts(call.args[0]))
        if getattr(target, "attr", "") == "extend":
            added = evaluator.items(call.args[0])
        elif (item := evaluator.known(call.args[0])).items is not None or item.entries is not None:
            added = (item,)
        self.names.known[name] = NOTHING if added is None else Known(items=before.items + added)

    def inside(self, node: ast.stmt) -> None:
        """Read the blocks of a statement: those that may be passed over leave both what was and what is."""
        if isinstance(node, ast.For | ast.AsyncFor):
            turns = self.evaluator.items(node.iter)
            self.evaluator.bound(node.target, one_of(turns or (), self.names.choice()))
        for item in getattr(node, "items", ()):
            if item.optional_vars is not None:
                self.evaluator.bound(item.optional_vars, self.evaluator.known(item.context_expr))
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
        join_branches(before, ends)
        self.names = before

    def members(self, node: ast.ClassDef) -> None:
        """Read a class: what its body and its methods assign to the instance is known in all methods."""
        outer, self.names = self.names, self.names.copy()
        waiting, self.program.later = self.program.later, []
        before = dict(self.names.known)
        functions = self.defined(node.body, "self.")
        self.block(node.body)
        own = {name: value for name, value in self.names.known.items() if before.get(name) is not value}
        members = {f"self.{name}": value for name, value in own.items()}
        self.names.known |= members
        for statement in statements_in(node.body):
            if isinstance(statement, ast.Assign) and name_of(statement.targets[0]).startswith("self."):
                members.setdefault(name_of(statement.targets[0]), self.evaluator.known(statement.value))
        outer.known |= {f"{node.name}.{name}": value for name, value in own.items()}
        methods = (Later(one.function, one.scope, members, functions) for one in self.program.later)
        self.program.later = [*waiting, *methods]
        self.names = outer

    @property
    def evaluator(self) -> Evaluator:
        """Evaluate with what is known here."""
        return Evaluator(self.source, self.names, self.run, self.program.constants)

    def sinks(self, node: ast.expr) -> None:
        """Take the SQL that an expression runs, and remember what it gives to functions of the program."""
        for inner in nodes_of(node, (ast.Call, ast.Dict)):
            own = self.names.functions.get(name_of(inner.func)) if isinstance(inner, ast.Call) else None
            if own is not None and isinstance(inner, ast.Call):
                self.program.calls.setdefault(own.node, []).append(self.evaluator.given(own, inner))
            if isinstance(inner, ast.Call | ast.Dict):
                for sink in sinks_of(inner, own):
                    self.take(sink)

    def take(self, sink: Sink) -> None:
        """Take one argument, or each of a list."""
        evaluator = self.evaluator
        for value in texts_in(evaluator.known(sink.node)) or evaluator.texts(sink.node):
            self.program.weight[sink.spare] += weigh(value)
            if self.program.weight[sink.spare] > BUDGET:
                self.program.problems[too_much()] = None
                return
            said = text_of(value)
            if is_elsewhere(value) and is_statement(said):
                continue  # it is read where it is written
            if sink.spare:
                if is_statement(said):
                    self.program.spare |= dict.fromkeys(plain(text) for text in finished(value, sink, evaluator))
            elif is_sql(said, sure=sink.sure):
                self.program.found |= dict.fromkeys(plain(text) for text in finished(value, sink, evaluator))
            elif sink.sure and UNKNOWN_PART in value and not is_file(said):
                place = self.source.place(sink.node)
                self.program.problems[Problem("DYNAMIC_SQL", (("share", "0"),), place)] = None
