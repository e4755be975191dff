"""`lineage config`: the settings in force, and where each value comes from."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.groups import group
from lineage_pipeline.cli.words import Output, Table, TableOption, put

config = group("Show the settings in force.")


@config.callback()
def _config() -> None:
    """Show the settings in force."""


@config.command()
def show(
    path: Annotated[Path, typer.Argument(help="The folder or file that would be analysed.", metavar="PATH")] = Path(),
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not a default.")] = False,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Show every setting with its value and where it comes from.

    Flags beat the environment, the environment beats the file, the file beats the defaults.

    Example: lineage config show warehouse --changed
    """
    from lineage_pipeline.export.answers import Answer, write_answer
    from lineage_pipeline.settings.origins import settings_with_origins

    settings, found = settings_with_origins(path, os.environ)
    kept = [one for one in found if one.origin != "default" or not changed]
    rows = [one._asdict() for one in kept]
    lines = [f"{one.key} = {_shown(one.value)}  ({one.origin})" for one in kept]
    file = str(settings.file) if settings.file else None
    answer = Answer(lambda: {"file": file, "settings": rows}, lambda: rows, lambda: lines)
    put(write_answer(answer, format), output)


def _shown(value: object) -> str:
    """Write a value as TOML would."""
    import json

    return json.dumps(value, ensure_ascii=False)
