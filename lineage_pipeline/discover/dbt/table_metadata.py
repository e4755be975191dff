"""Table metadata of dbt projects: columns, types, tags and keys from YAML, and columns inferred from queries."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.dbt.node_names import CASE_FOLDING
from lineage_pipeline.discover.dbt.node_sql import render_node_file, render_seed, render_yaml_snapshots
from lineage_pipeline.discover.dbt.nodes import DbtNode, PropertyEntry
from lineage_pipeline.discover.dbt.relation import DbtRelation
from lineage_pipeline.discover.dbt.session import DbtSession
from lineage_pipeline.discover.dbt.yaml_files import as_list, as_mapping, as_words, named_entries
from lineage_pipeline.discover.schemas.dbt_artifacts import collect_owners, collect_tags, promise_tags
from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.discover.schemas.normalize import normalize_tables
from lineage_pipeline.discover.templating.protocol import Template
from lineage_pipeline.engine.compile.script_interface import interface_of
from lineage_pipeline.engine.graph.plan_builder import PlanFile, build_plan
from lineage_pipeline.engine.link.schema_registry import SchemaRegistry
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Options, TableSchema
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.plan import NameBindings
from lineage_pipeline.model.tables import Constraint
from lineage_pipeline.model.templating import PLACEHOLDER_PREFIX
from lineage_pipeline.sandbox.compiling import compile_text

KEYED_MATERIALIZATIONS = frozenset({"incremental", "snapshot"})
"""Materializations that look up a row by its key before they insert it."""

LOAD = "load"
"""The kind of the constraint that says how a table is filled."""

TEST_KEYS = ("tests", "data_tests")

COMBINATION_TESTS = frozenset({"dbt_utils.unique_combination_of_columns", "unique_combination_of_columns"})

CONSTRAINT_KINDS = {"primary_key": "primary key", "unique": "unique"}


def collect_keys(entry: PropertyEntry, config: Mapping[str, Any], kind: str = "") -> tuple[Constraint, ...]:
    """Return the keys of a table; their object is still empty."""
    found = {item.id: item for item in (*_declared_keys(entry), *_unique_key(config, kind), *_load(config, kind))}
    return tuple(found[key] for key in sorted(found))


def _unique_key(config: Mapping[str, Any], kind: str) -> Iterator[Constraint]:
    """Return the `unique_key` of an incremental model or snapshot, if it consists of columns."""
    key = config.get("unique_key")
    columns = [str(item) for item in key] if isinstance(key, list) else [str(key)] if key else []
    if (
        {kind, str(config.get("materialized"))} & KEYED_MATERIALIZATIONS
        and columns
        and all(name.isidentifier() for name in columns)
    ):
        yield _build_constraint("unique", columns)


LOAD_SETTINGS = (
    "incremental_strategy strategy unique_key partition_by incremental_predicates merge_update_columns "
    "merge_exclude_columns event_time begin batch_size lookback updated_at check_cols full_refresh on_schema_change"
).split()
"""What decides which rows a run of an incremental model or snapshot replaces, adds and keeps."""


def _load(config: Mapping[str, Any], kind: str) -> Iterator[Constraint]:
    """Return how a model that keeps its rows is filled anew, as one text."""
    way = str(config.get("materialized")) if kind != "snapshot" else kind
    if way not in KEYED_MATERIALIZATIONS:
        return
    settings = {"on_schema_change": "ignore", **config} if way == "incremental" else config
    rendered = ((key, _render_setting(settings[key])) for key in LOAD_SETTINGS if settings.get(key) is not None)
    said = [f"{key}: {text}" for key, text in rendered if PLACEHOLDER_PREFIX not in text]  # no macro here says it
    yield msgspec.structs.replace(_build_constraint(LOAD, []), expression=f"{way} ({'; '.join(said)})")


def _render_setting(value: Any) -> str:
    """Return a setting in one line, whatever the order of its parts."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_render_setting(value[key])}" for key in sorted(value, key=str))
    return ", ".join(map(_render_setting, value)) if isinstance(value, list | tuple) else " ".join(str(value).split())


def _declared_keys(entry: PropertyEntry) -> Iterator[Constraint]:
    """Return the keys that YAML lists as constraints or as uniqueness tests of all rows."""
    for column in named_entries(entry, "columns"):
        yield from _entry_keys(column, [str(column["name"])])
    yield from _entry_keys(entry, [])


def _entry_keys(entry: PropertyEntry, own: list[str]) -> Iterator[Constraint]:
    for item in as_list(entry.get("constraints")):
        columns = own or as_words(as_mapping(item).get("columns"))
        if (kind := CONSTRAINT_KINDS.get(str(as_mapping(item).get("type")))) and columns:
            yield _build_constraint(kind, columns)
    for test in (test for key in TEST_KEYS for test in as_list(entry.get(key))):
        name, settings = (test, {}) if isinstance(test, str) else next(iter(as_mapping(test).items()), ("", {}))
        given = {**as_mapping(settings), **as_mapping(as_mapping(settings).get("arguments"))}
        combined = as_words(given.get("combination_of_columns")) if name in COMBINATION_TESTS else []
        columns = own if name == "unique" else combined
        if columns and not given.get("where") and not as_mapping(given.get("config")).get("where"):
            yield _build_constraint("unique", columns)


def _build_constraint(kind: str, columns: list[str]) -> Constraint:
    identity = hashlib.sha256("\0".join((kind, *columns)).encode()).hexdigest()[:12]
    return Constraint(object="", id=identity, kind=kind, name=None, columns=tuple(columns), expression=None)


NOT_NULL_CONSTRAINTS = frozenset({"not_null", "primary_key"})


def list_described_tables(session: DbtSession) -> Iterator[ImportedTable]:
    """Return the sources and models that YAML describes; only a contract lists all columns of a model."""
    yield from list_source_tables(session)
    for nodes in session.nodes.models.values():
        for node in nodes:
            config = session.node_config(node)
            if _has_metadata(node, config) and config.get("materialized") != "ephemeral":
                relation = session.naming.relation_of(node)
                promised = list(promise_tags(config.get("contract"), node.entry.get("access") or config.get("access")))
                contract = "contract" in promised
                table = _build_table(session, relation, node.entry, config, node.path, whole=contract)
                kept = tuple(sorted({*table.tags, *promised}))
                keys = collect_keys(node.entry, config, node.kind)
                yield msgspec.structs.replace(table, yields=not contract, tags=kept, constraints=keys)
    for entry, path in session.nodes.exposures:
        relation = session.exposure_relation(entry)
        owner = as_mapping(entry.get("owner"))
        tags = ["exposure", *as_words(entry.get("tags"))]
        settings = {"tags": tags, "meta": {"owner": owner.get("name") or owner.get("email")}}
        yield msgspec.structs.replace(_build_table(session, relation, entry, settings, path), yields=True)


def list_source_tables(session: DbtSession) -> Iterator[ImportedTable]:
    """Return the tables of sources, with the columns that are listed."""
    for (name, identifier), found in sorted(session.nodes.sources.items(), key=lambda item: item[0]):
        yield _build_table(session, session.resolve_source(name, identifier), found.table, found.settings, found.path)


def _has_metadata(node: DbtNode, config: Mapping[str, Any]) -> bool:
    return bool(
        node.entry
        or any(config.get(key) for key in ("tags", "meta", "group", "contract", "access", "unique_key"))
        or config.get("materialized") in KEYED_MATERIALIZATIONS
    )


def _build_table(
    session: DbtSession,
    relation: DbtRelation,
    entry: PropertyEntry,
    settings: Mapping[str, Any],
    path: str,
    *,
    whole: bool = False,
) -> ImportedTable:
    meta = {**as_mapping(settings.get("meta")), **as_mapping(entry.get("meta"))}
    group = as_mapping(session.nodes.groups.get(str(settings.get("group") or ""), {}).get("owner"))
    return ImportedTable(
        relation.parts,
        tuple(_build_column(column) for column in named_entries(entry, "columns")),
        ObjectKind.VIEW if relation.type == "view" else ObjectKind.TABLE,
        partial=not whole,
        description=str(entry.get("description") or "").strip() or None,
        tags=collect_tags(as_words(settings.get("tags")), meta),
        owners=collect_owners(meta, group),
        source=path,
        constraints=collect_keys(entry, settings),
    )


def _build_column(entry: PropertyEntry) -> ImportedColumn:
    settings = as_mapping(entry.get("config"))
    meta = {**as_mapping(settings.get("meta")), **as_mapping(entry.get("meta"))}
    kinds = {str(item.get("type")) for item in as_list(entry.get("constraints")) if isinstance(item, Mapping)}
    return ImportedColumn(
        name=str(entry["name"]),
        type=str(entry["data_type"]) if entry.get("data_type") else None,
        nullable=False if kinds & NOT_NULL_CONSTRAINTS else None,
        description=str(entry.get("description") or "").strip() or None,
        tags=collect_tags([*as_words(entry.get("tags")), *as_words(settings.get("tags"))], meta),
        quoted=bool(entry.get("quote")),
    )


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
