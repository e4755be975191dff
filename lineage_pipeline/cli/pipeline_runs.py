"""What the verbs that need Dagster and Spark share: options, the check of the install, the exit code."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lineage_pipeline.model.summary import RunSummary


RepositoryOption = Annotated[
    str,
    typer.Option("--repo", help="A repository of the settings, or a folder or an address.", metavar="NAME|PATH|URL"),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Make again what is there already.")]


def require_pipeline() -> None:
    """Raise an error that names the missing extra before one of its many packages does."""
    if find_spec("dagster") is None:
        raise ModuleNotFoundError("No module named 'dagster'", name="dagster")


def exit_on_failed_checks(summary: "RunSummary") -> None:
    """Exit 1 where a check of rows failed; what a snapshot changes is judged by `lineage check`."""
    if any(not one.about_changes for one in summary.failed):
        raise typer.Exit(1)
