"""Names of dbt nodes, by the `generate_…_name` macros or dbt's defaults, and locations of sources that are files."""

import re
from collections.abc import Mapping
from string import Template
from typing import TYPE_CHECKING, Any

from jinja2.exceptions import TemplateError

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding, fold_identifier
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.dbt.nodes import DbtNode, SourceTable
from lineage_pipeline.discover.dbt.relation import DbtRelation
from lineage_pipeline.discover.dbt.yaml_files import as_mapping, named_entries

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import DbtSession

CASE_FOLDING = frozenset({IdentifierFolding.LOWER, IdentifierFolding.UPPER})
"""Identifier foldings under which the database stores and returns names in one case."""

MATERIALIZATION_KINDS = {"view": "view", "materialized_view": "materialized view", "dynamic_table": "materialized view"}


class NodeNaming:
    """The relations of a project, each named once."""

    def __init__(self, session: "DbtSession") -> None:
        """Store the session."""
        self._session = session
        self._known: dict[tuple[str, str], DbtRelation] = {}
        self._listed: dict[str, list[tuple[str, str]]] | None = None
        self._nodes: dict[str, DbtNode] | None = None

    def relation_of(self, node: DbtNode) -> DbtRelation:
        """Return the relation of a node."""
        key = (node.path, node.name)
        if key not in self._known:
            self._known[key] = self._build_relation(node)
        return self._known[key]

    def _build_relation(self, node: DbtNode) -> DbtRelation:
        session = self._session
        config = session.node_config(node)
        kind = MATERIALIZATION_KINDS.get(
            str(config.get("materialized") or ("view" if node.kind == "model" else "table")), "table"
        )
        quoting = session.quoting(config.get("quoting"))
        known = session.manifest_node(node)
        if known is not None:
            return DbtRelation(
                adapter=session.target.adapter,
                database=known.database,
                schema=known.schema,
                identifier=known.alias,
                kind=kind,
                quoting=quoting,
            )
        custom = config.get("target_schema") or config.get("schema")
        database = (
            config.get("target_database") or config.get("database") or config.get("project") or config.get("catalog")
        )
        schema = self._call_naming_macro("generate_schema_name", custom, node)
        if schema is None:
            schema = _default_schema_name(session.target.schema, custom)
        if config.get("target_schema"):
            schema = str(config["target_schema"])
        catalog = self._call_naming_macro("generate_database_name", database, node)
        alias = self._call_naming_macro("generate_alias_name", config.get("alias"), node)
        name = f"{node.name}_v{node.version.replace('.', '_')}" if node.version else node.name
        return DbtRelation(
            adapter=session.target.adapter,
            database=str(catalog if catalog is not None else database or session.target.database).strip(),
            schema=str(schema).strip() if session.target.schema else str(schema).strip().lstrip("_"),
            identifier=str(alias if alias is not None else config.get("alias") or name).strip(),
            kind=kind,
            quoting=quoting,
        )

    def _call_naming_macro(self, macro: str, custom: Any, node: DbtNode) -> Any:
        """Call the naming macro of the project, if it has one."""
        session = self._session
        found = session.macros.find(macro, [session.project.name])
        if found is None:
            return None
        before, session.current = session.current, None
        try:
            return str(found(custom, self.describe_node(node)))
        except (TemplateError, TypeError, ValueError, AttributeError, KeyError):
            return None
        finally:
            session.current = before

    def describe_node(self, node: DbtNode) -> dict[str, Any]:
        """Describe a node as templates see it."""
        config = self._session.node_config(node)
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
            "columns": {str(column["name"]): dict(column) for column in named_entries(node.entry, "columns")},
            "description": node.entry.get("description") or "",
            "version": node.version or None,
            "refs": [],
            "sources": [],
            "depends_on": {"nodes": [], "macros": []},
        }

    def find_node(self, relation: str) -> DbtNode | None:
        """Return the node that builds a relation, by its printed name."""
        if self._nodes is None:
            listed = self._session.nodes.models.values()
            self._nodes = {str(self.relation_of(node)): node for found in listed for node in found}
        return self._nodes.get(relation)

    def listed_columns(self, relation: str) -> list[tuple[str, str]]:
        """Return the columns that YAML lists for a relation."""
        if self._listed is None:
            self._listed = dict(self._iter_listed_columns())
        return self._listed.get(relation, [])

    def _iter_listed_columns(self) -> Any:
        session = self._session
        for found in session.nodes.models.values():
            for node in found:
                yield str(self.relation_of(node)), self._entry_columns(node.entry)
        for name, table in session.nodes.sources:
            yield (
                str(session.resolve_source(name, table)),
                self._entry_columns(session.nodes.sources[name, table].table),
            )

    def _entry_columns(self, entry: Any) -> list[tuple[str, str]]:
        """Return the columns that an entry lists, with names as the database returns them."""
        folding = (find_traits(self._session.target.adapter.dialect) or GENERIC).columns
        return [
            (
                fold_identifier(str(column["name"]), bool(column.get("quote")), folding)
                if folding in CASE_FOLDING
                else str(column["name"]),
                str(column.get("data_type") or ""),
            )
            for column in named_entries(entry, "columns")
        ]


def _default_schema_name(default: str, custom: Any) -> str:
    if custom in (None, ""):
        return default
    return f"{default}_{str(custom).strip()}" if default else str(custom).strip()


LOCATION_SETTING, FORMATTER_SETTING, PLUGIN_SETTING = "external_location", "formatter", "plugin"
QUOTED_LOCATION = re.compile(r"'([^']*)'")


class ExternalRelation(DbtRelation):
    """A table that is read from files: it prints as their location, or as the function that reads them."""

    def __init__(self, relation: DbtRelation, location: str) -> None:
        """Store the relation, and the location it is read from."""
        super().__init__(
            relation.adapter, relation.database, relation.schema, relation.identifier, relation.type, relation.quoting
        )
        self.location = location

    def __str__(self) -> str:
        """Return the location."""
        return self.location

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Return the file address as the only part of the name."""
        found = QUOTED_LOCATION.search(self.location)
        return ((_file_address(found[1]), True),) if found is not None else super().parts


def _file_address(place: str) -> str:
    """Return the address of a file location as it is named in the lineage."""
    return place if "://" in place else f"file://{place if place.startswith('/') else './' + place}"


def apply_external_location(relation: DbtRelation, found: SourceTable, table: str) -> DbtRelation:
    """Return a source table read from its configured location, if the adapter reads files."""
    settings = _source_settings(found)
    template = settings.get(LOCATION_SETTING)
    if not relation.adapter.reads_files or not isinstance(template, str) or settings.get(PLUGIN_SETTING):
        return relation
    names = {
        "name": table,
        "identifier": relation.identifier,
        "schema": relation.schema,
        "database": relation.database,
        **settings,
    }
    location = _format_location(template, str(settings.get(FORMATTER_SETTING) or "newstyle"), names)
    if location is None:
        return relation
    return ExternalRelation(relation, location if "(" in location or location.startswith("'") else f"'{location}'")


def _source_settings(found: SourceTable) -> dict[str, Any]:
    """Return the settings of source and table in `meta` and `config`; the table overrides the source."""
    said: dict[str, Any] = {}
    for entry in (found.source, found.table):
        said |= as_mapping(entry.get("meta")) | as_mapping(as_mapping(entry.get("config")).get("meta"))
    for entry in (found.source, found.table):
        said |= {key: value for key, value in as_mapping(entry.get("config")).items() if key != "meta"}
    return said


def _format_location(template: str, formatter: str, names: Mapping[str, Any]) -> str | None:
    """Fill the placeholders of a location with the source's formatter, or return None where that fails."""
    try:
        match formatter:
            case "newstyle":
                return re.sub(r"\{\{|\}\}|\{(\w+)\}", lambda field: _fill_field(field, names), template)
            case "oldstyle":
                return template % names
            case "template":
                return Template(template).substitute({key: str(value) for key, value in names.items()})
    except (KeyError, ValueError, TypeError):
        pass
    return None


def _fill_field(match: re.Match[str], names: Mapping[str, Any]) -> str:
    return str(names[match[1]]) if match[1] else match[0][0]
