"""`lineage schema`: the JSON Schema of what we write."""

from typing import Annotated

import typer

from lineage_pipeline.cli.words import Output, put
from lineage_pipeline.vocabulary.errors import LineageError


def schema(
    name: Annotated[str | None, typer.Argument(help="Which document; without a name, all are listed.")] = None,
    output: Output = None,
) -> None:
    """Print the JSON Schema of a document that other commands write, or list the documents.

    Example: lineage schema changes
    """
    from lineage_pipeline.export import SCHEMAS
    from lineage_pipeline.export.json import dump
    from lineage_pipeline.settings import suggestion

    if name is None:
        put("".join(f"{known}: {make()['title']}\n" for known, make in sorted(SCHEMAS.items())), output)
        return
    if name not in SCHEMAS:
        raise LineageError(f"there is no schema {name}; {suggestion(name, SCHEMAS)}")
    put(dump(SCHEMAS[name]()), output)
