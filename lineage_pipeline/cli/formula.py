"""`lineage formula`: the expression of a column from end to end."""

from typing import Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Schemas, Subjects, Table, TableOption, Variables, put


def formula(
    column: Annotated[str, typer.Argument(help="A column, or a pattern such as 's.t.*'.", metavar="COLUMN")],
    subject: Subjects = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Show how a column is computed, from end to end down to its sources.

    For each statement that writes the column: whether its value is passed through, renamed or transformed, and the
    expression with all definitions on the way written into it. Alternatives stand in {a | b}.

    Example: lineage formula mart.daily_sales.revenue
    """
    from lineage_pipeline.cli.places import Reading, lineage_in
    from lineage_pipeline.export.answers import formulas_answer, write_answer

    found = lineage_in(subject, Reading(dialect, schema, variables=var)).formula(column)
    put(write_answer(formulas_answer(column, found), format), output)
