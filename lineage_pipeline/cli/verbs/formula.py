"""`lineage formula`: the end-to-end expression of a column."""

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


def formula(
    column: Annotated[str, typer.Argument(help="A column, or a pattern such as 's.t.*'.", metavar="COLUMN")],
    subject: SubjectsOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Show how a column is computed, from end to end down to its sources.

    For each statement that writes the column: whether its value is passed through, renamed or transformed, and the
    expression with all definitions on the way written into it. Alternatives stand in {a | b}.

    Example: lineage formula mart.daily_sales.revenue
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, load_inputs
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.trace_answers import answer_formulas

    found = load_inputs(subject, ReadingFlags(dialect, schema, variables=var)).formula(column)
    write_output(write_answer(answer_formulas(column, found), format), output)
