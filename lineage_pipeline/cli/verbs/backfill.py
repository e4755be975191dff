"""`lineage backfill`: past commits of a repository into the warehouse."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.options import DialectOption
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.pipeline_runs import ForceOption, RepositoryOption, exit_on_failed_checks, require_pipeline


def backfill(
    since: Annotated[str, typer.Option("--since", help="The revision behind which to begin.", metavar="REV")],
    repo: RepositoryOption = ".",
    until: Annotated[
        str, typer.Option("--until", help="The last revision; the base ref, else HEAD, if none.", metavar="REV")
    ] = "",
    every: Annotated[
        int, typer.Option("--every", help="Take every Nth commit and the newest.", metavar="N", min=1)
    ] = 1,
    dialect: DialectOption = None,
    force: ForceOption = False,
) -> None:
    """Put the past of a repository into the warehouse, the oldest commit first.

    It follows first parents, in one process with one Spark session. What a commit did not
    change is not compiled again. With --every, only the newest is compared with its base.

    Example: lineage backfill --repo shop --since v1.0 --every 10
    """
    require_pipeline()
    from lineage_pipeline.cli.run_summary_text import write_run_summary
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.defs.runs.materialize import CommitRange
    from lineage_pipeline.defs.runs.materialize import backfill_repository as fill
    from lineage_pipeline.defs.runs.watched_repositories import open_repository
    from lineage_pipeline.discover.file_options import require_known_dialect
    from lineage_pipeline.model.errors import LineageError

    flags = {"analysis": {"dialect": dialect}}
    settings, top, in_git = open_repository(load_settings(Path.cwd(), flags, os.environ), repo, flags)
    if not in_git:
        raise LineageError(f"{top} is not a git repository, so it has no past")
    require_known_dialect(settings.analysis.dialect)
    summary = fill(settings, top, CommitRange(since, until, every), print_note, force=force)
    write_output(write_run_summary(summary))
    exit_on_failed_checks(summary)
