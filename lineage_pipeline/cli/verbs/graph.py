"""`lineage graph`: build, merge, query and export lineage files."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.groups import make_group
from lineage_pipeline.cli.options import (
    EXPORT_FORMATS,
    AllowImpliedOption,
    BoxLimitOption,
    DialectOption,
    FocusDirectionOption,
    FocusOption,
    OutputOption,
    SchemaOption,
    TableFormat,
    TableFormatOption,
    VariablesOption,
)
from lineage_pipeline.cli.options import FocusDepthOption as AroundOption
from lineage_pipeline.cli.options import GrainOption as DrawnLevel
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.engine.trace.impact import Reached
    from lineage_pipeline.model.analysis import LineageTables as Rows
    from lineage_pipeline.queries.lineage import Lineage

graph = make_group("Build, merge, ask and export lineage files.")

LineageFileOption = Annotated[
    Path, typer.Option("--output", "-o", help="The lineage file to write: .lineage or .json.")
]
StoredArgument = Annotated[Path, typer.Argument(help="A lineage file, or a warehouse.", metavar="GRAPH")]


class QueryLevel(StrEnum):
    """What an answer lists."""

    COLUMN = "column"
    TABLE = "table"


PathsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Folders, SQL files, or REPO@REV; this folder if none.", metavar="PATH|REPO@REV..."),
]
ManifestOption = Annotated[
    Path | None, typer.Option("--manifest", "-m", help="A CSV file whose column file_path lists the files.")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit 1 where something could not be done.")]
NoStarFlag = Annotated[bool, typer.Option("--no-star", help="Exit 1 where the columns of a star are not known.")]
DumpSchemaOption = Annotated[
    Path | None, typer.Option("--dump-schema", help="Write the columns that were worked out: .json, .csv or .txt.")
]
UpstreamOption = Annotated[
    str | None, typer.Option("--upstream", "-u", help="What feeds these: A,B …", metavar="NAMES")
]
DownstreamOption = Annotated[
    str | None, typer.Option("--downstream", "-d", help="What these feed: A,B …", metavar="NAMES")
]
QueryLevelOption = Annotated[QueryLevel, typer.Option("--level", "-l", help="List columns, or whole tables.")]
QueryDepthOption = Annotated[int | None, typer.Option("--depth", min=0, help="Hops to go at most.")]


@graph.command()
def build(
    output: LineageFileOption,
    paths: PathsArgument = None,
    manifest: ManifestOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    strict: StrictOption = False,
    no_star: NoStarFlag = False,
    dump_schema: DumpSchemaOption = None,
) -> None:
    """Write the lineage of SQL files into a lineage file.

    Example: lineage graph build models -o models.lineage --dialect spark
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, analyze_inputs, discover_inputs, read_file_list
    from lineage_pipeline.cli.lineage_files import write_analysis_file
    from lineage_pipeline.cli.local_analysis import find_unknown_stars, is_incomplete

    places = [*(paths or ()), *(read_file_list(manifest) if manifest else ())] or ["."]
    found = discover_inputs(places, ReadingFlags(dialect, schema, allow_implied, var))
    subject = analyze_inputs(found, reach=True)
    write_analysis_file(output, found, subject)
    rows = subject.lineage
    print_note(f"lineage: {len(rows.objects)} objects, {len(rows.column_edges)} column edges in {output}")
    if dump_schema is not None:
        _write_schema_dump(dump_schema, rows)
    if (strict and is_incomplete(rows)) or (no_star and find_unknown_stars(rows)):
        raise typer.Exit(1)


def _write_schema_dump(path: Path, rows: "Rows") -> None:
    """Write the inferred columns of tables."""
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.list_answers import answer_schemas

    format = {".json": "json", ".csv": "csv"}.get(path.suffix, "text")
    write_output(write_answer(answer_schemas(rows.objects, rows.columns), format), path)


@graph.command()
def merge(
    inputs: Annotated[list[Path], typer.Argument(help="Lineage files and warehouses.", metavar="GRAPH...")],
    output: LineageFileOption,
) -> None:
    """Make one lineage file of several.

    What one of them defines, the others may read. Where files of one path differ, those of later graphs get a number.

    Example: lineage graph merge shop.lineage finance.json -o all.lineage
    """
    from lineage_pipeline.cli.lineage_files import write_merged_file

    first, *others = [_load_graph(path) for path in inputs]
    merged = first.merge(*others)
    write_merged_file(output, "merged@graph", merged.rows, merged.facts.files())
    print_note(f"lineage: {len(merged.rows.objects)} objects, {len(merged.rows.column_edges)} column edges in {output}")


@graph.command()
def query(
    stored: StoredArgument,
    upstream: UpstreamOption = None,
    downstream: DownstreamOption = None,
    level: QueryLevelOption = QueryLevel.COLUMN,
    depth: QueryDepthOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Ask a lineage file what feeds columns or tables, and what they feed.

    `lineage impact` and `lineage path` ask in more ways; --in GRAPH makes them ask a file.

    Example: lineage graph query all.lineage --upstream mart.daily_sales.revenue
    """
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.trace_answers import answer_impact

    if not upstream and not downstream:
        raise LineageError("say what to ask: --upstream A,B or --downstream A,B")
    lineage = _load_graph(stored)
    starts: list[str] = []
    found: list[Reached] = []
    for names, side in ((upstream, "up"), (downstream, "down")):
        for name in (names or "").split(","):
            if name.strip():
                begun, reached = _query_side(lineage, name.strip(), level, side, depth)
                starts += begun
                found += reached
    asked = ", ".join(names for names in (upstream, downstream) if names)
    kept = sorted(set(found), key=lambda row: (row.direction, row.hops, row.object, row.column or "", str(row.via)))
    write_output(write_answer(answer_impact(asked, level, list(dict.fromkeys(starts)), kept), format), output)


def _query_side(
    lineage: "Lineage", name: str, level: QueryLevel, side: str, depth: int | None
) -> "tuple[list[str], tuple[Reached, ...]]":
    from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH, parse_selector

    far = UNLIMITED_DEPTH if depth is None else depth
    up, down = (far, None) if side == "up" else (None, far)
    meant = parse_selector(name)
    if level is QueryLevel.TABLE:
        return list(lineage.select_objects(meant)), lineage.table_impact(meant, up=up, down=down)
    starts = [f"{ref.object}.{ref.column}" for ref in lineage.select(meant).columns]
    return starts, lineage.impact(meant, up=up, down=down)


@graph.command()
def export(
    stored: StoredArgument,
    format: Annotated[str, typer.Option("--format", "-f", help=f"How to write it: {', '.join(EXPORT_FORMATS)}.")],
    output: OutputOption = None,
    level: DrawnLevel = None,
    focus: FocusOption = None,
    depth: AroundOption = None,
    direction: FocusDirectionOption = None,
    limit: BoxLimitOption = None,
) -> None:
    """Write a lineage file for other tools; `lineage export` does the same and has more flags for events.

    Example: lineage graph export all.lineage --format mermaid --focus orders
    """
    from lineage_pipeline.cli import lineage_export

    source = lineage_export.ExportSource(str(stored), {}, focus, depth, direction)
    lineage_export.write_export(format, source, output, {"level": level, "limit": limit})


def _load_graph(path: Path) -> "Lineage":
    from lineage_pipeline.queries.lineage import Lineage

    return Lineage.load(path)
