"""`lineage run` and `lineage example`: snapshots materialised through Dagster on Spark."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.places import Reading
from lineage_pipeline.cli.words import Dialect, Variables, put, say

if TYPE_CHECKING:
    from lineage_pipeline.vocabulary.summary import RunSummary


Repository = Annotated[
    str,
    typer.Option("--repo", help="A repository of the settings, or a folder or an address.", metavar="NAME|PATH|URL"),
]
Force = Annotated[bool, typer.Option("--force", help="Make again what is there already.")]


def run(
    repo: Repository = ".",
    rev: Annotated[
        list[str] | None,
        typer.Option("--rev", help="A revision, or WORKTREE; may be repeated. HEAD if none.", metavar="REV"),
    ] = None,
    dialect: Dialect = None,
    var: Variables = None,
    force: Force = False,
) -> None:
    """Put the lineage of revisions into the warehouse.

    With data-quality checks, marts, OpenLineage events and the change report.

    Example: lineage run --rev main --rev HEAD
    """
    need_pipeline()
    from lineage_pipeline.cli.summary import summary_text
    from lineage_pipeline.defs.opening import open_repository
    from lineage_pipeline.defs.run import materialise
    from lineage_pipeline.discover.git import WORKTREE
    from lineage_pipeline.settings import load_settings

    flags = Reading(dialect, variables=var).flags()
    settings, top, in_git = open_repository(load_settings(Path.cwd(), flags, os.environ), repo, flags)
    summary = materialise(settings, top, rev or (["HEAD"] if in_git else [WORKTREE]), say, force=force)
    put(summary_text(summary))
    judge(summary)


def example(
    assets: Annotated[
        Path | None, typer.Option("--assets", help="Folder of the example warehouses.", metavar="PATH")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="All commits that led there, in some minutes; then trends have a past.")
    ] = False,
) -> None:
    """Build and run the example: two revisions, start to end.

    Example: lineage example --assets sql_assets
    """
    need_pipeline()
    from lineage_pipeline.cli.summary import next_commands, summary_text
    from lineage_pipeline.defs.run import materialise
    from lineage_pipeline.discover.example import build_example
    from lineage_pipeline.discover.git import first_parents
    from lineage_pipeline.settings import load_settings

    settings = load_settings(Path.cwd(), {}, os.environ)
    target = settings.home / ("example-history" if history else "example")
    built = build_example(assets or settings.root / "sql_assets", target, history=history)
    revisions = first_parents(built.path, "HEAD")
    say(f"example: {built.path} {'built' if built.built else 'is as before'}, {len(revisions)} revisions")
    own = settings.for_repository(built.path, {}, os.environ)
    summary = materialise(own, built.path, revisions, say)
    put(summary_text(summary) + next_commands(summary, built.path))
    judge(summary)


def need_pipeline() -> None:
    """Name what is missing before one of its many packages does."""
    if find_spec("dagster") is None:
        raise ModuleNotFoundError("No module named 'dagster'", name="dagster")


def judge(summary: "RunSummary") -> None:
    """Exit 1 where a check failed."""
    if summary.checks_failed:
        raise typer.Exit(1)
