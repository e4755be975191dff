"""`lineage render`: the SQL that a template stands for."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Variables, put, say, variables


def render(
    file: Annotated[str, typer.Argument(help="A template; - is standard input.", metavar="FILE")],
    dialect: Dialect = None,
    templater: Annotated[
        str | None, typer.Option("--templater", "-t", help="Render with this templater.", metavar="NAME")
    ] = None,
    var: Variables = None,
    output: Output = None,
) -> None:
    """Print the SQL that a template stands for, as the analysis sees it.

    Example: lineage render models/orders.sql --var schema=raw
    """
    from lineage_pipeline.cli.given import Given
    from lineage_pipeline.discover.files import STDIN, discover_files
    from lineage_pipeline.settings import load_settings

    start = Path.cwd() if file == STDIN else Path(file).resolve().parent
    rendering = {"templater": templater, "variables": variables(var)}
    settings = load_settings(start, {"analysis": {"dialect": dialect}, "templating": rendering}, os.environ)
    found = discover_files([file], sys.stdin.buffer.read() if file == STDIN else b"", Given(settings, start))
    for row in found.diagnostics:
        say(f"{row.path}:{row.line or 1}:{row.column or 1}: {row.code} {row.message}")
    texts = {source.source_hash: source.rendered for source in found.sources}
    text = next(texts[row.source_hash] for row in found.files if row.path == file)
    put(_shown(text) if output is None and sys.stdout.isatty() else text, output)


def _shown(text: str) -> str:
    """Give a text for a terminal, which nothing in it steers."""
    from lineage_pipeline.export.escaping import lines

    return lines(text, "\n\t")
