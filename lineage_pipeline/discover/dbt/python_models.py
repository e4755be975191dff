"""dbt models in Python: `dbt.ref` and `dbt.source` calls are read from the text; their columns are unknown."""

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from lineage_pipeline.discover.dbt.nodes import DbtNode
from lineage_pipeline.discover.embedded_sql.extractor import extract_sql
from lineage_pipeline.discover.embedded_sql.known_values import ProgramSource
from lineage_pipeline.discover.embedded_sql.python_syntax import SYNTAX_ERRORS, parse_python
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Problem, Rendered

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import DbtSession

PYTHON_SUFFIX = ".py"
DBT, MODEL = "dbt", "model"
REFERENCE_METHODS = frozenset({"ref", "source"})
PYTHON_MATERIALIZATIONS = frozenset({"table", "incremental"})
"""Materializations that dbt allows for Python models."""


class ReferenceCall(msgspec.Struct, frozen=True):
    """A call of `dbt.ref` or `dbt.source`: its arguments and its location."""

    name: str
    arguments: tuple[str, ...]
    version: str
    at: int
    length: int


class PythonModel(msgspec.Struct, frozen=True):
    """The `dbt` calls of a Python model; `problem` is why dbt would not run it."""

    config: Mapping[str, Any] = {}
    calls: tuple[ReferenceCall, ...] = ()
    problem: str = ""
    at: int = 0


def parse_python_model(text: str) -> PythonModel:
    """Parse the `dbt` calls of a Python model as dbt does: from its text, without running it."""
    try:
        tree = parse_python(text)
    except SYNTAX_ERRORS as error:
        line = getattr(error, "lineno", None) or 1
        starts = ProgramSource.of(text).lines
        return PythonModel(
            problem=f"{getattr(error, 'msg', None) or error} in Python, line {line}",
            at=starts[min(line, len(starts)) - 1],
        )
    if not any(isinstance(node, ast.FunctionDef) and node.name == MODEL for node in tree.body):
        return PythonModel(problem="a Python model has a function model(dbt, session); this file has none")
    source, config = ProgramSource.of(text), dict[str, Any]()
    calls: list[ReferenceCall] = []
    for name, call in _iter_dbt_calls(tree):
        if name == "config":
            config |= {given.arg: _literal_value(given.value) for given in call.keywords if given.arg}
        elif name in REFERENCE_METHODS:
            written, at = source.source_text(call)
            calls.append(
                ReferenceCall(
                    name=name,
                    arguments=_text_arguments(call),
                    version=_version_argument(call),
                    at=at,
                    length=len(written),
                )
            )
    return PythonModel(config, tuple(sorted(calls, key=lambda call: call.at)))


def python_model_config(text: str, project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a Python model; dbt builds tables of them, whatever the project configures."""
    config = dict(parse_python_model(text).config)
    kind = config.get("materialized") or project.get("materialized")
    return {**config, "materialized": kind if kind in PYTHON_MATERIALIZATIONS else "table"}


def render_python_model(session: "DbtSession", node: DbtNode, text: str) -> Rendered:
    """Render a Python model as the table it builds: it reads whole tables and has unknown columns."""
    if session.node_config(node).get("enabled") is False:
        return Rendered("", (0, 0, 0), (Problem("NODE_DISABLED", {"name": node.name}),))
    program = parse_python_model(text)
    session.start_node(node)
    mark = session.target.adapter.mark
    pieces = Pieces()
    pieces.add(f"create table {session.naming.relation_of(node)} as\n")
    pieces.make(f"select program.* from {mark}python://{node.package}/{node.name}{mark} as program", program.at, 0)
    for call in program.calls:
        if call.name == "ref" and call.arguments:
            named = session.resolve_ref(call.arguments[-1], "".join(call.arguments[:-1][:1]), call.version)
        elif len(call.arguments) > 1:
            named = session.resolve_source(*call.arguments[:2])
        else:
            continue  # what is asked for is known when it runs
        if not named.is_cte:
            pieces.add(" cross join ")
            pieces.make(str(named), call.at, call.length)
    problems = [Problem("TEMPLATE_ERROR", {"reason": program.problem}, program.at)] if program.problem else []
    inner = extract_sql(node.path, text, session.target.adapter.dialect) if not program.problem else None
    if inner is not None and inner.text:
        pieces.add("\n;\n")
        pieces.add(inner.text, inner.copies)
        problems.extend(Problem(one.code, dict(one.values), one.at) for one in inner.problems)
    return Rendered(*pieces.done(), tuple(problems))


def _iter_dbt_calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == DBT
        ):
            yield node.func.attr, node


def _text_arguments(call: ast.Call) -> tuple[str, ...]:
    """Return the arguments that are text literals, or none where one of them is not."""
    said = [_literal_value(argument) for argument in call.args]
    return tuple(str(item) for item in said) if all(isinstance(item, str) for item in said) else ()


def _version_argument(call: ast.Call) -> str:
    said = next((_literal_value(given.value) for given in call.keywords if given.arg in ("v", "version")), None)
    return "" if said is None else str(said)


def _literal_value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
