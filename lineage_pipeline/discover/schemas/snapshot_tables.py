"""Objects of another repository's snapshot: its tables and views with all their columns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.discover.schemas.schema_documents import split_quoted_name
from lineage_pipeline.model.enums import ObjectKind, Origin

IMPORTED_KINDS = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL})
IMPORTED_ORIGINS = frozenset({Origin.IMPLIED, Origin.IMPORTED})
"""Origins of schemas that are worth importing; schemas inferred from use are not."""

SnapshotRow = Mapping[str, Any]


def is_lineage_document(document: Mapping[str, Any]) -> bool:
    """Return whether a document was written by `lineage scan --format json`."""
    return "schema_version" in document and isinstance(document.get("column_edges"), list)


def tables_from_snapshot(
    objects: Iterable[SnapshotRow], columns: Iterable[SnapshotRow], source: str
) -> Iterator[ImportedTable]:
    """Return the persistent tables and views from rows of `objects` and `columns`; `source` is the snapshot's key."""
    grouped: dict[str, list[SnapshotRow]] = {}
    for column in columns:
        grouped.setdefault(column["object"], []).append(column)
    for row in objects:
        if row["temporary"] or row["kind"] not in IMPORTED_KINDS or row["origin"] not in IMPORTED_ORIGINS:
            continue
        listed = sorted(grouped.get(row["object"], ()), key=lambda column: column["ordinal"])
        yield ImportedTable(
            _name_parts(row),
            tuple(_column_from_snapshot(column) for column in listed),
            ObjectKind(row["kind"]),
            partial=bool(row["open"]) or not listed,
            description=row.get("description"),
            tags=tuple(row.get("tags") or ()),
            owners=tuple(row.get("owners") or ()),
            source=source,
        )


def _name_parts(row: SnapshotRow) -> tuple[tuple[str, bool], ...]:
    """Return the stored parts of a name; a row without them is split by its id."""
    if "name" in row:
        return tuple((row[part], True) for part in ("catalog", "schema", "name") if row.get(part))
    return tuple((part, True) for part, _ in split_quoted_name(row["object"]))


def _column_from_snapshot(column: SnapshotRow) -> ImportedColumn:
    return ImportedColumn(
        name=column["name"],
        type=column["type"],
        nullable=bool(column["nullable"]),
        description=column.get("description"),
        tags=tuple(column.get("tags") or ()),
        quoted=True,
    )
