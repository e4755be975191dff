"""`lineage show`: one object in full."""

from typing import Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Schemas, Subjects, Table, TableOption, Variables, put


def show(
    object: Annotated[str, typer.Argument(help="A table, view, procedure …: its name, or the end of it.")],
    subject: Subjects = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Show one object: its columns, what feeds them, who makes it and who reads it.

    Example: lineage show mart.daily_sales --in lineage.json
    """
    from lineage_pipeline.cli.places import Reading, lineage_in
    from lineage_pipeline.export.answers import write_answer
    from lineage_pipeline.export.portrait import portrait_answer, portrait_of

    lineage = lineage_in(subject, Reading(dialect, schema, variables=var))
    shown = portrait_of(lineage.facts, lineage.object(object))
    put(write_answer(portrait_answer(shown), format), output)
