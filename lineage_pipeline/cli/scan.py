"""`lineage scan`: the lineage of a whole folder, in this process."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.words import AllowImplied, Dialect, Format, FormatOption, Output, Schemas, placed, put, say


def scan(
    path: Annotated[Path, typer.Argument(help="A folder with SQL files.", metavar="PATH")] = Path(),
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    format: FormatOption = Format.TEXT,
    output: Output = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile every file anew.")] = False,
) -> None:
    """Show the lineage of all SQL files below a folder.

    Example: lineage scan warehouse --dialect tsql --format json -o lineage.json
    """
    from lineage_pipeline.cli.subject import subject_of
    from lineage_pipeline.discover.folder import discover_folder
    from lineage_pipeline.export import EXPORTERS
    from lineage_pipeline.settings import load_settings

    flags = {"dialect": dialect, "allow_implied": allow_implied, "schemas": placed(schema)}
    settings = load_settings(path, {"analysis": flags}, os.environ)
    discovery = discover_folder(path, settings)
    if not discovery.files:
        say(f"lineage: no file below {path} fits {', '.join(settings.include)}")
    put("".join(EXPORTERS[format].write(subject_of(discovery, settings, settings))), output)
