"""`lineage run`: snapshots materialized through Dagster on Spark."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.cli.options import DialectOption, VariablesOption
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.pipeline_runs import ForceOption, RepositoryOption, exit_on_failed_checks, require_pipeline


def run(
    repo: RepositoryOption = ".",
    rev: Annotated[
        list[str] | None,
        typer.Option("--rev", help="A revision, or WORKTREE; may be repeated. HEAD if none.", metavar="REV"),
    ] = None,
    dialect: DialectOption = None,
    var: VariablesOption = None,
    force: ForceOption = False,
) -> None:
    """Put the lineage of revisions into the warehouse.

    With data-quality checks, marts, OpenLineage events and the change report.

    Example: lineage run --rev main --rev HEAD
    """
    require_pipeline()
    from lineage_pipeline.cli.run_summary_text import write_run_summary
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.defs.runs.materialize import materialize_revisions
    from lineage_pipeline.defs.runs.watched_repositories import open_repository
    from lineage_pipeline.discover.git.repository import WORKTREE

    flags = ReadingFlags(dialect, variables=var).flags()
    settings, top, in_git = open_repository(load_settings(Path.cwd(), flags, os.environ), repo, flags)
    summary = materialize_revisions(settings, top, rev or (["HEAD"] if in_git else [WORKTREE]), print_note, force=force)
    write_output(write_run_summary(summary))
    exit_on_failed_checks(summary)
