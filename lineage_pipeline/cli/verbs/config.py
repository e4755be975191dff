"""`lineage config`: the effective settings, and where each value comes from."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.groups import make_group
from lineage_pipeline.cli.options import OutputOption, TableFormat, TableFormatOption
from lineage_pipeline.cli.output import write_output

config = make_group("Show the settings in force.")


@config.callback()
def _config() -> None:
    """Show the settings in force."""


@config.command()
def show(
    path: Annotated[Path, typer.Argument(help="The folder or file that would be analyzed.", metavar="PATH")] = Path(),
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not a default.")] = False,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Show every setting with its value and where it comes from.

    Flags beat the environment, the environment beats the file, the file beats the defaults.

    Example: lineage config show warehouse --changed
    """
    from lineage_pipeline.config.load import list_setting_origins
    from lineage_pipeline.export.answers.answer import Answer, write_answer

    settings, found = list_setting_origins(path, os.environ)
    kept = [one for one in found if one.origin != "default" or not changed]
    rows = [one._asdict() for one in kept]
    lines = [f"{one.key} = {_format_value(one.value)}  ({one.origin})" for one in kept]
    file = str(settings.file) if settings.file else None
    answer = Answer(lambda: {"file": file, "settings": rows}, lambda: rows, lambda: lines)
    write_output(write_answer(answer, format), output)


def _format_value(value: object) -> str:
    """Format a value as in TOML."""
    import json

    return json.dumps(value, ensure_ascii=False)
