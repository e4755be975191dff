"""Models that are Python programs: what they read stands in their calls, what they give is known when they run."""

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from lineage_pipeline.discover.dbt.nodes import Node
from lineage_pipeline.discover.hosts.known import Source
from lineage_pipeline.discover.hosts.reading import hosted
from lineage_pipeline.discover.hosts.syntax import BROKEN, parsed
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Problem, Rendered

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import Session

SUFFIX = ".py"
DBT, MODEL = "dbt", "model"
READS = frozenset({"ref", "source"})
MATERIALIZED = frozenset({"table", "incremental"})
"""What dbt makes of a program."""


class Call(msgspec.Struct, frozen=True):
    """A call of `dbt.ref` or `dbt.source`: its arguments, and where it stands."""

    name: str
    arguments: tuple[str, ...]
    version: str
    at: int
    length: int


class Program(msgspec.Struct, frozen=True):
    """What a program says to dbt; `problem` is why it is none that dbt would run."""

    config: Mapping[str, Any] = {}
    calls: tuple[Call, ...] = ()
    problem: str = ""
    at: int = 0


def read_program(text: str) -> Program:
    """Read what a program says to dbt, as dbt reads it: from its text, without running it."""
    try:
        tree = parsed(text)
    except BROKEN as error:
        line = getattr(error, "lineno", None) or 1
        starts = Source.of(text).lines
        return Program(
            problem=f"{getattr(error, 'msg', None) or error} in Python, line {line}",
            at=starts[min(line, len(starts)) - 1],
        )
    if not any(isinstance(node, ast.FunctionDef) and node.name == MODEL for node in tree.body):
        return Program(problem="a Python model has a function model(dbt, session); this file has none")
    source, config = Source.of(text), dict[str, Any]()
    calls: list[Call] = []
    for name, call in _calls(tree):
        if name == "config":
            config |= {given.arg: _constant(given.value) for given in call.keywords if given.arg}
        elif name in READS:
            written, at = source.written(call)
            calls.append(Call(name, _texts(call), _version(call), at, len(written)))
    return Program(config, tuple(sorted(calls, key=lambda call: call.at)))


def config_of(text: str, project: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a program sets for itself; dbt makes tables of programs, whatever the project says of others."""
    config = dict(read_program(text).config)
    kind = config.get("materialized") or project.get("materialized")
    return {**config, "materialized": kind if kind in MATERIALIZED else "table"}


def rendered_program(session: "Session", node: Node, text: str) -> Rendered:
    """Render a program as the table that it becomes: it reads tables as a whole, and may have any columns."""
    if session.config(node).get("enabled") is False:
        return Rendered("", (0, 0, 0))
    program = read_program(text)
    session.start(node)
    mark = session.target.adapter.mark
    pieces = Pieces()
    pieces.add(f"create table {session.naming.of(node)} as\n")
    pieces.make(f"select program.* from {mark}python://{node.package}/{node.name}{mark} as program", program.at, 0)
    for call in program.calls:
        if call.name == "ref" and call.arguments:
            named = session.reference(call.arguments[-1], "".join(call.arguments[:-1][:1]), call.version)
        elif len(call.arguments) > 1:
            named = session.source(*call.arguments[:2])
        else:
            continue  # what is asked for is known when it runs
        if not named.is_cte:
            pieces.add(" cross join ")
            pieces.make(str(named), call.at, call.length)
    problems = [Problem("TEMPLATE_ERROR", {"reason": program.problem}, program.at)] if program.problem else []
    inner = hosted(node.path, text, session.target.adapter.dialect) if not program.problem else None
    if inner is not None and inner.text:
        pieces.add("\n;\n")
        pieces.add(inner.text, inner.copies)
        problems.extend(Problem(one.code, dict(one.values), one.at) for one in inner.problems)
    return Rendered(*pieces.done(), tuple(problems))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == DBT
        ):
            yield node.func.attr, node


def _texts(call: ast.Call) -> tuple[str, ...]:
    """Give the arguments that are written as texts; where one is not, nothing is known."""
    said = [_constant(argument) for argument in call.args]
    return tuple(str(item) for item in said) if all(isinstance(item, str) for item in said) else ()


def _version(call: ast.Call) -> str:
    said = next((_constant(given.value) for given in call.keywords if given.arg in ("v", "version")), None)
    return "" if said is None else str(said)


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
