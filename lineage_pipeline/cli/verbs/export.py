"""`lineage export`: lineage for other tools."""

from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.options import (
    EXPORT_FORMATS,
    AllowImpliedOption,
    BoxLimitOption,
    DialectOption,
    ExpandOption,
    FocusDepthOption,
    FocusDirectionOption,
    FocusOption,
    GrainOption,
    OutputOption,
    SchemaOption,
    VariablesOption,
    parse_variables,
    resolve_schema_places,
)
from lineage_pipeline.model.enums import Indirect, Profile

SUBJECT_HELP = "A folder, a file, REPO@REV, a lineage file or a snapshot of a warehouse."


FormatArgument = Annotated[str, typer.Argument(help=f"How to write: {', '.join(EXPORT_FORMATS)}.", metavar="FORMAT")]
SubjectArgument = Annotated[str, typer.Argument(help=SUBJECT_HELP, metavar="PATH")]


ProfileOption = Annotated[
    Profile | None, typer.Option("--profile", help="openlineage: tell of jobs, or of runs of them.")
]
IndirectOption = Annotated[
    Indirect | None, typer.Option("--indirect", help="openlineage: where joins, filters and orders are told.")
]
BaseOption = Annotated[
    str | None, typer.Option("--base", help="openlineage: tell what became of datasets since then.", metavar="BASE")
]
EventTimeOption = Annotated[
    str | None, typer.Option("--event-time", help="openlineage: the time where there is no commit.", metavar="TIME")
]
PerJobOption = Annotated[
    Path | None, typer.Option("--per-job", help="openlineage: write a file for each job.", metavar="FOLDER")
]
ConsumerUrlOption = Annotated[
    str | None, typer.Option("--url", help="openlineage: send the events to this consumer.", metavar="URL")
]

ObjectOption = Annotated[
    str | None, typer.Option("--object", help="html: the page of this object, with its SQL.", metavar="OBJECT")
]


def export(
    format: FormatArgument,
    subject: SubjectArgument = ".",
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    output: OutputOption = None,
    level: GrainOption = None,
    focus: FocusOption = None,
    depth: FocusDepthOption = None,
    direction: FocusDirectionOption = None,
    limit: BoxLimitOption = None,
    profile: ProfileOption = None,
    indirect: IndirectOption = None,
    base: BaseOption = None,
    event_time: EventTimeOption = None,
    per_job: PerJobOption = None,
    url: ConsumerUrlOption = None,
    object: ObjectOption = None,
    expand: ExpandOption = False,
) -> None:
    """Write lineage for other tools.

    csv and parquet write a folder, xlsx and duckdb a file; the others write a text, to stdout without -o.
    The key of a consumer is taken from OPENLINEAGE_API_KEY.

    Example: lineage export html warehouse --dialect tsql -o lineage.html

    Example: lineage export html warehouse.lineage --object mart.daily_sales -o daily_sales.html
    """
    from lineage_pipeline.cli import lineage_export

    flags = {"dialect": dialect, "allow_implied": allow_implied, "schemas": resolve_schema_places(schema)}
    source = lineage_export.ExportSource(
        subject, {"analysis": flags, "templating": {"variables": parse_variables(var)}}, focus, depth, direction
    )
    drawing = {"level": level, "limit": limit, "object": object}
    texts = {"expand": expand or None}
    events = {"profile": profile, "indirect": indirect, "base": base, "event_time": event_time}
    lineage_export.write_export(format, source, output, drawing | events | {"per_job": per_job, "url": url, **texts})
