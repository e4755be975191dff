"""`lineage backfill`: the past of a repository in the warehouse, commit by commit."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.run import Force, Repository, judge, need_pipeline
from lineage_pipeline.cli.words import Dialect, put, say


def backfill(
    since: Annotated[str, typer.Option("--since", help="The revision behind which to begin.", metavar="REV")],
    repo: Repository = ".",
    until: Annotated[
        str, typer.Option("--until", help="The last revision; the base ref, else HEAD, if none.", metavar="REV")
    ] = "",
    every: Annotated[
        int, typer.Option("--every", help="Take every Nth commit and the newest.", metavar="N", min=1)
    ] = 1,
    dialect: Dialect = None,
    force: Force = False,
) -> None:
    """Put the past of a repository into the warehouse, the oldest commit first.

    It follows first parents, in one process with one Spark session. What a commit did not
    change is not compiled again. With --every, only the newest is compared with its base.

    Example: lineage backfill --repo shop --since v1.0 --every 10
    """
    need_pipeline()
    from lineage_pipeline.cli.summary import summary_text
    from lineage_pipeline.defs.history import Walk
    from lineage_pipeline.defs.history import backfill as fill
    from lineage_pipeline.defs.opening import open_repository
    from lineage_pipeline.settings import load_settings
    from lineage_pipeline.vocabulary.errors import LineageError

    flags = {"analysis": {"dialect": dialect}}
    settings, top, in_git = open_repository(load_settings(Path.cwd(), flags, os.environ), repo, flags)
    if not in_git:
        raise LineageError(f"{top} is not a git repository, so it has no past")
    summary = fill(settings, top, Walk(since, until, every), say, force=force)
    put(summary_text(summary))
    judge(summary)
