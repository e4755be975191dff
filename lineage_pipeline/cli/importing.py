"""`lineage import`: what was seen at run time, beside or instead of what the statements say."""

from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.words import AllowImplied, Dialect, Format, FormatOption, Output, Schemas, placed, put, say
from lineage_pipeline.vocabulary.errors import LineageError

FORMATS = ("openlineage",)


def import_(
    format_name: Annotated[str, typer.Argument(help=f"What FILE holds: {', '.join(FORMATS)}.", metavar="FORMAT")],
    file: Annotated[Path, typer.Argument(help="Events: lines, a list, or one of them.", metavar="FILE")],
    subject: Annotated[
        str | None, typer.Argument(help="A folder, a file or REPO@REVISION that they are added to.", metavar="PATH")
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Show where statements and runs differ.")] = False,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    format: FormatOption = Format.TEXT,
    output: Output = None,
) -> None:
    """Add what runs told to the lineage of SQL, or show where they differ.

    What only runs know has the origin `runtime`, and its place is the file of events.

    Example: lineage import openlineage events.ndjson warehouse --format json
    """
    from lineage_pipeline.cli.runtime import Runs, compared, merged
    from lineage_pipeline.settings import suggestion

    if format_name not in FORMATS:
        raise LineageError(f"there is no format {format_name}; {suggestion(format_name, FORMATS)}")
    if compare and subject is None:
        raise LineageError("--compare needs the SQL that the runs are held against: name a folder, file or revision")
    runs = Runs(file, file.read_bytes())
    for finding in runs.findings:
        say(f"lineage: {file}: {finding.message}")
    flags = {"dialect": dialect, "allow_implied": allow_implied, "schemas": placed(schema)}
    answer = compared if compare else merged
    put(answer(runs, subject, {"analysis": flags}, format), output)
