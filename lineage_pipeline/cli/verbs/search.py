"""`lineage search`: objects and columns whose names contain or resemble a text."""

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
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError


def search(
    text: Annotated[str, typer.Argument(help="A name, a part of it, or something like it.", metavar="TEXT")],
    subject: SubjectsOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Hits to show at most.")] = 50,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Find objects and columns by name; exit 1 where there is none.

    Example: lineage search custmer_id
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, load_inputs
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.trace_answers import answer_search

    if not text.strip():
        raise LineageError("say what to look for: a name, or a part of one")
    found = load_inputs(subject, ReadingFlags(dialect, schema, variables=var)).search(text, limit)
    write_output(write_answer(answer_search(text, found), format), output)
    if not found:
        print_note(f"lineage: no object and no column is called anything like {text}")
        raise typer.Exit(1)
