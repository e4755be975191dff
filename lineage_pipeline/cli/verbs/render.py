"""`lineage render`: the rendered SQL of a template."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.options import DialectOption, OutputOption, VariablesOption, parse_variables
from lineage_pipeline.cli.output import print_note, write_output


def render(
    file: Annotated[str, typer.Argument(help="A template; - is standard input.", metavar="FILE")],
    dialect: DialectOption = None,
    templater: Annotated[
        str | None, typer.Option("--templater", "-t", help="Render with this templater.", metavar="NAME")
    ] = None,
    var: VariablesOption = None,
    output: OutputOption = None,
) -> None:
    """Print the SQL that a template stands for, as the analysis sees it.

    Example: lineage render models/orders.sql --var schema=raw
    """
    from lineage_pipeline.cli.inputs import NamedFileRules
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.discover.folder import STDIN, discover_single_files

    start = Path.cwd() if file == STDIN else Path(file).resolve().parent
    rendering = {"templater": templater, "variables": parse_variables(var)}
    settings = load_settings(start, {"analysis": {"dialect": dialect}, "templating": rendering}, os.environ)
    stdin = sys.stdin.buffer.read() if file == STDIN else b""
    key = compute_analysis_key(settings)
    found = discover_single_files([file], stdin, NamedFileRules(settings, start), analysis_key=key)
    for row in found.diagnostics:
        print_note(f"{row.path}:{row.line or 1}:{row.column or 1}: {row.code} {row.message}")
    texts = {source.source_hash: source.rendered for source in found.sources}
    text = next(texts[row.source_hash] for row in found.files if row.path == file)
    write_output(_escape_for_terminal(text) if output is None and sys.stdout.isatty() else text, output)


def _escape_for_terminal(text: str) -> str:
    """Escape control characters of a text for a terminal."""
    from lineage_pipeline.export.escaping import escape_hidden_lines

    return escape_hidden_lines(text, "\n\t")
