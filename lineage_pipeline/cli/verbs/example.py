"""`lineage example`: builds and runs the example repository."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.pipeline_runs import exit_on_failed_checks, require_pipeline


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
    require_pipeline()
    from lineage_pipeline.cli.run_summary_text import write_next_commands, write_run_summary
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.defs.runs.materialize import materialize_revisions
    from lineage_pipeline.discover.example.repository import build_example
    from lineage_pipeline.discover.git.repository import list_first_parents

    settings = load_settings(Path.cwd(), {}, os.environ)
    target = settings.home / ("example-history" if history else "example")
    built = build_example(assets or settings.root / "sql_assets", target, history=history)
    revisions = list_first_parents(built.path, "HEAD")
    print_note(f"example: {built.path} {'built' if built.built else 'is as before'}, {len(revisions)} revisions")
    own = settings.for_repository(built.path, {}, os.environ)
    summary = materialize_revisions(own, built.path, revisions, print_note)
    write_output(write_run_summary(summary) + write_next_commands(summary, built.path))
    exit_on_failed_checks(summary)
