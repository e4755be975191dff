"""Models, snapshots and seeds as statements: what dbt would run to make them, with their places in the files."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from lineage_pipeline.discover.dbt.nodes import Node, body_of, tag_of
from lineage_pipeline.discover.dbt.session import CTE, Session
from lineage_pipeline.discover.dbt.values import type_of_values
from lineage_pipeline.discover.templating.pieces import Copies, Pieces, aligned, cut
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template
from lineage_pipeline.discover.templating.tracing import render
from lineage_pipeline.discover.templating.undefined import Report

HEAD = re.compile(r"(?>\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*+", re.DOTALL)
WITH = re.compile(r"with\s+(?:recursive\s+)?", re.IGNORECASE)

SCD = "dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to"
"""The columns that a snapshot adds."""

ROWS = 1000
"""How many rows of a seed are looked at to tell its types."""


def rendered_file(session: Session, template: Template, nodes: Sequence[Node]) -> Rendered:
    """Render the file of one or more nodes."""
    pieces, problems = Pieces(), list[Problem]()
    for node in nodes:
        if session.config(node).get("enabled") is False:
            continue
        made = Pieces()
        problems.extend(_statements(session, node, _replaced(template, body_of(template.text, node)), made))
        text, copies = made.done()
        pieces.add("\n;\n" if text and pieces.size else "")
        pieces.add(text, copies if text else ())
    return Rendered(*pieces.done(), tuple(problems))


def _replaced(template: Template, text: str) -> Template:
    return Template(template.path, text, template.variables, template.dialect, template.library, template.limits)


def _statements(session: Session, node: Node, template: Template, pieces: Pieces) -> list[Problem]:
    """Add what makes a node; a model that grows is made once, and then added to."""
    session.incremental = False
    body, copies, problems = rendered_body(session, node, template)
    config = session.config(node)
    kind = str(config.get("materialized") or ("view" if node.kind == "model" else "table"))
    if kind == "ephemeral" or not body.strip():
        return problems
    relation = session.naming.of(node)
    _hooks(session, node, "pre-hook", pieces)
    made = relation.type if relation.type != "cte" else "view"
    head = f"create {made} {relation} as\n"
    if node.kind == "snapshot":
        pieces.make(head, *tag_of(session.library.read(node.path) or "", node))
    else:
        pieces.add(head)
    _add(pieces, node, body, copies)
    if kind == "incremental" and "is_incremental" in template.text:
        session.incremental = True
        again, copies, more = rendered_body(session, node, template)
        session.incremental = False
        if again != body:
            pieces.add(f"\n;\ninsert into {relation}\n")
            _add(pieces, node, again, copies)
            problems.extend(problem for problem in more if problem not in problems)
    _hooks(session, node, "post-hook", pieces)
    return problems


def _add(pieces: Pieces, node: Node, body: str, copies: Copies) -> None:
    if node.kind != "snapshot":
        pieces.add(body, copies)
        return
    added = ", ".join(f"cast(null as {'varchar(64)' if name == SCD[0] else 'timestamp'}) as {name}" for name in SCD)
    pieces.add(f"select snapshotted.*, {added} from (")
    start, end = len(body) - len(body.lstrip()), len(body.rstrip())
    pieces.add(body[start:end], cut(copies, start, end))
    pieces.add(") as snapshotted")


def rendered_body(session: Session, node: Node, template: Template) -> tuple[str, Copies, list[Problem]]:
    """Render the query of a node, with the queries of the ephemeral models that it reads before it."""
    session.start(node)
    known = session.known(node)
    if known is not None and known.compiled and not session.incremental:
        return known.compiled, aligned(template.text, known.compiled), []
    report = Report(template.path)
    result = render(session.environment, template, session.context(node.package), report)
    problems = list(result.problems)
    ctes = list(session.ctes.values())
    if not ctes:
        return result.text, result.copies, problems
    inner = _expressions(session, ctes, (node,))
    session.current = node
    at = HEAD.match(result.text)
    start = at.end() if at else 0
    word = WITH.match(result.text, start)
    pieces = Pieces()
    stop = word.end() if word else start
    pieces.add(result.text[:stop], cut(result.copies, 0, stop))
    pieces.add(("" if word else "with ") + ",\n".join(inner) + (",\n" if word else "\n"))
    pieces.add(result.text[stop:], cut(result.copies, stop, len(result.text)))
    text, copies = pieces.done()
    return text, copies, problems


def _expressions(session: Session, nodes: Sequence[Node], around: tuple[Node, ...]) -> list[str]:
    """Give ephemeral models as common table expressions, those that others need before them, each once."""
    found: dict[str, str] = {}
    for node in nodes:
        if node in around:
            continue
        text = session.library.read(node.path) or ""
        session.start(node)
        result = render(
            session.environment, Template(node.path, text), session.context(node.package), Report(node.path)
        )
        inner = list(session.ctes.values())
        for one in _expressions(session, inner, (*around, node)):
            found.setdefault(one.split(" as (", 1)[0], one)
        name = CTE + session.naming.of(node).identifier
        found.setdefault(name, f"{name} as (\n{result.text.rstrip().rstrip(';')}\n)")
    return list(found.values())


def _hooks(session: Session, node: Node, key: str, pieces: Pieces) -> None:
    """Add what runs before or after a model is made."""
    listed = session.current_config().get(key)
    for hook in listed if isinstance(listed, list | tuple) else [listed] if listed else []:
        said = hook.get("sql") if isinstance(hook, dict) else hook
        text = session.text(said, node.package).strip().rstrip(";") if isinstance(said, str) else ""
        if text:
            pieces.add(f"{text}\n;\n" if key == "pre-hook" else f"\n;\n{text}")


def rendered_snapshots(session: Session, nodes: Sequence[Node]) -> Rendered:
    """Render the snapshots that a YAML file defines over a relation, each where the file names it."""
    pieces = Pieces()
    for node in nodes:
        session.start(node)
        relation = session.text("{{ " + str(node.entry.get("relation")) + " }}", node.package)
        if session.config(node).get("enabled") is not False:
            made = Pieces()
            made.add(f"create table {session.naming.of(node)} as\n")
            _add(made, node, f"select * from {relation}", ())
            pieces.make(made.done()[0], *session.documents.place(node.path, "snapshots", node.name))
            pieces.add("\n;\n")
    return Rendered(*pieces.done())


def rendered_seed(session: Session, node: Node, text: str) -> Rendered:
    """Render a seed as the table that it becomes: its columns stand in its first line."""
    config = session.config(node)
    rows = list(_rows(text, str(config.get("delimiter") or ",")))
    if not rows or config.get("enabled") is False:
        return Rendered("", (0, 0, 0))
    given = config.get("column_types") if isinstance(config.get("column_types"), dict) else {}
    mark, wanted = session.target.adapter.mark, config.get("quote_columns")
    quoted = wanted if isinstance(wanted, bool) else session.target.adapter.quotes
    pieces = Pieces()
    pieces.make(f"create table {session.naming.of(node)} (", 0, 0)
    at = 0
    for number, name in enumerate(rows[0]):
        found = max(text.find(name, at), at)
        at = found + len(name)
        told = type_of_values([row[number] for row in rows[1:] if number < len(row)])
        kind = dict(given or {}).get(name) or session.target.adapter.seed_type(told)
        pieces.add(", " if number else "")
        plain = name.isidentifier() and not quoted
        pieces.make(name if plain else f"{mark}{name}{mark}", found, len(name))
        pieces.add(f" {kind}")
    pieces.make(")", at, 0)
    return Rendered(*pieces.done())


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter[:1])):
            if number > ROWS:
                return
            yield row
    except csv.Error:
        return


def rendered_exposures(session: Session, exposures: Sequence[Any], path: str) -> Rendered:
    """Render exposures as views over all that they depend on: what reads the models outside of the warehouse."""
    pieces = Pieces()
    for entry in exposures:
        session.start(None)
        listed = entry.get("depends_on")
        names = [
            session.text("{{ " + str(one) + " }}", session.project.name) for one in listed or () if "(" in str(one)
        ]
        if names:
            sources = " cross join ".join(names)
            text = f"create view {session.exposure(entry)} as\nselect * from {sources}"
            pieces.make(text, *session.documents.place(path, "exposures", entry["name"]))
            pieces.add("\n;\n")
    return Rendered(*pieces.done())


HOOKS = ("on-run-start", "on-run-end")
WRITES = re.compile(r"(?:insert|update|merge|delete|create|alter|drop|truncate|copy|call)\b", re.IGNORECASE)


def project_hooks(session: Session, path: str) -> Iterator[Problem]:
    """Tell of the hooks of a project that write: they are run for no model, and nothing is worked out from them."""
    session.start(None)
    for key in HOOKS:
        listed = session.project.document.get(key)
        for hook in listed if isinstance(listed, list) else [listed]:
            said = session.text(hook, session.project.name).strip() if isinstance(hook, str) else ""
            head = HEAD.match(said)
            if WRITES.match(said, head.end() if head else 0):
                at = session.documents.place(path, key)[0]
                yield Problem("UNSUPPORTED_SYNTAX", {"construct": f"the hook {key}"}, at)
