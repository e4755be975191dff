"""`lineage export`: lineage as other tools read it."""

from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.impact import Way
from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, Variables, placed, variables
from lineage_pipeline.vocabulary.sets import Grain, Indirect, Profile

NAMES = "openlineage csv xlsx duckdb parquet mermaid dot graphml json html markdown".split()
SUBJECT = "A folder, a file, REPO@REV, a lineage file or a snapshot of a warehouse."


FormatName = Annotated[str, typer.Argument(help=f"How to write: {', '.join(NAMES)}.", metavar="FORMAT")]
Word = Annotated[str, typer.Argument(help=SUBJECT, metavar="PATH")]
LevelOption = Annotated[
    Grain | None, typer.Option("--level", help="What is drawn: files, objects, or objects with columns.")
]
FocusOption = Annotated[str | None, typer.Option("--focus", help="Only what is around this object.", metavar="OBJECT")]
DepthOption = Annotated[int | None, typer.Option("--depth", help="How many steps around it.", min=0)]
DirectionOption = Annotated[Way | None, typer.Option("--direction", help="Only what feeds it, or what it feeds.")]
LimitOption = Annotated[int | None, typer.Option("--limit", help="Draw at most so many boxes.", min=1)]
ProfileOption = Annotated[
    Profile | None, typer.Option("--profile", help="openlineage: tell of jobs, or of runs of them.")
]
IndirectOption = Annotated[
    Indirect | None, typer.Option("--indirect", help="openlineage: where joins, filters and orders are told.")
]
BaseOption = Annotated[
    str | None, typer.Option("--base", help="openlineage: tell what became of datasets since then.", metavar="BASE")
]
TimeOption = Annotated[
    str | None, typer.Option("--event-time", help="openlineage: the time where there is no commit.", metavar="TIME")
]
FolderOption = Annotated[
    Path | None, typer.Option("--per-job", help="openlineage: write a file for each job.", metavar="FOLDER")
]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="openlineage: send the events to this consumer.", metavar="URL")
]

ObjectOption = Annotated[
    str | None, typer.Option("--object", help="html: the page of this object, with its SQL.", metavar="OBJECT")
]


def export(
    format: FormatName,
    subject: Word = ".",
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    output: Output = None,
    level: LevelOption = None,
    focus: FocusOption = None,
    depth: DepthOption = None,
    direction: DirectionOption = None,
    limit: LimitOption = None,
    profile: ProfileOption = None,
    indirect: IndirectOption = None,
    base: BaseOption = None,
    event_time: TimeOption = None,
    per_job: FolderOption = None,
    url: UrlOption = None,
    object: ObjectOption = None,
) -> None:
    """Write lineage for other tools.

    csv and parquet write a folder, xlsx and duckdb a file; the others write a text, to stdout without -o.
    The key of a consumer is taken from OPENLINEAGE_API_KEY.

    Example: lineage export html warehouse --dialect tsql -o lineage.html

    Example: lineage export html warehouse.lineage --object mart.daily_sales -o daily_sales.html
    """
    from lineage_pipeline.cli import exporting

    flags = {"dialect": dialect, "allow_implied": allow_implied, "schemas": placed(schema)}
    source = exporting.Source(
        subject, {"analysis": flags, "templating": {"variables": variables(var)}}, focus, depth, direction
    )
    drawing = {"level": level, "limit": limit, "object": object}
    events = {"profile": profile, "indirect": indirect, "base": base, "event_time": event_time}
    exporting.export(format, source, output, drawing | events | {"per_job": per_job, "url": url})
