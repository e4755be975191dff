"""`lineage diff`: what changed between two folders or revisions, and whom it breaks."""

from typing import Annotated

import typer

from lineage_pipeline.cli.places import Reading
from lineage_pipeline.cli.reports import (
    Colour,
    ColourOption,
    FormatOption,
    LinkOption,
    OutputsOption,
    ReportFormat,
    put_reports,
    styled,
    targets_of,
)
from lineage_pipeline.cli.words import AllowImplied, Dialect, Schemas, ShowWaived, Today, Variables

HELP = "A folder or file, a revision of the repository here, or REPO@REVISION."


def diff(
    base: Annotated[str, typer.Argument(help=HELP, metavar="BASE")],
    head: Annotated[str, typer.Argument(help=HELP + " WORKTREE: its files as they are.", metavar="HEAD")],
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    show_waived: ShowWaived = False,
    today: Today = None,
    format: FormatOption = ReportFormat.TEXT,
    output: OutputsOption = None,
    color: ColourOption = Colour.AUTO,
    link_base: LinkOption = None,
) -> None:
    """Show what changed between two revisions, and who feels it.

    Example: lineage diff main WORKTREE --format markdown
    """
    from lineage_pipeline.cli.compare import compare, day
    from lineage_pipeline.cli.sides import side_of

    style, targets, on = styled(link_base), targets_of(output), day(today)
    flags = Reading(dialect, schema, allow_implied, var).flags()
    before, after = (side_of(side, flags) for side in (base, head))
    put_reports(compare(before, after, on, show_waived=show_waived), format, targets, color, style)
