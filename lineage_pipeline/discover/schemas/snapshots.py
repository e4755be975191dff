"""The objects of another repository, as its snapshot knows them: tables and views with all their columns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.schemas.documents import written_parts
from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin

KINDS = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL})
KNOWN = frozenset({Origin.IMPLIED, Origin.IMPORTED})
"""Where a schema comes from that is worth importing; what is only inferred from use is not."""

Row = Mapping[str, Any]


def is_lineage(document: Mapping[str, Any]) -> bool:
    """Say whether a document is one that `lineage scan --format json` writes."""
    return "schema_version" in document and isinstance(document.get("column_edges"), list)


def snapshot_tables(objects: Iterable[Row], columns: Iterable[Row], source: str) -> Iterator[ImportedTable]:
    """Give the tables and views that last, from rows of `objects` and `columns`; `source` is the snapshot's key."""
    grouped: dict[str, list[Row]] = {}
    for column in columns:
        grouped.setdefault(column["object"], []).append(column)
    for row in objects:
        if row["temporary"] or row["kind"] not in KINDS or row["origin"] not in KNOWN:
            continue
        listed = sorted(grouped.get(row["object"], ()), key=lambda column: column["ordinal"])
        yield ImportedTable(
            _parts(row),
            tuple(_column(column) for column in listed),
            ObjectKind(row["kind"]),
            partial=bool(row["open"]) or not listed,
            description=row.get("description"),
            tags=tuple(row.get("tags") or ()),
            owners=tuple(row.get("owners") or ()),
            source=source,
        )


def _parts(row: Row) -> tuple[tuple[str, bool], ...]:
    """Give the parts of a name as they are stored; a row without them has an id to take apart."""
    if "name" in row:
        return tuple((row[part], True) for part in ("catalog", "schema", "name") if row.get(part))
    return tuple((part, True) for part, _ in written_parts(row["object"]))


def _column(column: Row) -> ImportedColumn:
    return ImportedColumn(
        column["name"],
        column["type"],
        bool(column["nullable"]),
        column.get("description"),
        tuple(column.get("tags") or ()),
        quoted=True,
    )
