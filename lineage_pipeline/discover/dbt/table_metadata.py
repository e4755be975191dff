"""Table metadata in the YAML of a dbt project: columns, types, descriptions, tags, owners, contracts and keys."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.nodes import DbtNode, PropertyEntry
from lineage_pipeline.discover.dbt.relation import DbtRelation
from lineage_pipeline.discover.dbt.session import DbtSession
from lineage_pipeline.discover.dbt.yaml_files import as_list, as_mapping, as_words, named_entries
from lineage_pipeline.discover.schemas.dbt_artifacts import collect_owners, collect_tags, promise_tags
from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.tables import Constraint

KEYED_MATERIALIZATIONS = frozenset({"incremental", "snapshot"})
"""Materializations that look up a row by its key before they insert it."""

TEST_KEYS = ("tests", "data_tests")

COMBINATION_TESTS = frozenset({"dbt_utils.unique_combination_of_columns", "unique_combination_of_columns"})

CONSTRAINT_KINDS = {"primary_key": "primary key", "unique": "unique"}


def collect_keys(entry: PropertyEntry, config: Mapping[str, Any], kind: str = "") -> tuple[Constraint, ...]:
    """Return the keys of a table; their object is still empty."""
    found = {item.id: item for item in (*_declared_keys(entry), *_unique_key(config, kind))}
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

METADATA_SETTINGS = ("tags", "meta", "group", "contract", "access", "unique_key")
"""Settings of a model that describe its table."""


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
        node.entry or any(config.get(key) for key in ("tags", "meta", "group", "contract", "access", "unique_key"))
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
