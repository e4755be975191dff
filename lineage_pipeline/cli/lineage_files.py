"""Lineage files: an analysis written as a compact file or as a JSON document."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.cli.inputs import DiscoveredInputs
    from lineage_pipeline.export.subject import Subject
    from lineage_pipeline.model.analysis import LineageTables
    from lineage_pipeline.model.tables import SqlFile

BUNDLE_SUFFIX, DOCUMENT_SUFFIX = ".lineage", ".json"


def write_analysis_file(output: Path, found: "DiscoveredInputs", subject: "Subject") -> None:
    """Write an analysis to a lineage file; the suffix selects the kind."""
    if _is_document_file(output):
        from lineage_pipeline.export.formats.lineage_formats import write_text_parts

        write_output(write_text_parts("json", subject), output)
    else:
        write_bundle_file(output, found, subject)


def write_bundle_file(output: Path, found: "DiscoveredInputs", subject: "Subject") -> None:
    """Write an analysis to a compact lineage file."""
    from lineage_pipeline.store.lineage_file import write_lineage_file

    write_lineage_file(output, found.discovery.key, collect_snapshot_tables(found, subject))


def write_merged_file(output: Path, key: str, rows: "LineageTables", files: "Sequence[SqlFile]") -> None:
    """Write rows of several analyses to a lineage file."""
    if _is_document_file(output):
        from lineage_pipeline.export.formats.lineage_formats import write_text_parts
        from lineage_pipeline.export.subject import Subject

        write_output(write_text_parts("json", Subject(rows, files=tuple(files))), output)
    else:
        from lineage_pipeline.store.lineage_file import write_lineage_file

        write_lineage_file(
            output, key, _lineage_tables(rows) | {"snapshots": (), "sql_files": tuple(files), "sources": ()}
        )


def _is_document_file(output: Path) -> bool:
    if output.suffix not in (BUNDLE_SUFFIX, DOCUMENT_SUFFIX):
        raise LineageError(f"{output}: a lineage file ends in {BUNDLE_SUFFIX} or {DOCUMENT_SUFFIX}")
    return output.suffix == DOCUMENT_SUFFIX


def collect_snapshot_tables(found: "DiscoveredInputs", subject: "Subject") -> "dict[str, tuple[msgspec.Struct, ...]]":
    """Return the rows of every table of a snapshot."""
    discovery = found.discovery
    own: dict[str, tuple[msgspec.Struct, ...]] = {
        "snapshots": (discovery.snapshot,),
        "sql_files": discovery.files,
        "sources": discovery.sources,
    }
    return own | _lineage_tables(subject.lineage)


def _lineage_tables(lineage: "LineageTables") -> "dict[str, tuple[msgspec.Struct, ...]]":
    return {name: getattr(lineage, name) for name in lineage.__struct_fields__}
