"""`lineage diff`: what changed between two folders or revisions, and whom it breaks."""

from typing import Annotated

import typer

from lineage_pipeline.cli.change_reports import (
    LinkBaseOption,
    ReportColor,
    ReportColorOption,
    ReportFormat,
    ReportFormatOption,
    ReportOutputsOption,
    build_style,
    parse_targets,
    write_reports,
)
from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.cli.options import (
    AllowImpliedOption,
    DialectOption,
    SchemaOption,
    ShowWaivedOption,
    TodayOption,
    VariablesOption,
)

SIDE_HELP = "A folder or file, a revision of the repository here, or REPO@REVISION."


def diff(
    base: Annotated[str, typer.Argument(help=SIDE_HELP, metavar="BASE")],
    head: Annotated[str, typer.Argument(help=SIDE_HELP + " WORKTREE: its files as they are.", metavar="HEAD")],
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    object: Annotated[
        str | None, typer.Option("--object", help="Only what changed in this object, or affects it.", metavar="OBJECT")
    ] = None,
    show_waived: ShowWaivedOption = False,
    today: TodayOption = None,
    format: ReportFormatOption = ReportFormat.TEXT,
    output: ReportOutputsOption = None,
    color: ReportColorOption = ReportColor.AUTO,
    link_base: LinkBaseOption = None,
) -> None:
    """Show what changed between two revisions, and who is affected.

    Example: lineage diff main WORKTREE --format markdown
    """
    from lineage_pipeline.cli.dialect_lines import print_dialects
    from lineage_pipeline.cli.revisions import discover_sides
    from lineage_pipeline.cli.side_comparison import compare_sides, narrow_to_object, parse_today

    style, targets, on = build_style(link_base), parse_targets(output), parse_today(today)
    flags = ReadingFlags(dialect, schema, allow_implied, var).flags()
    before, after = discover_sides(base, head, flags)
    print_dialects(after[0].files, flags)
    comparison = compare_sides(before, after, on, show_waived=show_waived)
    comparison = comparison if object is None else narrow_to_object(comparison, object)
    write_reports(comparison, format, targets, color, style)
