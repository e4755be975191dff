"""`lineage import`: lineage observed at run time, merged into or compared with that of statements."""

from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.options import (
    AllowImpliedOption,
    DialectOption,
    OutputOption,
    ResultFormat,
    ResultFormatOption,
    SchemaOption,
    resolve_schema_places,
)
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError

IMPORT_FORMATS = ("openlineage",)


def import_(
    format_name: Annotated[
        str, typer.Argument(help=f"What FILE holds: {', '.join(IMPORT_FORMATS)}.", metavar="FORMAT")
    ],
    file: Annotated[Path, typer.Argument(help="Events: lines, a list, or one of them.", metavar="FILE")],
    subject: Annotated[
        str | None, typer.Argument(help="A folder, a file or REPO@REVISION that they are added to.", metavar="PATH")
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Show where statements and runs differ.")] = False,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    format: ResultFormatOption = ResultFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Add what runs told to the lineage of SQL, or show where they differ.

    What only runs know has the origin `runtime`, and its place is the file of events.

    Example: lineage import openlineage events.ndjson warehouse --format json
    """
    from lineage_pipeline.cli.openlineage_events import RuntimeEvents, compare_with_runs, merge_runs
    from lineage_pipeline.config.toml_files import suggest_word

    if format_name not in IMPORT_FORMATS:
        raise LineageError(f"there is no format {format_name}; {suggest_word(format_name, IMPORT_FORMATS)}")
    if compare and subject is None:
        raise LineageError("--compare needs the SQL that the runs are held against: name a folder, file or revision")
    runs = RuntimeEvents(file, file.read_bytes())
    for finding in runs.findings:
        print_note(f"lineage: {file}: {finding.message}")
    flags = {"dialect": dialect, "allow_implied": allow_implied, "schemas": resolve_schema_places(schema)}
    answer = compare_with_runs if compare else merge_runs
    write_output(answer(runs, subject, {"analysis": flags}, format), output)
