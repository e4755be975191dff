"""`lineage analyze`: the lineage of some files, or of standard input."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, Table, TableOption, Variables, put, say
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineage_pipeline.cli.flows import Asked
    from lineage_pipeline.cli.places import Found
    from lineage_pipeline.vocabulary.analysis import Lineage


class GraphOf(StrEnum):
    """What a graph is drawn of."""

    STATEMENT = "statement"
    GLOBAL = "global"


class Level(StrEnum):
    """What flows are listed between."""

    COLUMN = "column"
    TABLE = "table"


STRICT = (
    "Exit 1 where something could not be done: a statement failed or is partial, a finding is an error, "
    "or a dialect, a syntax or dynamic SQL could not be read."
)
Files = Annotated[list[str], typer.Argument(help="SQL files; - is standard input.", metavar="FILE...")]
GraphOption = Annotated[
    GraphOf | None, typer.Option("--graph", help="Print graphs as JSON: of each statement, or of all together.")
]
LevelOption = Annotated[
    Level | None, typer.Option("--level", "-l", help="List what flows from column to column, or from table to table.")
]
Column = Annotated[
    str | None, typer.Option("--column", "-c", help="List the sources of this output column.", metavar="COLUMN")
]
SourceColumn = Annotated[
    str | None,
    typer.Option("--source-column", "-s", help="List the outputs that this column feeds.", metavar="COLUMN"),
]
SourceTable = Annotated[
    str | None, typer.Option("--source-table", help="List the outputs that this table feeds.", metavar="TABLE")
]
TableFilter = Annotated[
    str | None, typer.Option("--table", help="Only the statements that read or write this table.", metavar="TABLE")
]
NoStar = Annotated[bool, typer.Option("--no-star", help="Exit 1 where the columns of a star are not known.")]


def analyze(
    files: Files,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    level: LevelOption = None,
    column: Column = None,
    source_column: SourceColumn = None,
    source_table: SourceTable = None,
    table: TableFilter = None,
    format: TableOption = Table.TEXT,
    graph: GraphOption = None,
    strict: Annotated[bool, typer.Option("--strict", help=STRICT)] = False,
    no_star: NoStar = False,
    output: Output = None,
) -> None:
    """Show what the statements of some files read and write.

    Example: lineage analyze orders.sql --dialect snowflake --format json

    Example: lineage analyze orders.sql --source-column raw.orders.amount -f csv
    """
    from lineage_pipeline.cli.flows import Asked
    from lineage_pipeline.cli.places import Reading, find

    if sum(one is not None for one in (column, source_column, source_table)) > 1:
        raise LineageError("--column, --source-column and --source-table are different questions: ask one at a time")
    found = find(files, Reading(dialect, schema, allow_implied, var))
    asked = Asked(level == Level.TABLE, column, source_column, source_table, table)
    listed = level is not None or asked.narrows or format is Table.CSV
    lineage, written = _graphs(found, graph) if graph else _written(found, format, asked if listed else None)
    put(written, output)
    _judge(lineage, strict, no_star)


def _written(found: "Found", format: Table, asked: "Asked | None") -> "tuple[Lineage, str | Iterable[str]]":
    """Give the whole lineage, or what flows within its statements."""
    from lineage_pipeline.cli.flows import flows_text
    from lineage_pipeline.cli.places import analysed
    from lineage_pipeline.export import EXPORTERS

    subject = analysed(found)
    if asked is not None:
        return subject.lineage, flows_text(subject, asked, format)
    return subject.lineage, EXPORTERS[format].write(subject)


def _graphs(found: "Found", graph: GraphOf) -> "tuple[Lineage, str]":
    from lineage_pipeline.cli.subject import graphs_of
    from lineage_pipeline.export.json import dump, global_document, graph_documents

    lineage, graphs = graphs_of(found.discovery, found.rules, found.imports)
    if graph is GraphOf.GLOBAL:
        return lineage, dump(global_document(graphs.whole()))
    return lineage, dump(graph_documents(graphs.statements()))


def _judge(lineage: "Lineage", strict: bool, no_star: bool) -> None:
    """Exit 1 where something is not as the flags demand."""
    from lineage_pipeline.cli.subject import leaves_undone, unknown_stars
    from lineage_pipeline.export.text import diagnostic_line

    stars = unknown_stars(lineage) if no_star else []
    for finding in stars:
        say(diagnostic_line(finding))
    if stars or (strict and leaves_undone(lineage)):
        raise typer.Exit(1)
