"""`lineage prune`: remove snapshots that are too old or too many."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.pipeline_runs import require_pipeline

if TYPE_CHECKING:
    from lineage_pipeline.defs.assets.retention import PruneResult


def prune(
    days: Annotated[
        int | None, typer.Option("--days", help="Remove those of commits that are older.", metavar="N", min=0)
    ] = None,
    snapshots: Annotated[
        int | None, typer.Option("--snapshots", help="Keep so many of each repository.", metavar="N", min=0)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Remove snapshots that are too old or too many, and what nobody needs any more.

    What is tagged stays, and so does where a watched ref is, and what a snapshot that stays is
    compared with. Without flags, [retention] of the settings says how long.

    Example: lineage prune --days 90 --dry-run
    """
    require_pipeline()
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.defs.assets.retention import prune_project

    flags = {"retention": {"days": days, "snapshots": snapshots}}
    pruned = prune_project(load_settings(Path.cwd(), flags, os.environ), dry=dry_run)
    for problem in pruned.problems:
        print_note(f"lineage: {problem}")
    write_output(_describe_pruned(pruned, dry_run))


def _describe_pruned(pruned: "PruneResult", dry: bool) -> str:
    lines = [f"{'would remove' if dry else 'removed'} {key}" for key in pruned.snapshots]
    counted = f"{len(pruned.snapshots)} snapshots"
    files = "" if dry else f", {pruned.files} files and {pruned.caches} of caches"
    return "\n".join([*lines, f"{counted}{files}"]) + "\n"
