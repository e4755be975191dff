"""Columns of dbt models, inferred from their queries for templates that ask the database for them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.dbt.node_names import CASE_FOLDING
from lineage_pipeline.discover.dbt.node_sql import render_node_file, render_seed, render_yaml_snapshots
from lineage_pipeline.discover.dbt.nodes import DbtNode
from lineage_pipeline.discover.dbt.table_metadata import list_source_tables
from lineage_pipeline.discover.schemas.imported_tables import ImportedTable
from lineage_pipeline.discover.schemas.normalize import normalize_tables
from lineage_pipeline.discover.templating.protocol import Template
from lineage_pipeline.engine.compile.script_interface import interface_of
from lineage_pipeline.engine.graph.plan_builder import PlanFile, build_plan
from lineage_pipeline.engine.link.schema_registry import SchemaRegistry
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Options, TableSchema
from lineage_pipeline.model.plan import NameBindings
from lineage_pipeline.sandbox.compiling import compile_text

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import DbtSession

MAX_INFERENCE_DEPTH = 12
"""How many models that need each other's columns are followed."""


class InferredColumns:
    """The schemas of models, seeds and snapshots, each inferred when a template first asks for it."""

    def __init__(self, session: "DbtSession") -> None:
        """Store the session; nothing is inferred yet."""
        self._session = session
        self._options = Options(session.target.adapter.dialect)
        self._known: dict[tuple[str, str], TableSchema | None] = {}
        self._nodes: dict[str, DbtNode] | None = None
        self._sources: Mapping[str, TableSchema] = {}
        self._depth = 0

    def columns(self, node: DbtNode) -> list[tuple[str, str]]:
        """Return the columns of a node with the names the database returns, or none where not all of them are known."""
        schema = self._infer_schema(node)
        if schema is None or schema.open:
            return []
        traits = find_traits(self._options.dialect) or GENERIC
        stored = traits.columns in CASE_FOLDING
        return [(column.name if stored else column.written, column.type or "") for column in schema.columns]

    def _infer_schema(self, node: DbtNode) -> TableSchema | None:
        key = (node.path, node.name)
        if key not in self._known and self._depth < MAX_INFERENCE_DEPTH:
            self._known[key] = None  # a model that asks for its own columns learns nothing
            self._depth += 1
            try:
                self._known[key] = self._link_node(node)
            finally:
                self._depth -= 1
        return self._known.get(key)

    def _link_node(self, node: DbtNode) -> TableSchema | None:
        text = self._render_node(node)
        script = compile_text(text, self._options)
        file = PlanFile(
            path=node.path, face=interface_of(script, text, None), options=self._options, owners=(), position=0
        )
        nodes = self._nodes_by_id()
        imported = {}
        for name in build_plan([file], {}).objects:
            other = nodes.get(name)
            schema = (
                self._sources.get(name) if other is None else self._infer_schema(other) if other is not node else None
            )
            if schema is not None:
                imported[name] = schema
        plan = build_plan([file], imported)
        traits: DialectTraits = find_traits(self._options.dialect) or GENERIC

        def statement_at(path: str, ordinal: int) -> tuple[ir.Statement, NameBindings, DialectTraits]:
            return script.statements[ordinal].statement, plan.bound[path][ordinal], traits

        registry = SchemaRegistry({**plan.objects, **plan.states}, statement_at, imported, None)
        registry.resolve(plan.order)
        return next((registry.schemas.get(name) for name, known in nodes.items() if known is node), None)

    def _nodes_by_id(self) -> Mapping[str, DbtNode]:
        """Return all nodes by their object ids in the analysis."""
        if self._nodes is None:
            session = self._session
            self._sources = normalize_tables(list_source_tables(session), self._options).schemas
            self._nodes = {}
            for node in (node for found in session.nodes.models.values() for node in found):
                table = ImportedTable(session.naming.relation_of(node).parts, ())
                self._nodes.update(dict.fromkeys(normalize_tables([table], self._options).schemas, node))
        return self._nodes

    def _render_node(self, node: DbtNode) -> str:
        """Return the SQL of a node without changing the state of the file being rendered."""
        session = self._session
        text = session.library.read(node.path) or ""
        with _preserve_state(session):
            if node.path.endswith(".csv"):
                return render_seed(session, node, text).text
            if node.path.endswith((".yml", ".yaml")):
                return render_yaml_snapshots(session, [node]).text
            return (
                render_node_file(session, Template(node.path, text), [node]).text if node.path.endswith(".sql") else ""
            )


@contextmanager
def _preserve_state(session: "DbtSession") -> Iterator[None]:
    """Restore the state of a session and its templates after another file was rendered."""
    environment = session.environment
    kept = session.current, session.noted, session.ctes, session.incremental
    budget, report = environment.budget, environment.report
    try:
        yield
    finally:
        session.current, session.noted, session.ctes, session.incremental = kept
        environment.budget, environment.report = budget, report
