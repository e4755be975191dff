"""The columns that a model will have, worked out from its query: what a template would ask the database for."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lineage_pipeline.dialects.traits import GENERIC, Traits, traits_of
from lineage_pipeline.discover.dbt.naming import STORED
from lineage_pipeline.discover.dbt.nodes import Node
from lineage_pipeline.discover.dbt.rendering import rendered_file, rendered_seed, rendered_snapshots
from lineage_pipeline.discover.dbt.schemas import source_tables
from lineage_pipeline.discover.schemas.folding import fold_tables
from lineage_pipeline.discover.schemas.model import ImportedTable
from lineage_pipeline.discover.templating.protocol import Template
from lineage_pipeline.engine.compile.interface import face_of
from lineage_pipeline.engine.graph.build import File, build_plan
from lineage_pipeline.engine.link.schemas import SchemaRegistry
from lineage_pipeline.guard.compiling import compile_text
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Options, TableSchema
from lineage_pipeline.vocabulary.plan import Bound

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import Session

DEEPEST = 12
"""How many models that ask for the columns of each other are followed."""


class Inferred:
    """The schemas of models, seeds and snapshots, each worked out when a template first asks for it."""

    def __init__(self, session: "Session") -> None:
        """Take the session; nothing is worked out yet."""
        self._session = session
        self._options = Options(session.target.adapter.dialect)
        self._known: dict[tuple[str, str], TableSchema | None] = {}
        self._nodes: dict[str, Node] | None = None
        self._sources: Mapping[str, TableSchema] = {}
        self._depth = 0

    def columns(self, node: Node) -> list[tuple[str, str]]:
        """Give the columns of a node as the database would call them, or none where not all of them are known."""
        schema = self._schema(node)
        if schema is None or schema.open:
            return []
        traits = traits_of(self._options.dialect) or GENERIC
        stored = traits.columns in STORED
        return [(column.name if stored else column.written, column.type or "") for column in schema.columns]

    def _schema(self, node: Node) -> TableSchema | None:
        key = (node.path, node.name)
        if key not in self._known and self._depth < DEEPEST:
            self._known[key] = None  # a model that asks for its own columns learns nothing
            self._depth += 1
            try:
                self._known[key] = self._worked_out(node)
            finally:
                self._depth -= 1
        return self._known.get(key)

    def _worked_out(self, node: Node) -> TableSchema | None:
        text = self._rendered(node)
        script = compile_text(text, self._options)
        file = File(node.path, face_of(script, text, None), self._options, (), 0)
        nodes = self._by_id()
        imported = {}
        for name in build_plan([file], {}).objects:
            other = nodes.get(name)
            schema = self._sources.get(name) if other is None else self._schema(other) if other is not node else None
            if schema is not None:
                imported[name] = schema
        plan = build_plan([file], imported)
        traits: Traits = traits_of(self._options.dialect) or GENERIC

        def statement_at(path: str, ordinal: int) -> tuple[ir.Statement, Bound, Traits]:
            return script.statements[ordinal].statement, plan.bound[path][ordinal], traits

        registry = SchemaRegistry({**plan.objects, **plan.states}, statement_at, imported, None)
        registry.resolve(plan.order)
        return next((registry.schemas.get(name) for name, known in nodes.items() if known is node), None)

    def _by_id(self) -> Mapping[str, Node]:
        """Give all nodes by the ids that the analysis knows them by."""
        if self._nodes is None:
            session = self._session
            self._sources = fold_tables(source_tables(session), self._options).schemas
            self._nodes = {}
            for node in (node for found in session.nodes.models.values() for node in found):
                table = ImportedTable(session.naming.of(node).parts, ())
                self._nodes.update(dict.fromkeys(fold_tables([table], self._options).schemas, node))
        return self._nodes

    def _rendered(self, node: Node) -> str:
        """Give the SQL of a node; the file that asks for it goes on as if nothing had happened."""
        session = self._session
        text = session.library.read(node.path) or ""
        with _aside(session):
            if node.path.endswith(".csv"):
                return rendered_seed(session, node, text).text
            if node.path.endswith((".yml", ".yaml")):
                return rendered_snapshots(session, [node]).text
            return rendered_file(session, Template(node.path, text), [node]).text if node.path.endswith(".sql") else ""


@contextmanager
def _aside(session: "Session") -> Iterator[None]:
    """Keep what a session and its templates are at while another file is rendered."""
    environment = session.environment
    kept = session.current, session.noted, session.ctes, session.incremental
    budget, report = environment.budget, environment.report
    try:
        yield
    finally:
        session.current, session.noted, session.ctes, session.incremental = kept
        environment.budget, environment.report = budget, report
