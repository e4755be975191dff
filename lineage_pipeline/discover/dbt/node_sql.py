"""SQL of dbt nodes: the statements dbt would run for models, snapshots, seeds and exposures, with a source map."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from lineage_pipeline.discover.dbt.nodes import DbtNode, node_body, snapshot_tag_span
from lineage_pipeline.discover.dbt.session import CTE_PREFIX, DbtSession
from lineage_pipeline.discover.dbt.target import infer_seed_type
from lineage_pipeline.discover.templating.jinja import render_jinja
from lineage_pipeline.discover.templating.pieces import Copies, Pieces, align_texts, slice_copies
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import TemplateReport

LEADING_COMMENTS = re.compile(r"(?>\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*+", re.DOTALL)
WITH_KEYWORD = re.compile(r"with\s+(?:recursive\s+)?", re.IGNORECASE)

SNAPSHOT_COLUMNS = "dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to"
"""The columns that a snapshot adds."""

MAX_SEED_ROWS = 1000
"""How many rows of a seed are read to infer its types."""


def render_node_file(session: DbtSession, template: Template, nodes: Sequence[DbtNode]) -> Rendered:
    """Render the file of one or more nodes."""
    pieces, problems = Pieces(), list[Problem]()
    for node in nodes:
        if session.node_config(node).get("enabled") is False:
            problems.append(Problem("NODE_DISABLED", {"name": node.name}))
            continue
        made = Pieces()
        problems.extend(_render_node(session, node, _with_text(template, node_body(template.text, node)), made))
        text, copies = made.done()
        pieces.add("\n;\n" if text and pieces.size else "")
        pieces.add(text, copies if text else ())
    return Rendered(*pieces.done(), tuple(problems))


def _with_text(template: Template, text: str) -> Template:
    return Template(
        path=template.path,
        text=text,
        variables=template.variables,
        dialect=template.dialect,
        library=template.library,
        limits=template.limits,
    )


def _render_node(session: DbtSession, node: DbtNode, template: Template, pieces: Pieces) -> list[Problem]:
    """Add the statements of a node; an incremental model is created once, and then inserted into."""
    session.incremental = False
    body, copies, problems = render_node_query(session, node, template)
    config = session.node_config(node)
    kind = str(config.get("materialized") or ("view" if node.kind == "model" else "table"))
    if kind == "ephemeral" or not body.strip():
        return problems
    relation = session.naming.relation_of(node)
    _add_hooks(session, node, "pre-hook", pieces)
    made = relation.type if relation.type != "cte" else "view"
    head = f"create {made} {relation} as\n"
    if node.kind == "snapshot":
        pieces.make(head, *snapshot_tag_span(session.library.read(node.path) or "", node))
    else:
        pieces.add(head)
    _add_query(pieces, node, body, copies)
    if kind == "incremental" and "is_incremental" in template.text:
        session.incremental = True
        again, copies, more = render_node_query(session, node, template)
        session.incremental = False
        if again != body:
            pieces.add(f"\n;\ninsert into {relation} by name\n")  # as dbt lists the columns of both
            _add_query(pieces, node, again, copies)
            problems.extend(problem for problem in more if problem not in problems)
    _add_hooks(session, node, "post-hook", pieces)
    return problems


def _add_query(pieces: Pieces, node: DbtNode, body: str, copies: Copies) -> None:
    if node.kind != "snapshot":
        pieces.add(body, copies)
        return
    added = ", ".join(
        f"cast(null as {'varchar(64)' if name == SNAPSHOT_COLUMNS[0] else 'timestamp'}) as {name}"
        for name in SNAPSHOT_COLUMNS
    )
    pieces.add(f"select snapshotted.*, {added} from (")
    start, end = len(body) - len(body.lstrip()), len(body.rstrip())
    pieces.add(body[start:end], slice_copies(copies, start, end))
    pieces.add(") as snapshotted")


def render_node_query(session: DbtSession, node: DbtNode, template: Template) -> tuple[str, Copies, list[Problem]]:
    """Render the query of a node, with the ephemeral models that it reads as CTEs."""
    session.start_node(node)
    known = session.manifest_node(node)
    if known is not None and known.compiled and not session.incremental:
        return known.compiled, align_texts(template.text, known.compiled), []
    report = TemplateReport(template.path)
    result = render_jinja(session.environment, template, session.context(node.package), report)
    problems = list(result.problems)
    ctes = list(session.ctes.values())
    if not ctes:
        return result.text, result.copies, problems
    inner = _render_ephemeral_ctes(session, ctes, (node,))
    session.current = node
    at = LEADING_COMMENTS.match(result.text)
    start = at.end() if at else 0
    word = WITH_KEYWORD.match(result.text, start)
    pieces = Pieces()
    stop = word.end() if word else start
    pieces.add(result.text[:stop], slice_copies(result.copies, 0, stop))
    pieces.add(("" if word else "with ") + ",\n".join(inner) + (",\n" if word else "\n"))
    pieces.add(result.text[stop:], slice_copies(result.copies, stop, len(result.text)))
    text, copies = pieces.done()
    return text, copies, problems


def _render_ephemeral_ctes(session: DbtSession, nodes: Sequence[DbtNode], around: tuple[DbtNode, ...]) -> list[str]:
    """Return ephemeral models as CTEs, each once, after the ones that they need."""
    found: dict[str, str] = {}
    for node in nodes:
        if node in around:
            continue
        text = session.library.read(node.path) or ""
        session.start_node(node)
        result = render_jinja(
            session.environment, Template(node.path, text), session.context(node.package), TemplateReport(node.path)
        )
        inner = list(session.ctes.values())
        for one in _render_ephemeral_ctes(session, inner, (*around, node)):
            found.setdefault(one.split(" as (", 1)[0], one)
        name = CTE_PREFIX + session.naming.relation_of(node).identifier
        found.setdefault(name, f"{name} as (\n{result.text.rstrip().rstrip(';')}\n)")
    return list(found.values())


def _add_hooks(session: DbtSession, node: DbtNode, key: str, pieces: Pieces) -> None:
    """Add the pre- or post-hooks of a model."""
    listed = session.current_config().get(key)
    for hook in listed if isinstance(listed, list | tuple) else [listed] if listed else []:
        said = hook.get("sql") if isinstance(hook, dict) else hook
        text = session.render_text(said, node.package).strip().rstrip(";") if isinstance(said, str) else ""
        if text:
            pieces.add(f"{text}\n;\n" if key == "pre-hook" else f"\n;\n{text}")


def render_yaml_snapshots(session: DbtSession, nodes: Sequence[DbtNode]) -> Rendered:
    """Render the snapshots that a YAML file defines over a relation, each at its entry."""
    pieces = Pieces()
    for node in nodes:
        session.start_node(node)
        relation = session.render_text("{{ " + str(node.entry.get("relation")) + " }}", node.package)
        if session.node_config(node).get("enabled") is not False:
            made = Pieces()
            made.add(f"create table {session.naming.relation_of(node)} as\n")
            _add_query(made, node, f"select * from {relation}", ())
            pieces.make(made.done()[0], *session.documents.locate_key(node.path, "snapshots", node.name))
            pieces.add("\n;\n")
    return Rendered(*pieces.done())


def render_seed(session: DbtSession, node: DbtNode, text: str) -> Rendered:
    """Render a seed as the table it becomes, with the columns of its first line."""
    config = session.node_config(node)
    rows = list(_read_seed_rows(text, str(config.get("delimiter") or ",")))
    if not rows or config.get("enabled") is False:
        return Rendered("", (0, 0, 0))
    given = config.get("column_types") if isinstance(config.get("column_types"), dict) else {}
    mark, wanted = session.target.adapter.mark, config.get("quote_columns")
    quoted = wanted if isinstance(wanted, bool) else session.target.adapter.quotes
    pieces = Pieces()
    pieces.make(f"create table {session.naming.relation_of(node)} (", 0, 0)
    at = 0
    for number, name in enumerate(rows[0]):
        found = max(text.find(name, at), at)
        at = found + len(name)
        inferred = infer_seed_type([row[number] for row in rows[1:] if number < len(row)])
        kind = dict(given or {}).get(name) or session.target.adapter.seed_type(inferred)
        pieces.add(", " if number else "")
        plain = name.isidentifier() and not quoted
        pieces.make(name if plain else f"{mark}{name}{mark}", found, len(name))
        pieces.add(f" {kind}")
    pieces.make(")", at, 0)
    return Rendered(*pieces.done())


def _read_seed_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter[:1])):
            if number > MAX_SEED_ROWS:
                return
            yield row
    except csv.Error:
        return


def render_exposures(session: DbtSession, exposures: Sequence[Any], path: str) -> Rendered:
    """Render exposures as views over everything they depend on."""
    pieces = Pieces()
    for entry in exposures:
        session.start_node(None)
        listed = entry.get("depends_on")
        names = [
            session.render_text("{{ " + str(one) + " }}", session.project.name)
            for one in listed or ()
            if "(" in str(one)
        ]
        if names:
            sources = " cross join ".join(names)
            text = f"create view {session.exposure_relation(entry)} as\nselect * from {sources}"
            pieces.make(text, *session.documents.locate_key(path, "exposures", entry["name"]))
            pieces.add("\n;\n")
    return Rendered(*pieces.done())


PROJECT_HOOK_KEYS = ("on-run-start", "on-run-end")
WRITING_STATEMENT = re.compile(r"(?:insert|update|merge|delete|create|alter|drop|truncate|copy|call)\b", re.IGNORECASE)


def report_project_hooks(session: DbtSession, path: str) -> Iterator[Problem]:
    """Report the `on-run-…` hooks of a project that write: they belong to no model and are not analyzed."""
    session.start_node(None)
    for key in PROJECT_HOOK_KEYS:
        listed = session.project.document.get(key)
        for hook in listed if isinstance(listed, list) else [listed]:
            said = session.render_text(hook, session.project.name).strip() if isinstance(hook, str) else ""
            head = LEADING_COMMENTS.match(said)
            if WRITING_STATEMENT.match(said, head.end() if head else 0):
                at = session.documents.locate_key(path, key)[0]
                yield Problem("UNSUPPORTED_SYNTAX", {"construct": f"the hook {key}"}, at)
