"""SQL in Python: strings are followed to where they are run, also through constants of imported modules."""

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.discover.embedded_sql.known_values import (
    UNKNOWN_VALUE,
    DeferredFunction,
    KnownValue,
    ProgramFunction,
    ProgramScope,
    ProgramSource,
    choose_value,
    flatten_texts,
    join_branches,
    order_callers_first,
    variable_name,
)
from lineage_pipeline.discover.embedded_sql.python_evaluator import (
    ConstantsLookup,
    PythonEvaluator,
    no_constants,
    parse_import,
)
from lineage_pipeline.discover.embedded_sql.python_syntax import (
    SYNTAX_ERRORS,
    iter_nodes,
    iter_statements,
    parse_python,
    statement_expressions,
)
from lineage_pipeline.discover.embedded_sql.sql_sinks import (
    SqlSink,
    find_sinks,
    finish_python_sql,
    is_sql_file_name,
    is_sql_statement,
    is_sql_text,
    returns_sql,
)
from lineage_pipeline.discover.embedded_sql.text_parts import (
    BUDGET,
    IMPORTED_OFFSET,
    UNKNOWN_PART,
    ExtractedSql,
    ExtractProblem,
    PossibleTexts,
    TextPart,
    TextValue,
    drop_choices,
    drop_overlapping,
    first_offset,
    is_imported_text,
    join_parts,
    sql_limit_problem,
    weigh_text,
)
from lineage_pipeline.discover.templating.protocol import Library, NoLibrary

MAX_CALL_DEPTH = 4
"""How deep nested function calls are followed."""

MAX_FUNCTION_STEPS = 5_000
"""How many statements are evaluated for the results of functions."""


def extract_python(text: str, constants: ConstantsLookup = no_constants) -> ExtractedSql:
    """Extract the SQL of a program in file order; `constants` looks up those of imported modules."""
    program = PythonProgram(constants)
    program.read(text)
    return program.extract()


class PythonProgram:
    """A program read piece by piece: each notebook cell knows the names of earlier ones."""

    def __init__(self, constants: ConstantsLookup = no_constants) -> None:
        """Start empty, with the lookup of imported constants."""
        self.constants = constants
        self.names = ProgramScope()
        self.found: dict[TextValue, None] = {}
        self.spare: dict[TextValue, None] = {}
        self.problems: dict[ExtractProblem, None] = {}
        self.calls: dict[ast.AST, list[Mapping[str, KnownValue]]] = {}
        self.given: dict[ast.AST, KnownValue] = {}
        self.later: list[DeferredFunction] = []
        self.steps, self.weight = 0, [0, 0]

    def read(self, text: str, base: int = 0) -> bool:
        """Read a piece at an offset of the file; return False, with a problem, where it is not Python."""
        try:
            tree = parse_python(text)
        except SYNTAX_ERRORS as error:
            line = getattr(error, "lineno", None) or 1
            source = ProgramSource.of(text, base)
            at = base + source.lines[min(line, len(source.lines)) - 1]
            reason = f"{getattr(error, 'msg', None) or error} in Python, line {line}"
            self.problems[ExtractProblem("PARSE_ERROR", (("reason", reason),), at)] = None
            return False
        ProgramWalker(ProgramSource.of(text, base), self, self.names).module(tree.body)
        return True

    def extract(self) -> ExtractedSql:
        """Read the deferred function bodies, callers first, and return the SQL sorted by offset."""
        while self.later:
            waiting, self.later = order_callers_first(self.later), []
            for later in waiting:
                ProgramWalker(later.function.source, self, self.names).read_function(later, later.function)
        self.found |= dict.fromkeys(drop_overlapping(self.spare, self.found))
        values = sorted(self.found, key=first_offset)
        return ExtractedSql(tuple(values), tuple(sorted(self.problems, key=lambda problem: problem.at)))


class ProgramWalker:
    """Walks one piece of a program; function bodies come last, when all names are known.

    A `silent` walker evaluates a function for its result only, and collects no SQL.
    """

    def __init__(
        self, source: ProgramSource, program: PythonProgram, names: ProgramScope, *, silent: bool = False
    ) -> None:
        """Start at the top of a module or a function."""
        self.source = source
        self.program = program
        self.names = self.scope = names
        self.silent = silent
        self.returned: list[KnownValue] = []
        self.gives_sql = False
        self.constants = False

    def module(self, body: Sequence[ast.stmt]) -> None:
        """Read statements; the functions that they define are deferred."""
        self.names.functions |= self.collect_functions(body)
        self.constants = True  # of a module or a class: others may run what they hold
        self.read_block(body)

    def collect_functions(self, body: Iterable[ast.stmt], prefix: str = "") -> dict[str, ProgramFunction]:
        """Return the functions that statements define, by the names used to call them."""
        found = {}
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                bound = bool(prefix) and not any(variable_name(item) == "staticmethod" for item in node.decorator_list)
                found[prefix + node.name] = ProgramFunction(node, self.source, bound)
        return found

    def read_function(self, later: DeferredFunction, function: ProgramFunction) -> None:
        """Read the body of a function with the arguments of the calls in the program."""
        known = later.scope.copy()
        known.known |= later.members
        known.functions = {**known.functions, **later.methods, **self.collect_functions(function.node.body)}
        calls = self.program.calls.get(function.node, [])
        number = known.new_choice()
        for parameter in function.all_parameters():
            known.known[parameter] = choose_value([given.get(parameter, UNKNOWN_VALUE) for given in calls], number)
        self.names = self.scope = known
        self.gives_sql = returns_sql(function.node)
        self.read_block(function.node.body)

    def evaluate_function(self, function: ProgramFunction, given: Mapping[str, KnownValue]) -> KnownValue:
        """Return the result of a function of the program for given arguments."""
        blind = all(value is UNKNOWN_VALUE for value in given.values())
        if blind and function.node in self.program.given:
            return self.program.given[function.node]
        if self.names.depth >= MAX_CALL_DEPTH or self.program.steps > MAX_FUNCTION_STEPS:
            return UNKNOWN_VALUE
        names = self.program.names.copy()
        names.depth, names.functions = self.names.depth + 1, self.names.functions
        names.known |= {name: value for name, value in self.names.known.items() if name.startswith("self.")}
        names.known |= {name: given.get(name, UNKNOWN_VALUE) for name in function.all_parameters()}
        inner = ProgramWalker(function.source, self.program, names, silent=True)
        inner.read_block(function.node.body)
        found = choose_value(inner.returned, names.new_choice())
        if blind:
            self.program.given[function.node] = found
        return found

    def read_block(self, body: Iterable[ast.stmt]) -> None:
        """Read statements in order."""
        for statement in body:
            self.read_statement(statement)

    def read_statement(self, node: ast.stmt) -> None:
        """Read one statement: the SQL it runs, then its assignments, then its nested blocks."""
        if self.silent:
            self.program.steps += 1
        else:
            for expression in statement_expressions(node):
                self.collect_sinks(expression)
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assign(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.defer(DeferredFunction(ProgramFunction(node, self.source), self.scope))
            case ast.ClassDef():
                self.read_class(node)
            case ast.Import() | ast.ImportFrom():
                self.names.imported |= parse_import(node)
            case ast.Return(value=ast.expr() as value):
                self.note_return(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "extend")) as call):
                self.append_item(call)
            case _:
                self.read_nested(node)

    def assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        """Bind the names that a statement assigns."""
        evaluator, value = self.evaluator, node.value
        if isinstance(node, ast.AugAssign):
            value = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        if value is None:
            return
        known = evaluator.known(value)
        if self.constants and not isinstance(value, ast.Dict):
            self.take_sink(SqlSink(value, spare=True), known)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            evaluator.bind_target(target, known)

    def defer(self, later: DeferredFunction) -> None:
        """Defer the body of a function until all names are known."""
        if not self.silent:
            self.program.later.append(later)

    def note_return(self, value: ast.expr) -> None:
        """Record a return value."""
        if not self.gives_sql and not self.silent:
            return
        known = self.evaluator.known(value)
        if self.gives_sql:
            self.take_sink(SqlSink(value, sure=True), known)
        if self.silent:
            self.returned.append(known)

    def append_item(self, call: ast.Call) -> None:
        """Append an item to a list; in a loop, one for each iteration."""
        evaluator, target = self.evaluator, call.func
        name = variable_name(target.value) if isinstance(target, ast.Attribute) else ""
        before = self.names.known.get(name, UNKNOWN_VALUE)
        if before.items is None or len(call.args) != 1:
            return
        added: tuple[KnownValue, ...] | None
        if getattr(target, "attr", "") == "extend":
            added = evaluator.items(call.args[0])
        elif (item := evaluator.known(call.args[0])).items is not None or item.entries is not None:
            added = (item,)
        else:
            added = tuple(KnownValue((text,)) for text in evaluator.texts_of(call.args[0], item))
        self.names.known[name] = UNKNOWN_VALUE if added is None else KnownValue(items=before.items + added)

    def read_nested(self, node: ast.stmt) -> None:
        """Read the blocks of a statement; optional ones keep both the old and the new values."""
        if isinstance(node, ast.For | ast.AsyncFor):
            turns = self.evaluator.items(node.iter)
            self.evaluator.bind_target(node.target, choose_value(turns or (), self.names.new_choice()))
        for item in getattr(node, "items", ()):
            if item.optional_vars is not None:
                self.evaluator.bind_target(item.optional_vars, self.evaluator.known(item.context_expr))
        branches = [getattr(node, name) for name in ("body", "orelse") if getattr(node, name, None)]
        if isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While):
            self.read_branches(branches if len(branches) > 1 and isinstance(node, ast.If) else [*branches, []])
            return
        for body in branches:
            self.read_block(body)
        for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.read_block(handler.body)
        self.read_block(getattr(node, "finalbody", ()))

    def read_branches(self, branches: Sequence[Sequence[ast.stmt]]) -> None:
        """Read alternative branches."""
        before, ends = self.names, []
        for body in branches:
            self.names = before.copy()
            self.read_block(body)
            ends.append(self.names)
        join_branches(before, ends)
        self.names = before

    def read_class(self, node: ast.ClassDef) -> None:
        """Read a class: what its body and methods assign to the instance is known in all methods."""
        outer, self.names = self.names, self.names.copy()
        waiting, self.program.later = self.program.later, []
        before = dict(self.names.known)
        functions = self.collect_functions(node.body, "self.")
        self.read_block(node.body)
        own = {name: value for name, value in self.names.known.items() if before.get(name) is not value}
        members = {f"self.{name}": value for name, value in own.items()}
        self.names.known |= members
        for statement in iter_statements(node.body):
            if isinstance(statement, ast.Assign) and variable_name(statement.targets[0]).startswith("self."):
                members.setdefault(variable_name(statement.targets[0]), self.evaluator.known(statement.value))
        outer.known |= {f"{node.name}.{name}": value for name, value in own.items()}
        methods = (DeferredFunction(one.function, one.scope, members, functions) for one in self.program.later)
        self.program.later = [*waiting, *methods]
        self.names = outer

    @property
    def evaluator(self) -> PythonEvaluator:
        """Return an evaluator with the names known here."""
        return PythonEvaluator(self.source, self.names, self.evaluate_function, self.program.constants)

    def collect_sinks(self, node: ast.expr) -> None:
        """Collect the SQL that an expression runs, and record arguments given to the program's functions."""
        for inner in iter_nodes(node, (ast.Call, ast.Dict)):
            own = self.names.functions.get(variable_name(inner.func)) if isinstance(inner, ast.Call) else None
            if own is not None and isinstance(inner, ast.Call):
                self.program.calls.setdefault(own.node, []).append(self.evaluator.bind_arguments(own, inner))
            if isinstance(inner, ast.Call | ast.Dict):
                for sink in find_sinks(inner, own):
                    self.take_sink(sink)

    def take_sink(self, sink: SqlSink, known: KnownValue | None = None) -> None:
        """Collect one argument, or each item of a list; `known` is its value where it is evaluated already."""
        evaluator = self.evaluator
        known = evaluator.known(sink.node) if known is None else known
        for value in flatten_texts(known) or evaluator.texts_of(sink.node, known):
            self.program.weight[sink.spare] += weigh_text(value)
            if self.program.weight[sink.spare] > BUDGET:
                self.program.problems[sql_limit_problem()] = None
                return
            said = join_parts(value)
            if is_imported_text(value) and is_sql_statement(said):
                continue  # it is read where it is written
            if sink.spare:
                if is_sql_statement(said):
                    self.program.spare |= dict.fromkeys(
                        drop_choices(text) for text in finish_python_sql(value, sink, evaluator)
                    )
            elif is_sql_text(said, sure=sink.sure):
                self.program.found |= dict.fromkeys(
                    drop_choices(text) for text in finish_python_sql(value, sink, evaluator)
                )
            elif sink.sure and UNKNOWN_PART in value and not is_sql_file_name(said):
                place = self.source.offset_of(sink.node)
                self.program.problems[ExtractProblem("DYNAMIC_SQL", (("share", "0"),), place)] = None


class RepositoryModules:
    """The modules of a repository, each read when a program first uses a constant of it."""

    def __init__(self, library: Library | None = None) -> None:
        """Store the files of the repository."""
        self.library = library or NoLibrary()
        self._known: dict[str, Mapping[str, KnownValue]] = {}

    def constants(self, path: str, module: str, level: int) -> Mapping[str, KnownValue]:
        """Return the constants of a module as imported by the file at a path; `level` counts the leading dots."""
        for place in _module_candidates(posixpath.normpath(path), module, level):
            if place not in self._known:
                text = self.library.read(place)
                if text is None:
                    continue
                self._known[place] = {}  # one that imports itself knows nothing of it
                self._known[place] = self._read_module(text, place)
            return self._known[place]
        return {}

    def _read_module(self, text: str, path: str) -> dict[str, KnownValue]:
        program = PythonProgram(lambda module, level: self.constants(path, module, level))
        program.read(text)
        return {name: _mark_imported(value) for name, value in program.names.known.items()}


def _module_candidates(path: str, module: str, level: int) -> Iterator[str]:
    """Yield the files that may be a module, nearest first."""
    folder = posixpath.dirname(path)
    inner = module.replace(".", "/")
    if level:
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        yield from _module_files(posixpath.join(folder, inner))
        return
    while True:
        yield from _module_files(posixpath.join(folder, inner))
        if not folder:
            return
        folder = posixpath.dirname(folder)


def _module_files(place: str) -> Iterator[str]:
    yield f"{place}.py"
    yield posixpath.join(place, "__init__.py")


def _mark_imported(known: KnownValue) -> KnownValue:
    """Return a value whose parts are marked as being in another file."""
    items = None if known.items is None else tuple(_mark_imported(item) for item in known.items)
    entries = None if known.entries is None else {key: _mark_imported(item) for key, item in known.entries.items()}
    texts: PossibleTexts = tuple(
        tuple(
            msgspec.structs.replace(part, at=IMPORTED_OFFSET) if part.text else TextPart("", choice=part.choice)
            for part in value
        )
        for value in known.texts
    )
    return KnownValue(texts, items, entries)
