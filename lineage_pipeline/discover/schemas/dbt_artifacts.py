"""dbt artifacts: `manifest.json` has descriptions of models, `catalog.json` the columns of the database."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.model.enums import ObjectKind

RELATION_TYPES = frozenset({"model", "seed", "snapshot", "source"})
RELATION_KINDS = {"view": ObjectKind.VIEW, "materialized_view": ObjectKind.MATERIALIZED_VIEW}

ArtifactNode = Mapping[str, Any]


def is_dbt_manifest(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a dbt manifest, by its nodes."""
    return _has_nodes(document) and not is_dbt_catalog(document)


def is_dbt_catalog(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a dbt catalog, by its nodes."""
    return _has_nodes(document) and all(
        isinstance(node, Mapping) and "metadata" in node
        for kind in ("nodes", "sources")
        for node in document[kind].values()
    )


def _has_nodes(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("nodes"), Mapping) and isinstance(document.get("sources"), Mapping)


def tables_from_manifest(document: Mapping[str, Any], source: str) -> Iterator[ImportedTable]:
    """Return the models, seeds, snapshots and sources of a manifest; without a contract columns are partial."""
    groups = document.get("groups") or {}
    owners = {group["name"]: group.get("owner") or {} for group in groups.values()}
    exposed = _exposed_nodes(document)
    for identity, node in (*document["nodes"].items(), *document["sources"].items()):
        config = node.get("config") or {}
        if node.get("resource_type") not in RELATION_TYPES or config.get("materialized") == "ephemeral":
            continue
        name = node.get("alias") or node.get("identifier") or node["name"]
        parts = tuple((part, False) for part in (node.get("database"), node.get("schema"), name) if part)
        meta = {**(config.get("meta") or {}), **(node.get("meta") or {})}
        owned = owners.get(node.get("group") or config.get("group") or "", {})
        yield ImportedTable(
            parts,
            tuple(_column_from_manifest(column) for column in (node.get("columns") or {}).values()),
            RELATION_KINDS.get(config.get("materialized", ""), ObjectKind.TABLE),
            partial=not (config.get("contract") or {}).get("enforced", False),
            description=node.get("description") or None,
            tags=tuple(sorted({*collect_tags(node.get("tags") or (), meta), *_node_promises(identity, node, exposed)})),
            owners=collect_owners(meta, owned),
            source=source,
        )


def _exposed_nodes(document: Mapping[str, Any]) -> frozenset[str]:
    """Return the nodes that an exposure depends on."""
    exposures = (document.get("exposures") or {}).values()
    return frozenset(name for one in exposures for name in (one.get("depends_on") or {}).get("nodes") or ())


def _node_promises(identity: str, node: ArtifactNode, exposed: frozenset[str]) -> Iterator[str]:
    """Return tags for what a project promises about a model to others."""
    config = node.get("config") or {}
    if identity in exposed:
        yield "exposure"
    yield from promise_tags(config.get("contract") or node.get("contract"), node.get("access") or config.get("access"))


def promise_tags(contract: object, access: object) -> Iterator[str]:
    """Return tags for a model contract and for public or private access."""
    if isinstance(contract, Mapping) and contract.get("enforced"):
        yield "contract"
    if access in ("public", "private"):
        yield str(access)


def tables_from_catalog(document: Mapping[str, Any], source: str) -> Iterator[ImportedTable]:
    """Return the tables of a catalog with all their columns, as the database names them."""
    for node in (*document["nodes"].values(), *document["sources"].values()):
        about = node["metadata"]
        parts = tuple((part, True) for part in (about.get("database"), about.get("schema"), about["name"]) if part)
        columns = sorted(node["columns"].values(), key=lambda column: column["index"])
        rows = tuple(
            ImportedColumn(column["name"], column["type"], description=column.get("comment") or None, quoted=True)
            for column in columns
        )
        kind = ObjectKind.VIEW if "VIEW" in str(about.get("type", "")).upper() else ObjectKind.TABLE
        yield ImportedTable(parts, rows, kind, description=about.get("comment") or None, source=source)


def _column_from_manifest(column: ArtifactNode) -> ImportedColumn:
    meta = {**((column.get("config") or {}).get("meta") or {}), **(column.get("meta") or {})}
    constraints = {item.get("type") for item in column.get("constraints") or ()}
    return ImportedColumn(
        name=column["name"],
        type=column.get("data_type") or None,
        nullable=False if constraints & {"not_null", "primary_key"} else None,
        description=column.get("description") or None,
        tags=collect_tags(column.get("tags") or (), meta),
        quoted=bool(column.get("quote")),
    )


def collect_tags(tags: object, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags: listed ones, those in `meta`, and keys of `meta` that are true, such as `pii: true`."""
    listed = [
        *_to_words(tags),
        *_to_words(meta.get("tags")),
        *(str(key) for key, value in meta.items() if value is True),
    ]
    return tuple(sorted(set(listed)))


def collect_owners(meta: Mapping[str, Any], group: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the owners in `meta`, and the owner of the group."""
    named = [*_to_words(meta.get("owner")), *_to_words(meta.get("owners"))]
    return tuple(dict.fromkeys([*named, *_to_words(group.get("name") or group.get("email"))]))


def _to_words(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
