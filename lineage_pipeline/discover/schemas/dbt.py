"""What dbt leaves behind: `manifest.json` knows what people say of models, `catalog.json` what the database has."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable
from lineage_pipeline.vocabulary.sets import ObjectKind

RELATIONS = frozenset({"model", "seed", "snapshot", "source"})
KINDS = {"view": ObjectKind.VIEW, "materialized_view": ObjectKind.MATERIALIZED_VIEW}

Node = Mapping[str, Any]


def is_manifest(document: Mapping[str, Any]) -> bool:
    """Say whether a document is a manifest: its nodes say what kind of resource they are."""
    return _has_nodes(document) and not is_catalog(document)


def is_catalog(document: Mapping[str, Any]) -> bool:
    """Say whether a document is a catalog: its nodes say what the engine says of them."""
    return _has_nodes(document) and all(
        isinstance(node, Mapping) and "metadata" in node
        for kind in ("nodes", "sources")
        for node in document[kind].values()
    )


def _has_nodes(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("nodes"), Mapping) and isinstance(document.get("sources"), Mapping)


def manifest_tables(document: Mapping[str, Any], source: str) -> Iterator[ImportedTable]:
    """Give the models, seeds, snapshots and sources of a manifest; without a contract not all columns are listed."""
    groups = document.get("groups") or {}
    owners = {group["name"]: group.get("owner") or {} for group in groups.values()}
    exposed = _exposed(document)
    for identity, node in (*document["nodes"].items(), *document["sources"].items()):
        config = node.get("config") or {}
        if node.get("resource_type") not in RELATIONS or config.get("materialized") == "ephemeral":
            continue
        name = node.get("alias") or node.get("identifier") or node["name"]
        parts = tuple((part, False) for part in (node.get("database"), node.get("schema"), name) if part)
        meta = {**(config.get("meta") or {}), **(node.get("meta") or {})}
        owned = owners.get(node.get("group") or config.get("group") or "", {})
        yield ImportedTable(
            parts,
            tuple(_documented(column) for column in (node.get("columns") or {}).values()),
            KINDS.get(config.get("materialized", ""), ObjectKind.TABLE),
            partial=not (config.get("contract") or {}).get("enforced", False),
            description=node.get("description") or None,
            tags=tuple(sorted({*tags_of(node.get("tags") or (), meta), *_promises(identity, node, exposed)})),
            owners=owners_of(meta, owned),
            source=source,
        )


def _exposed(document: Mapping[str, Any]) -> frozenset[str]:
    """Give the nodes that an exposure depends on: a dashboard or another reader that we do not see."""
    exposures = (document.get("exposures") or {}).values()
    return frozenset(name for one in exposures for name in (one.get("depends_on") or {}).get("nodes") or ())


def _promises(identity: str, node: Node, exposed: frozenset[str]) -> Iterator[str]:
    """Give, as tags, what a project promises of a model to others."""
    config = node.get("config") or {}
    if identity in exposed:
        yield "exposure"
    yield from promises(config.get("contract") or node.get("contract"), node.get("access") or config.get("access"))


def promises(contract: object, access: object) -> Iterator[str]:
    """Give, as tags, that the columns of a model are kept to, and that everybody may read it."""
    if isinstance(contract, Mapping) and contract.get("enforced"):
        yield "contract"
    if access == "public":
        yield "public"


def catalog_tables(document: Mapping[str, Any], source: str) -> Iterator[ImportedTable]:
    """Give the tables of a catalog with all their columns, as the database calls them."""
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


def _documented(column: Node) -> ImportedColumn:
    meta = {**((column.get("config") or {}).get("meta") or {}), **(column.get("meta") or {})}
    constraints = {item.get("type") for item in column.get("constraints") or ()}
    return ImportedColumn(
        column["name"],
        column.get("data_type") or None,
        False if constraints & {"not_null", "primary_key"} else None,
        column.get("description") or None,
        tags_of(column.get("tags") or (), meta),
        quoted=bool(column.get("quote")),
    )


def tags_of(tags: object, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Give tags, those that `meta` lists, and what is simply true there: `pii: true`."""
    listed = [*_words(tags), *_words(meta.get("tags")), *(str(key) for key, value in meta.items() if value is True)]
    return tuple(sorted(set(listed)))


def owners_of(meta: Mapping[str, Any], group: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the owners that `meta` names, and the owner of the group."""
    named = [*_words(meta.get("owner")), *_words(meta.get("owners"))]
    return tuple(dict.fromkeys([*named, *_words(group.get("name") or group.get("email"))]))


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
