"""`lineage check`: the gate in front of a merge."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from lineage_pipeline.cli.words import AllowImplied, Dialect, Schemas, ShowWaived, Today, Variables, say
from lineage_pipeline.engine.diff.gate import LIMITS, ExitStyle, FailOn, exit_code

if TYPE_CHECKING:
    from lineage_pipeline.cli.subject import Side


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
    show_waived: ShowWaived = False,
    today: Today = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    format: FormatOption = ReportFormat.TEXT,
    output: OutputsOption = None,
    color: ColourOption = Colour.AUTO,
    link_base: LinkOption = None,
) -> None:
    """Say whether a change may be merged; exit 0: it may, 1: it breaks somebody, 2: it cannot be told.

    The head is compared with the merge base of --base; without --base, with the target of the pull request
    that runs, else with that of the default branch. Which commit it is, and why, is told on stderr.

    Example: lineage check --base origin/main --head HEAD --fail-on breaking
    """
    from lineage_pipeline.cli.compare import compare, day
    from lineage_pipeline.cli.relaxing import relaxations

    style, targets, on = styled(link_base, LIMITS[fail_on]), targets_of(output), day(today)
    sides = sides_of(path, (base, head), Reading(dialect, schema, allow_implied, var).flags(), exact_base=exact_base)
    comparison = compare(*sides, on, show_waived=show_waived, told=relaxations(path, sides))
    put_reports(comparison, format, targets, color, style)
    code = exit_code(comparison.changes, fail_on, exit_style)
    if code and not exit_zero:
        raise typer.Exit(code)


def sides_of(
    path: Path, revisions: tuple[str, str], flags: Mapping[str, Any], *, exact_base: bool = False
) -> "tuple[Side, Side]":
    """Read base and head of a repository, both as the settings here say; tell which commit the base is."""
    from lineage_pipeline.discover.base import find_base
    from lineage_pipeline.discover.git import discover_revision, toplevel
    from lineage_pipeline.settings import find_file, load_settings

    base, head = revisions
    top = toplevel(path)
    settings = load_settings(top, flags, os.environ)
    found = find_base(top, base, head, os.environ, exact=exact_base)
    say(f"lineage: the base is {found.commit[:12]}: {found.why}")
    nearer = find_file(path.resolve())
    if nearer is not None and nearer.is_relative_to(top.resolve()) and settings.file != nearer:
        say(f"lineage: the whole repository is compared, and {nearer} is not read: its settings lie at the top")
    before, after = (discover_revision(top, revision, settings) for revision in (found.commit, head))
    return (before, settings), (after, settings)
