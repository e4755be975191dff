"""What the YAML of a project says of tables: columns, types, descriptions, tags, owners and contracts."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.documents import entries, listed, mapping, words
from lineage_pipeline.discover.dbt.guarantees import guarantees
from lineage_pipeline.discover.dbt.nodes import Node
from lineage_pipeline.discover.dbt.properties import Entry
from lineage_pipeline.discover.dbt.relations import Relation
from lineage_pipeline.discover.dbt.session import Session
from lineage_pipeline.discover.schemas.dbt import owners_of, promises, tags_of
from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable
from lineage_pipeline.vocabulary.sets import ObjectKind

CONSTRAINTS = frozenset({"not_null", "primary_key"})

TELLING = ("tags", "meta", "group", "contract", "access", "unique_key")
"""Settings of a model that say something of its table."""


def listed_tables(session: Session) -> Iterator[ImportedTable]:
    """Give the sources and models that YAML describes; only a contract lists all columns of a model."""
    yield from source_tables(session)
    for nodes in session.nodes.models.values():
        for node in nodes:
            config = session.config(node)
            if _says_something(node, config) and config.get("materialized") != "ephemeral":
                relation = session.naming.of(node)
                promised = list(promises(config.get("contract"), node.entry.get("access") or config.get("access")))
                contract = "contract" in promised
                table = _table(session, relation, node.entry, config, node.path, whole=contract)
                kept = tuple(sorted({*table.tags, *promised}))
                keys = guarantees(node.entry, config, node.kind)
                yield msgspec.structs.replace(table, yields=not contract, tags=kept, constraints=keys)
    for entry, path in session.nodes.exposures:
        relation = session.exposure(entry)
        owner = mapping(entry.get("owner"))
        tags = ["exposure", *words(entry.get("tags"))]
        settings = {"tags": tags, "meta": {"owner": owner.get("name") or owner.get("email")}}
        yield msgspec.structs.replace(_table(session, relation, entry, settings, path), yields=True)


def source_tables(session: Session) -> Iterator[ImportedTable]:
    """Give the tables of sources, with the columns that are listed."""
    for (name, identifier), found in sorted(session.nodes.sources.items(), key=lambda item: item[0]):
        yield _table(session, session.source(name, identifier), found.table, found.settings, found.path)


def _says_something(node: Node, config: Mapping[str, Any]) -> bool:
    return bool(
        node.entry or any(config.get(key) for key in ("tags", "meta", "group", "contract", "access", "unique_key"))
    )


def _table(
    session: Session, relation: Relation, entry: Entry, settings: Mapping[str, Any], path: str, *, whole: bool = False
) -> ImportedTable:
    meta = {**mapping(settings.get("meta")), **mapping(entry.get("meta"))}
    group = mapping(session.nodes.groups.get(str(settings.get("group") or ""), {}).get("owner"))
    return ImportedTable(
        relation.parts,
        tuple(_column(column) for column in entries(entry, "columns")),
        ObjectKind.VIEW if relation.type == "view" else ObjectKind.TABLE,
        partial=not whole,
        description=str(entry.get("description") or "").strip() or None,
        tags=tags_of(words(settings.get("tags")), meta),
        owners=owners_of(meta, group),
        source=path,
        constraints=guarantees(entry, settings),
    )


def _column(entry: Entry) -> ImportedColumn:
    settings = mapping(entry.get("config"))
    meta = {**mapping(settings.get("meta")), **mapping(entry.get("meta"))}
    kinds = {str(item.get("type")) for item in listed(entry.get("constraints")) if isinstance(item, Mapping)}
    return ImportedColumn(
        str(entry["name"]),
        str(entry["data_type"]) if entry.get("data_type") else None,
        False if kinds & CONSTRAINTS else None,
        str(entry.get("description") or "").strip() or None,
        tags_of([*words(entry.get("tags")), *words(settings.get("tags"))], meta),
        quoted=bool(entry.get("quote")),
    )
