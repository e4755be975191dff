"""`lineage schema`: the JSON Schemas of our documents."""

from typing import Annotated

import typer

from lineage_pipeline.cli.options import OutputOption
from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.errors import LineageError


def schema(
    name: Annotated[str | None, typer.Argument(help="Which document; without a name, all are listed.")] = None,
    output: OutputOption = None,
) -> None:
    """Print the JSON Schema of a document that other commands write, or list the documents.

    Example: lineage schema changes
    """
    from lineage_pipeline.config.toml_files import suggest_word
    from lineage_pipeline.export import SCHEMAS
    from lineage_pipeline.export.documents.lineage_json import dump_json

    if name is None:
        write_output("".join(f"{known}: {make()['title']}\n" for known, make in sorted(SCHEMAS.items())), output)
        return
    if name not in SCHEMAS:
        raise LineageError(f"there is no schema {name}; {suggest_word(name, SCHEMAS)}")
    write_output(dump_json(SCHEMAS[name]()), output)
