"""`lineage analyze`: the lineage of some files, or of standard input."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.given import Given, with_schemas
from lineage_pipeline.cli.words import AllowImplied, Dialect, Format, FormatOption, Output, Schemas, put


class GraphOf(StrEnum):
    """What a graph is drawn of."""

    STATEMENT = "statement"
    GLOBAL = "global"


STRICT = (
    "Exit 1 where something could not be done: a statement failed or is partial, a finding is an error, "
    "or a dialect, a syntax or dynamic SQL could not be read."
)


def analyze(
    files: Annotated[list[str], typer.Argument(help="SQL files; - is standard input.", metavar="FILE...")],
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    format: FormatOption = Format.TEXT,
    graph: Annotated[
        GraphOf | None, typer.Option("--graph", help="Print graphs as JSON: of each statement, or of all together.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help=STRICT)] = False,
    output: Output = None,
) -> None:
    """Show what the statements of some files read and write.

    Example: lineage analyze orders.sql --dialect snowflake --format json
    """
    from lineage_pipeline.cli.subject import graphs_of, leaves_undone, subject_of
    from lineage_pipeline.discover.files import STDIN, discover_files
    from lineage_pipeline.export import EXPORTERS
    from lineage_pipeline.export.json import dump, global_document, graph_documents
    from lineage_pipeline.settings import load_settings

    named = [Path(file).resolve() for file in files if file != STDIN]
    start = Path(os.path.commonpath([file.parent for file in named])) if named else Path.cwd()
    flags = {"dialect": dialect, "allow_implied": allow_implied}
    settings = load_settings(start, {"analysis": flags}, os.environ)
    rules, imports = with_schemas(schema or (), files[0], Given(settings, start))
    discovery = discover_files(files, sys.stdin.buffer.read() if STDIN in files else b"", rules)
    if graph is None:
        subject = subject_of(discovery, rules, settings, imports)
        lineage, written = subject.lineage, "".join(EXPORTERS[format].write(subject))
    else:
        lineage, graphs = graphs_of(discovery, rules, imports)
        one = graph is GraphOf.GLOBAL
        written = dump(global_document(graphs.whole()) if one else graph_documents(graphs.statements()))
    put(written, output)
    if strict and leaves_undone(lineage):
        raise typer.Exit(1)
