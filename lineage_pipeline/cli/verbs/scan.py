"""`lineage scan`: the lineage of a whole repository, in this process."""

import uuid
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.lineage_files import collect_snapshot_tables, write_bundle_file
from lineage_pipeline.cli.options import (
    AllowImpliedOption,
    DialectOption,
    ExpandOption,
    OutputOption,
    SchemaOption,
    VariablesOption,
)
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.cli.inputs import DiscoveredInputs
    from lineage_pipeline.export.subject import Subject


class ScanFormat(StrEnum):
    """Format of a scan; `lineage` is a compact file of all tables."""

    TEXT = "text"
    JSON = "json"
    LINEAGE = "lineage"


FORMAT_SUFFIXES = {".json": ScanFormat.JSON, ".lineage": ScanFormat.LINEAGE}


ScanPathsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Folders, SQL files, or REPO@REV; this folder if none.", metavar="PATH|REPO@REV..."),
]
ScanFormatOption = Annotated[
    ScanFormat | None,
    typer.Option("--format", "-f", help="How to write the result; without it, the name of the file says it."),
]
IntoOption = Annotated[
    str | None, typer.Option("--into", help="Put the snapshot into this warehouse as well.", metavar="WAREHOUSE")
]


def scan(
    paths: ScanPathsArgument = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    format: ScanFormatOption = None,
    output: OutputOption = None,
    into: IntoOption = None,
    expand: ExpandOption = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile every file anew.")] = False,
) -> None:
    """Show the lineage of all SQL files of a folder or a revision.

    With -o FILE.lineage or -o FILE.json it is kept in a file that `impact`, `path`, `show` and the others can ask with
    --in FILE. A .lineage file is small and quick to ask; a .json file is the document for other programs.

    Example: lineage scan warehouse --dialect tsql -o warehouse.lineage

    Example: lineage scan ../shop@main --format json -o main.json
    """
    from lineage_pipeline.cli.dialect_lines import print_dialects, print_doubts
    from lineage_pipeline.cli.inputs import ReadingFlags, analyze_inputs, discover_inputs
    from lineage_pipeline.cli.read_files import describe_include, summarize_unread

    chosen = _choose_format(format, output, expand)
    places = paths or ["."]
    reading = ReadingFlags(dialect, schema, allow_implied, var, cache=False if no_cache else None)
    found = discover_inputs(places, reading)
    print_dialects(found.discovery.files, reading.flags())
    if not found.discovery.files:
        print_note(f"lineage: no file below {' '.join(places)} fits {describe_include(found.settings)}")
    if found.discovery.unread:
        print_note(f"lineage: {summarize_unread(found.discovery)}")
    keeps = chosen is ScanFormat.LINEAGE or into is not None
    subject = analyze_inputs(found, reach=keeps)
    if into is not None:
        print_note(f"lineage: {_publish_snapshot(found, subject, into)} is in {into}")
    if output is not None or into is None:
        _write_scan(found, subject, chosen, output, expand)
    print_doubts(found, subject, places, reading)


def _write_scan(
    found: "DiscoveredInputs", subject: "Subject", chosen: ScanFormat, output: Path | None, expand: bool
) -> None:
    """Write the result; for a file, also print a summary."""
    from lineage_pipeline.export.formats.lineage_formats import write_text_parts
    from lineage_pipeline.export.formats.lineage_text import format_summary

    if chosen is ScanFormat.LINEAGE and output is not None:
        write_bundle_file(output, found, subject)
    else:
        write_output(write_text_parts(chosen, subject, expand=expand), output)
    if output is not None:
        print_note(f"lineage: {format_summary(subject)}; in {output}")


def _choose_format(format: ScanFormat | None, output: Path | None, expand: bool) -> ScanFormat:
    """Return the format of --format, else that of the file's suffix."""
    chosen = format or (FORMAT_SUFFIXES.get(output.suffix) if output else None) or ScanFormat.TEXT
    if chosen is ScanFormat.LINEAGE and output is None:
        raise LineageError("--format lineage needs a file: -o FILE.lineage")
    if expand and chosen is not ScanFormat.JSON:
        raise LineageError("--expand is about the edges of JSON: use it with --format json")
    return chosen


def _publish_snapshot(found: "DiscoveredInputs", subject: "Subject", warehouse: str) -> str:
    """Write a snapshot as a run of its own, and return its key."""
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.store.warehouse import Warehouse

    key = found.discovery.key
    run = Warehouse(warehouse).begin(key, f"scan-{uuid.uuid4().hex}", compute_analysis_key(found.settings))
    for table, rows in collect_snapshot_tables(found, subject).items():
        run.write(table, rows)
    run.publish()
    return key
