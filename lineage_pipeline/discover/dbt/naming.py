"""How dbt calls what a project makes: database, schema and alias, by the rules that a project may replace."""

from typing import TYPE_CHECKING, Any

from jinja2.exceptions import TemplateError

from lineage_pipeline.dialects.folding import Folding, fold
from lineage_pipeline.dialects.traits import GENERIC, traits_of
from lineage_pipeline.discover.dbt.documents import entries
from lineage_pipeline.discover.dbt.nodes import Node
from lineage_pipeline.discover.dbt.relations import Relation

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import Session

STORED = frozenset({Folding.LOWER, Folding.UPPER})
"""How databases compare names that hold them in one case, and give them back so."""

KINDS = {"view": "view", "materialized_view": "materialized view", "dynamic_table": "materialized view"}


class Naming:
    """The relations of a project, each named once."""

    def __init__(self, session: "Session") -> None:
        """Take the session."""
        self._session = session
        self._known: dict[tuple[str, str], Relation] = {}
        self._listed: dict[str, list[tuple[str, str]]] | None = None
        self._nodes: dict[str, Node] | None = None

    def of(self, node: Node) -> Relation:
        """Give the relation of a node."""
        key = (node.path, node.name)
        if key not in self._known:
            self._known[key] = self._named(node)
        return self._known[key]

    def _named(self, node: Node) -> Relation:
        session = self._session
        config = session.config(node)
        kind = KINDS.get(str(config.get("materialized") or ("view" if node.kind == "model" else "table")), "table")
        quoting = session.quoting(config.get("quoting"))
        known = session.known(node)
        if known is not None:
            return Relation(session.target.adapter, known.database, known.schema, known.alias, kind, quoting)
        custom = config.get("target_schema") or config.get("schema")
        database = (
            config.get("target_database") or config.get("database") or config.get("project") or config.get("catalog")
        )
        schema = self._ask("generate_schema_name", custom, node)
        if schema is None:
            schema = _schema_name(session.target.schema, custom)
        if config.get("target_schema"):
            schema = str(config["target_schema"])
        catalog = self._ask("generate_database_name", database, node)
        alias = self._ask("generate_alias_name", config.get("alias"), node)
        name = f"{node.name}_v{node.version.replace('.', '_')}" if node.version else node.name
        return Relation(
            session.target.adapter,
            str(catalog if catalog is not None else database or session.target.database).strip(),
            str(schema).strip() if session.target.schema else str(schema).strip().lstrip("_"),
            str(alias if alias is not None else config.get("alias") or name).strip(),
            kind,
            quoting,
        )

    def _ask(self, macro: str, custom: Any, node: Node) -> Any:
        """Ask the macro of the project, if it has one."""
        session = self._session
        found = session.macros.find(macro, [session.project.name])
        if found is None:
            return None
        before, session.current = session.current, None
        try:
            return str(found(custom, self.described(node)))
        except (TemplateError, TypeError, ValueError, AttributeError, KeyError):
            return None
        finally:
            session.current = before

    def described(self, node: Node) -> dict[str, Any]:
        """Describe a node as templates see it."""
        config = self._session.config(node)
        known = self._known.get((node.path, node.name))
        return {
            "name": node.name,
            "alias": known.identifier if known else config.get("alias") or node.name,
            "schema": known.schema if known else "",
            "database": known.database if known else "",
            "resource_type": node.kind,
            "package_name": node.package,
            "path": node.path,
            "original_file_path": node.path,
            "fqn": list(node.fqn),
            "unique_id": f"{node.kind}.{node.package}.{node.name}",
            "config": {"materialized": "view", **config},
            "tags": config.get("tags") or [],
            "meta": config.get("meta") or {},
            "columns": {str(column["name"]): dict(column) for column in entries(node.entry, "columns")},
            "description": node.entry.get("description") or "",
            "version": node.version or None,
            "refs": [],
            "sources": [],
            "depends_on": {"nodes": [], "macros": []},
        }

    def node(self, relation: str) -> Node | None:
        """Give the node that makes a relation, by what is printed for it."""
        if self._nodes is None:
            listed = self._session.nodes.models.values()
            self._nodes = {str(self.of(node)): node for found in listed for node in found}
        return self._nodes.get(relation)

    def columns(self, relation: str) -> list[tuple[str, str]]:
        """Give the columns that YAML lists for a relation."""
        if self._listed is None:
            self._listed = dict(self._columns())
        return self._listed.get(relation, [])

    def _columns(self) -> Any:
        session = self._session
        for found in session.nodes.models.values():
            for node in found:
                yield str(self.of(node)), self._listed_in(node.entry)
        for name, table in session.nodes.sources:
            yield str(session.source(name, table)), self._listed_in(session.nodes.sources[name, table].table)

    def _listed_in(self, entry: Any) -> list[tuple[str, str]]:
        """Give the columns that an entry lists, called as the database calls them."""
        folding = (traits_of(self._session.target.adapter.dialect) or GENERIC).columns
        return [
            (
                fold(str(column["name"]), bool(column.get("quote")), folding)
                if folding in STORED
                else str(column["name"]),
                str(column.get("data_type") or ""),
            )
            for column in entries(entry, "columns")
        ]


def _schema_name(default: str, custom: Any) -> str:
    if custom in (None, ""):
        return default
    return f"{default}_{str(custom).strip()}" if default else str(custom).strip()
