"""`lineage diff`: what changed between two folders or revisions, and whom it breaks."""

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
from lineage_pipeline.cli.words import AllowImplied, Dialect, Schemas, ShowWaived, Today, Variables

if TYPE_CHECKING:
    from lineage_pipeline.discover.gather import Discovery
    from lineage_pipeline.settings import Settings

HELP = "A folder, or a revision of the repository here."


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

    style, targets, on = styled(link_base), targets_of(output), day(today)
    flags = Reading(dialect, schema, allow_implied, var).flags()
    before, after = (_side(side, flags) for side in (base, head))
    put_reports(compare(before, after, on, show_waived=show_waived), format, targets, color, style)


def _side(side: str, flags: Mapping[str, Any]) -> "tuple[Discovery, Settings]":
    """Read one side: a folder where there is one of this name, else a revision."""
    from lineage_pipeline.discover.folder import discover_folder
    from lineage_pipeline.discover.git import discover_revision, is_repository, toplevel
    from lineage_pipeline.settings import load_settings
    from lineage_pipeline.vocabulary.errors import LineageError

    if Path(side).is_dir():
        settings = load_settings(Path(side), flags, os.environ)
        return discover_folder(Path(side), settings), settings
    if not is_repository(Path.cwd()):
        raise LineageError(f"{side} is not a folder, and there is no git repository here to have it as a revision")
    top = toplevel(Path.cwd())
    settings = load_settings(top, flags, os.environ)
    return discover_revision(top, side, settings), settings
