"""Lineage files and lists of files: how commands write and read them."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_pipeline.cli.words import put
from lineage_pipeline.discover.bounded import as_csv
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    import msgspec

    from lineage_pipeline.cli.places import Found
    from lineage_pipeline.export import Subject
    from lineage_pipeline.vocabulary.analysis import Lineage
    from lineage_pipeline.vocabulary.tables import SqlFile

BUNDLE, DOCUMENT = ".lineage", ".json"


def write_lineage(output: Path, found: "Found", subject: "Subject") -> None:
    """Write an analysis into a lineage file; the name says of which kind."""
    if _is_document(output):
        from lineage_pipeline.export import EXPORTERS

        put(EXPORTERS["json"].write(subject), output)
    else:
        write_tables(output, found, subject)


def write_tables(output: Path, found: "Found", subject: "Subject") -> None:
    """Write an analysis into a compact lineage file."""
    from lineage_pipeline.store.bundle import write_bundle

    write_bundle(output, found.discovery.key, tables_of(found, subject))


def write_rows(output: Path, key: str, rows: "Lineage", files: "Sequence[SqlFile]") -> None:
    """Write rows that come from several analyses into a lineage file."""
    if _is_document(output):
        from lineage_pipeline.export.json import dump, lineage_document

        put(dump(lineage_document(rows, files)), output)
    else:
        from lineage_pipeline.store.bundle import write_bundle

        write_bundle(output, key, _rows(rows) | {"snapshots": (), "sql_files": tuple(files), "sources": ()})


def _is_document(output: Path) -> bool:
    if output.suffix not in (BUNDLE, DOCUMENT):
        raise LineageError(f"{output}: a lineage file ends in {BUNDLE} or {DOCUMENT}")
    return output.suffix == DOCUMENT


def tables_of(found: "Found", subject: "Subject") -> "dict[str, tuple[msgspec.Struct, ...]]":
    """Give the rows of every table of a snapshot."""
    discovery = found.discovery
    own: dict[str, tuple[msgspec.Struct, ...]] = {
        "snapshots": (discovery.snapshot,),
        "sql_files": discovery.files,
        "sources": discovery.sources,
    }
    return own | _rows(subject.lineage)


def _rows(lineage: "Lineage") -> "dict[str, tuple[msgspec.Struct, ...]]":
    return {name: getattr(lineage, name) for name in lineage.__struct_fields__}


def listed_in(manifest: Path) -> list[str]:
    """Give the files that a CSV file lists in its column file_path, as they lie beside it."""
    try:
        with manifest.open(encoding="utf-8-sig", newline="") as stream, as_csv(manifest):
            rows = list(csv.DictReader(stream))
    except OSError as error:
        raise LineageError(f"{manifest}: {error.strerror}") from None
    if rows and "file_path" not in rows[0]:
        raise LineageError(f"{manifest} has no column file_path")
    return [str(manifest.parent / place) for row in rows if (place := (row["file_path"] or "").strip())]
