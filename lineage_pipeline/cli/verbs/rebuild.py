"""`lineage rebuild`: what a change makes stale, in build order."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.cli.options import AllowImpliedOption, DialectOption, OutputOption, SchemaOption, VariablesOption
from lineage_pipeline.cli.output import print_note, write_output

if TYPE_CHECKING:
    from lineage_pipeline.cli.local_analysis import ComparisonSide
    from lineage_pipeline.engine.diff.rebuild import RebuildPlan


class RebuildFormat(StrEnum):
    """Format of the list."""

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
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    format: Annotated[
        RebuildFormat, typer.Option("--format", "-f", help="dbt: what `dbt build --select` takes.")
    ] = RebuildFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """List what a change makes stale, those that others need first.

    Edited and new objects, and all whose values or rows come from what changed; not those that only might.
    The base is found as `lineage check` finds it.

    Example: dbt build --select $(lineage rebuild --base origin/main --format dbt)
    """
    from lineage_pipeline.cli.inputs import discover_base_and_head
    from lineage_pipeline.export.answers.change_answers import REBUILD_WRITERS, find_model_name

    flags = ReadingFlags(dialect, schema, allow_implied, var).flags()
    sides = discover_base_and_head(path, (base, head), flags, exact_base=exact_base)
    found = _find_stale(*sides)
    models = frozenset(file.path for file in sides[1][0].files if file.templater == "dbt")
    write_output(REBUILD_WRITERS[format](found, sides[0][0].key, sides[1][0].key, models), output)
    others = [stale.object for stale in found.stale if not find_model_name(stale, models)]
    if format is RebuildFormat.DBT and others:
        print_note(f"lineage: no models, build them in another way: {', '.join(others)}")


def _find_stale(base: "ComparisonSide", head: "ComparisonSide") -> "RebuildPlan":
    from lineage_pipeline.cli.local_analysis import analyze_pair
    from lineage_pipeline.diff_settings import build_policy
    from lineage_pipeline.engine.diff.compare import diff
    from lineage_pipeline.engine.diff.rebuild import plan_rebuild as stale_objects

    before, after = analyze_pair(base, head)
    return stale_objects(before, after, diff(before, after, build_policy(head[1])))
