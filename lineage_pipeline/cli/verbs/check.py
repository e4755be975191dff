"""`lineage check`: whether a change may be merged."""

from pathlib import Path
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
from lineage_pipeline.engine.diff.policy import FAIL_SEVERITIES, ExitStyle, FailOn, compute_exit_code


def check(
    path: Annotated[Path, typer.Argument(help="A folder of the repository.", metavar="[PATH]")] = Path(),
    base: Annotated[str, typer.Option("--base", help="Where the change goes: origin/main.", metavar="REV")] = "",
    head: Annotated[str, typer.Option("--head", help="What is checked: a revision, or WORKTREE.")] = "HEAD",
    exact_base: Annotated[
        bool, typer.Option("--exact-base", help="Compare with --base itself, not with the merge base.")
    ] = False,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="What does not pass.")] = FailOn.BREAKING,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 whatever changed.")] = False,
    exit_style: Annotated[
        ExitStyle, typer.Option("--exit-style", help="infotracker: 0 nothing, 1 changes, 2 breaking ones.")
    ] = ExitStyle.PLAIN,
    show_waived: ShowWaivedOption = False,
    today: TodayOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    format: ReportFormatOption = ReportFormat.TEXT,
    output: ReportOutputsOption = None,
    color: ReportColorOption = ReportColor.AUTO,
    link_base: LinkBaseOption = None,
) -> None:
    """Say whether a change may be merged; exit 0: it may, 1: it breaks somebody, 2: it cannot be told.

    The head is compared with the merge base of --base; without --base, with the target of the pull request
    that runs, else with that of the default branch. Which commit it is, and why, is told on stderr.

    Example: lineage check --base origin/main --head HEAD --fail-on breaking
    """
    from lineage_pipeline.cli.side_comparison import compare_revisions, judge_comparison, parse_today

    style, targets, on = build_style(link_base, FAIL_SEVERITIES[fail_on]), parse_targets(output), parse_today(today)
    found, milder = compare_revisions(
        path, (base, head), ReadingFlags(dialect, schema, allow_implied, var).flags(), exact_base=exact_base
    )
    comparison = judge_comparison(found, on, show_waived=show_waived, findings=milder)
    write_reports(comparison, format, targets, color, style)
    code = compute_exit_code(comparison.changes, fail_on, exit_style)
    if code and not exit_zero:
        raise typer.Exit(code)
