"""`lineage export`: lineage as other tools read it."""

from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, placed
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Indirect, Profile

FORMATS = ("openlineage",)
SUBJECT = "A folder, a file, a revision of the repository here, or REPO@REVISION."


def export(
    format: Annotated[str, typer.Argument(help=f"How to write: {', '.join(FORMATS)}.", metavar="FORMAT")],
    subject: Annotated[str, typer.Argument(help=SUBJECT, metavar="PATH")] = ".",
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    output: Output = None,
    profile: Annotated[Profile, typer.Option("--profile", help="Tell of jobs, or of runs of them.")] = Profile.JOB,
    indirect: Annotated[
        Indirect, typer.Option("--indirect", help="Where joins, filters, groups and orders are told.")
    ] = Indirect.DATASET,
    base: Annotated[
        str | None, typer.Option("--base", help="Tell what became of datasets since then.", metavar="BASE")
    ] = None,
    event_time: Annotated[
        str | None, typer.Option("--event-time", help="The time of events where there is no commit.", metavar="TIME")
    ] = None,
    per_job: Annotated[
        Path | None, typer.Option("--per-job", help="Write a file for each job.", metavar="FOLDER")
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="Send the events to this consumer.", metavar="URL")] = None,
) -> None:
    """Write lineage for other tools.

    The key of a consumer is taken from OPENLINEAGE_API_KEY, never from the command line.

    Example: lineage export openlineage warehouse --dialect tsql -o events.ndjson
    """
    from lineage_pipeline.cli import events
    from lineage_pipeline.settings import suggestion

    if format not in FORMATS:
        raise LineageError(f"there is no format {format}; {suggestion(format, FORMATS)}")
    asked = events.Asked(profile, indirect, base, event_time)
    flags = {"dialect": dialect, "allow_implied": allow_implied, "schemas": placed(schema)}
    events.export_events(subject, {"analysis": flags}, asked, events.Ways(output, per_job, url))
