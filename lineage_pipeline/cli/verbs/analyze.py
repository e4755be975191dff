"""`lineage analyze`: the lineage of some files, or of standard input."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.options import (
    AllowImpliedOption,
    DialectOption,
    ExpandOption,
    OutputOption,
    SchemaOption,
    TableFormat,
    TableFormatOption,
    VariablesOption,
)
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineage_pipeline.cli.inputs import DiscoveredInputs
    from lineage_pipeline.cli.statement_flows import FlowQuery
    from lineage_pipeline.model.analysis import LineageTables


class GraphScope(StrEnum):
    """What a graph covers."""

    STATEMENT = "statement"
    GLOBAL = "global"


class FlowLevel(StrEnum):
    """What flows are listed between."""

    COLUMN = "column"
    TABLE = "table"


STRICT_HELP = (
    "Exit 1 where something could not be done: a statement failed or is partial, a finding is an error, "
    "or a dialect, a syntax or dynamic SQL could not be read."
)
FilesArgument = Annotated[list[str], typer.Argument(help="SQL files; - is standard input.", metavar="FILE...")]
GraphOption = Annotated[
    GraphScope | None, typer.Option("--graph", help="Print graphs as JSON: of each statement, or of all together.")
]
FlowLevelOption = Annotated[
    FlowLevel | None,
    typer.Option("--level", "-l", help="List what flows from column to column, or from table to table."),
]
ColumnOption = Annotated[
    str | None, typer.Option("--column", "-c", help="List the sources of this output column.", metavar="COLUMN")
]
SourceColumnOption = Annotated[
    str | None,
    typer.Option("--source-column", "-s", help="List the outputs that this column feeds.", metavar="COLUMN"),
]
SourceTableOption = Annotated[
    str | None, typer.Option("--source-table", help="List the outputs that this table feeds.", metavar="TABLE")
]
TableFilterOption = Annotated[
    str | None, typer.Option("--table", help="Only the statements that read or write this table.", metavar="TABLE")
]
NoStarOption = Annotated[bool, typer.Option("--no-star", help="Exit 1 where the columns of a star are not known.")]


def analyze(
    files: FilesArgument,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    level: FlowLevelOption = None,
    column: ColumnOption = None,
    source_column: SourceColumnOption = None,
    source_table: SourceTableOption = None,
    table: TableFilterOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    graph: GraphOption = None,
    strict: Annotated[bool, typer.Option("--strict", help=STRICT_HELP)] = False,
    no_star: NoStarOption = False,
    expand: ExpandOption = False,
    output: OutputOption = None,
) -> None:
    """Show what the statements of some files read and write.

    Example: lineage analyze orders.sql --dialect snowflake --format json

    Example: lineage analyze orders.sql --source-column raw.orders.amount -f csv
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, discover_inputs
    from lineage_pipeline.cli.statement_flows import FlowQuery

    if sum(one is not None for one in (column, source_column, source_table)) > 1:
        raise LineageError("--column, --source-column and --source-table are different questions: ask one at a time")
    found = discover_inputs(files, ReadingFlags(dialect, schema, allow_implied, var))
    asked = FlowQuery(
        tables=level == FlowLevel.TABLE,
        column=column,
        source_column=source_column,
        source_table=source_table,
        table=table,
        expand=expand,
    )
    listed = level is not None or asked.narrows or format is TableFormat.CSV
    if expand and (graph is not None or not (listed or format is TableFormat.JSON)):
        raise LineageError("--expand is about lists of edges: use it with --level column or --format json")
    lineage, written = _write_graphs(found, graph) if graph else _write_lineage(found, format, asked, listed)
    write_output(written, output)
    _exit_on_problems(lineage, strict, no_star)


def _write_lineage(
    found: "DiscoveredInputs", format: TableFormat, asked: "FlowQuery", listed: bool
) -> "tuple[LineageTables, str | Iterable[str]]":
    """Return the whole lineage, or the flows within its statements."""
    from lineage_pipeline.cli.inputs import analyze_inputs
    from lineage_pipeline.cli.statement_flows import write_flows
    from lineage_pipeline.export.formats.lineage_formats import write_text_parts

    subject = analyze_inputs(found)
    if listed:
        return subject.lineage, write_flows(subject, asked, format)
    return subject.lineage, write_text_parts(format, subject, expand=asked.expand)


def _write_graphs(found: "DiscoveredInputs", graph: GraphScope) -> "tuple[LineageTables, str]":
    from lineage_pipeline.cli.local_analysis import analyze_graphs
    from lineage_pipeline.export.documents.lineage_json import build_graph_document, build_graphs_document, dump_json

    lineage, graphs = analyze_graphs(found.discovery, found.rules, found.imports)
    if graph is GraphScope.GLOBAL:
        return lineage, dump_json(build_graph_document(graphs.whole()))
    return lineage, dump_json(build_graphs_document(graphs.statements()))


def _exit_on_problems(lineage: "LineageTables", strict: bool, no_star: bool) -> None:
    """Exit 1 where --strict or --no-star is violated."""
    from lineage_pipeline.cli.local_analysis import find_unknown_stars, is_incomplete
    from lineage_pipeline.export.formats.lineage_text import format_diagnostic

    stars = find_unknown_stars(lineage) if no_star else []
    for finding in stars:
        print_note(format_diagnostic(finding))
    if stars or (strict and is_incomplete(lineage)):
        raise typer.Exit(1)
