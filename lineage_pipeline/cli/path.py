"""`lineage path`: the ways from one column to another."""

from typing import Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Schemas, Subjects, Table, TableOption, Variables, put


def path(
    source: Annotated[str, typer.Argument(help="Where to start: a column, or a table.", metavar="FROM")],
    target: Annotated[str, typer.Argument(help="Where to end: a column, or a table.", metavar="TO")],
    subject: Subjects = None,
    max_paths: Annotated[int, typer.Option("--max-paths", min=1, help="Paths to show at most.")] = 10,
    direct: Annotated[bool, typer.Option("--direct", help="Follow values only, not what decides about them.")] = False,
    dialect: Dialect = None,
    schema: Schemas = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Show all paths from one column to another, with what happens on each hop.

    Short paths come first; none passes a column twice. Exit 1 where there is no path.

    Example: lineage path raw.orders.amount mart.daily_sales.revenue
    """
    from lineage_pipeline.cli.places import Reading, lineage_in
    from lineage_pipeline.export.answers import routes_answer, write_answer

    lineage = lineage_in(subject, Reading(dialect, schema, variables=var))
    found = lineage.paths(source, target, max_paths=max_paths, direct_only=direct)
    put(write_answer(routes_answer(source, target, found), format), output)
    if not found.routes:
        raise typer.Exit(1)
