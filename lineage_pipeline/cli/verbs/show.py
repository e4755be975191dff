"""`lineage show`: one object in full."""

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


def show(
    object: Annotated[str, typer.Argument(help="A table, view, procedure …: its name, or the end of it.")],
    subject: SubjectsOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Show one object: its columns, what feeds them, who makes it and who reads it.

    Example: lineage show mart.daily_sales --in lineage.json
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, load_inputs
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.object_portrait import answer_portrait, build_portrait

    lineage = load_inputs(subject, ReadingFlags(dialect, schema, variables=var))
    shown = build_portrait(lineage.facts, lineage.object(object))
    write_output(write_answer(answer_portrait(shown), format), output)
