"""`lineage scan`: the lineage of a whole repository, in this process."""

import uuid
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.files import tables_of, write_tables
from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, Variables, put, say
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.cli.places import Found
    from lineage_pipeline.export import Subject


class ScanFormat(StrEnum):
    """How a scan is written; `lineage` is a compact file of all tables."""

    TEXT = "text"
    JSON = "json"
    LINEAGE = "lineage"


SUFFIXES = {".json": ScanFormat.JSON, ".lineage": ScanFormat.LINEAGE}


Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Folders, SQL files, or REPO@REV; this folder if none.", metavar="PATH|REPO@REV..."),
]
ScanFormatOption = Annotated[
    ScanFormat | None,
    typer.Option("--format", "-f", help="How to write the result; without it, the name of the file says it."),
]
Into = Annotated[
    str | None, typer.Option("--into", help="Put the snapshot into this warehouse as well.", metavar="WAREHOUSE")
]


def scan(
    paths: Paths = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    format: ScanFormatOption = None,
    output: Output = None,
    into: Into = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say of each file how and why it is read.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile every file anew.")] = False,
) -> None:
    """Show the lineage of all SQL files of a folder or a revision.

    With -o FILE.lineage or -o FILE.json it is kept in a file that `impact`, `path`, `show` and the others can ask with
    --in FILE. A .lineage file is small and quick to ask; a .json file is the document for other programs.

    Example: lineage scan warehouse --dialect tsql -o warehouse.lineage

    Example: lineage scan ../shop@main --format json -o main.json
    """
    from lineage_pipeline.cli.places import Reading, analysed, find

    chosen = _chosen(format, output)
    places = paths or ["."]
    found = find(places, Reading(dialect, schema, allow_implied, var, cache=False if no_cache else None))
    if not found.discovery.files:
        say(f"lineage: no file below {' '.join(places)} fits {', '.join(found.settings.include)}")
    if verbose:
        _explain(found)
    keeps = chosen is ScanFormat.LINEAGE or into is not None
    subject = analysed(found, reach=keeps)
    if into is not None:
        say(f"lineage: {_publish(found, subject, into)} is in {into}")
    if output is not None or into is None:
        _put(found, subject, chosen, output)


def _put(found: "Found", subject: "Subject", chosen: ScanFormat, output: Path | None) -> None:
    """Write the result; into a file, with a word on what is in it."""
    from lineage_pipeline.export import EXPORTERS
    from lineage_pipeline.export.text import summary_line

    if chosen is ScanFormat.LINEAGE and output is not None:
        write_tables(output, found, subject)
    else:
        put(EXPORTERS[chosen].write(subject), output)
    if output is not None:
        say(f"lineage: {summary_line(subject)}; in {output}")


def _explain(found: "Found") -> None:
    for file in found.discovery.files:
        say(f"{file.path}: {file.dialect or 'generic SQL'} ({file.evidence or 'no sign'}), {file.encoding}")


def _chosen(format: ScanFormat | None, output: Path | None) -> ScanFormat:
    """Give the format that is named, or that of the file's name."""
    chosen = format or (SUFFIXES.get(output.suffix) if output else None) or ScanFormat.TEXT
    if chosen is ScanFormat.LINEAGE and output is None:
        raise LineageError("--format lineage needs a file: -o FILE.lineage")
    return chosen


def _publish(found: "Found", subject: "Subject", warehouse: str) -> str:
    """Write a snapshot as a run of its own, and give its key."""
    from lineage_pipeline.store.warehouse import Warehouse

    key = found.discovery.key
    run = Warehouse(warehouse).begin(key, f"scan-{uuid.uuid4().hex}", found.settings.analysis_key())
    for table, rows in tables_of(found, subject).items():
        run.write(table, rows)
    run.publish()
    return key
