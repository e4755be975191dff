"""`lineage rebuild`: what a change makes stale, in the order in which to build it again."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.places import Reading
from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, Variables, put, say

if TYPE_CHECKING:
    from lineage_pipeline.cli.subject import Side
    from lineage_pipeline.engine.diff.rebuild import Rebuild


class RebuildFormat(StrEnum):
    """How the list is written."""

    TEXT = "text"
    JSON = "json"
    DBT = "dbt"


def rebuild(
    path: Annotated[Path, typer.Argument(help="A folder of the repository.", metavar="[PATH]")] = Path(),
    base: Annotated[str, typer.Option("--base", help="Where the change goes: origin/main.", metavar="REV")] = "",
    head: Annotated[str, typer.Option("--head", help="What is looked at: a revision, or WORKTREE.")] = "HEAD",
    exact_base: Annotated[
        bool, typer.Option("--exact-base", help="Compare with --base itself, not with the merge base.")
    ] = False,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    format: Annotated[
        RebuildFormat, typer.Option("--format", "-f", help="dbt: what `dbt build --select` takes.")
    ] = RebuildFormat.TEXT,
    output: Output = None,
) -> None:
    """List what a change makes stale, those that others need first.

    Edited and new objects, and all whose values or rows come from what changed; not those that only might.
    The base is found as `lineage check` finds it.

    Example: dbt build --select $(lineage rebuild --base origin/main --format dbt)
    """
    from lineage_pipeline.cli.check import sides_of
    from lineage_pipeline.export.rebuild import WRITERS, model_of

    flags = Reading(dialect, schema, allow_implied, var).flags()
    sides = sides_of(path, (base, head), flags, exact_base=exact_base)
    found = _stale(*sides)
    models = frozenset(file.path for file in sides[1][0].files if file.templater == "dbt")
    put(WRITERS[format](found, sides[0][0].key, sides[1][0].key, models), output)
    others = [stale.object for stale in found.stale if not model_of(stale, models)]
    if format is RebuildFormat.DBT and others:
        say(f"lineage: no models, build them in another way: {', '.join(others)}")


def _stale(base: "Side", head: "Side") -> "Rebuild":
    from lineage_pipeline.cli.subject import lineages_of
    from lineage_pipeline.engine.diff import diff
    from lineage_pipeline.engine.diff.rebuild import rebuild as stale_objects
    from lineage_pipeline.settings.judging import policy_of

    before, after = lineages_of(base, head)
    return stale_objects(before, after, diff(before, after, policy_of(head[1])))
