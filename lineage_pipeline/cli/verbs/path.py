"""`lineage path`: the paths from one column to another."""

from typing import Annotated

import typer

from lineage_pipeline.cli.options import (
    DialectOption,
    OutputOption,
    SchemaOption,
    SubjectsOption,
    TableFormat,
    TableFormatOption,
    VariablesOption,
)
from lineage_pipeline.cli.output import write_output


def path(
    source: Annotated[str, typer.Argument(help="Where to start: a column, or a table.", metavar="FROM")],
    target: Annotated[str, typer.Argument(help="Where to end: a column, or a table.", metavar="TO")],
    subject: SubjectsOption = None,
    max_paths: Annotated[int, typer.Option("--max-paths", min=1, help="Paths to show at most.")] = 10,
    direct: Annotated[bool, typer.Option("--direct", help="Follow values only, not what decides about them.")] = False,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Show all paths from one column to another, with what happens on each hop.

    Short paths come first; none passes a column twice. Exit 1 where there is no path.

    Example: lineage path raw.orders.amount mart.daily_sales.revenue
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, load_inputs
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.trace_answers import answer_routes

    lineage = load_inputs(subject, ReadingFlags(dialect, schema, variables=var))
    found = lineage.paths(source, target, max_paths=max_paths, direct_only=direct)
    write_output(write_answer(answer_routes(source, target, found), format), output)
    if not found.routes:
        raise typer.Exit(1)
