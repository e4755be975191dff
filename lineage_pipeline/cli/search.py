"""`lineage search`: objects and columns by a part of their names, or by something like it."""

from typing import Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Schemas, Subjects, Table, TableOption, Variables, put, say
from lineage_pipeline.vocabulary.errors import LineageError


def search(
    text: Annotated[str, typer.Argument(help="A name, a part of it, or something like it.", metavar="TEXT")],
    subject: Subjects = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Hits to show at most.")] = 50,
    dialect: Dialect = None,
    schema: Schemas = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Find objects and columns by name; exit 1 where there is none.

    Example: lineage search custmer_id
    """
    from lineage_pipeline.cli.places import Reading, lineage_in
    from lineage_pipeline.export.answers import hits_answer, write_answer

    if not text.strip():
        raise LineageError("say what to look for: a name, or a part of one")
    found = lineage_in(subject, Reading(dialect, schema, variables=var)).search(text, limit)
    put(write_answer(hits_answer(text, found), format), output)
    if not found:
        say(f"lineage: no object and no column is called anything like {text}")
        raise typer.Exit(1)
