"""`lineage graph`: lineage files, built, merged, asked and written for others."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.export import NAMES, DirectionOption, FocusOption, LimitOption
from lineage_pipeline.cli.export import DepthOption as AroundOption
from lineage_pipeline.cli.export import LevelOption as DrawnLevel
from lineage_pipeline.cli.groups import group
from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, Table, TableOption, Variables, put, say
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.engine.trace.impact import Reached
    from lineage_pipeline.questions.lineage import Lineage
    from lineage_pipeline.vocabulary.analysis import Lineage as Rows

graph = group("Build, merge, ask and export lineage files.")

Into = Annotated[Path, typer.Option("--output", "-o", help="The lineage file to write: .lineage or .json.")]
Stored = Annotated[Path, typer.Argument(help="A lineage file, or a warehouse.", metavar="GRAPH")]


class Level(StrEnum):
    """What an answer lists."""

    COLUMN = "column"
    TABLE = "table"


PathsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Folders, SQL files, or REPO@REV; this folder if none.", metavar="PATH|REPO@REV..."),
]
Manifest = Annotated[
    Path | None, typer.Option("--manifest", "-m", help="A CSV file whose column file_path lists the files.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 where something could not be done.")]
NoStar = Annotated[bool, typer.Option("--no-star", help="Exit 1 where the columns of a star are not known.")]
DumpSchema = Annotated[
    Path | None, typer.Option("--dump-schema", help="Write the columns that were worked out: .json, .csv or .txt.")
]
Names = Annotated[str | None, typer.Option("--upstream", "-u", help="What feeds these: A,B …", metavar="NAMES")]
OtherNames = Annotated[str | None, typer.Option("--downstream", "-d", help="What these feed: A,B …", metavar="NAMES")]
LevelOption = Annotated[Level, typer.Option("--level", "-l", help="List columns, or whole tables.")]
Depth = Annotated[int | None, typer.Option("--depth", min=0, help="Hops to go at most.")]


@graph.command()
def build(
    output: Into,
    paths: PathsArgument = None,
    manifest: Manifest = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    strict: Strict = False,
    no_star: NoStar = False,
    dump_schema: DumpSchema = None,
) -> None:
    """Write the lineage of SQL files into a lineage file.

    Example: lineage graph build models -o models.lineage --dialect spark
    """
    from lineage_pipeline.cli.files import listed_in, write_lineage
    from lineage_pipeline.cli.places import Reading, analysed, find
    from lineage_pipeline.cli.subject import leaves_undone, unknown_stars

    places = [*(paths or ()), *(listed_in(manifest) if manifest else ())] or ["."]
    found = find(places, Reading(dialect, schema, allow_implied, var))
    subject = analysed(found, reach=True)
    write_lineage(output, found, subject)
    rows = subject.lineage
    say(f"lineage: {len(rows.objects)} objects, {len(rows.column_edges)} column edges in {output}")
    if dump_schema is not None:
        _dump(dump_schema, rows)
    if (strict and leaves_undone(rows)) or (no_star and unknown_stars(rows)):
        raise typer.Exit(1)


def _dump(path: Path, rows: "Rows") -> None:
    """Write the columns that were worked out."""
    from lineage_pipeline.export.answers import write_answer
    from lineage_pipeline.export.lists import schemas_answer

    format = {".json": "json", ".csv": "csv"}.get(path.suffix, "text")
    put(write_answer(schemas_answer(rows.objects, rows.columns), format), path)


@graph.command()
def merge(
    inputs: Annotated[list[Path], typer.Argument(help="Lineage files and warehouses.", metavar="GRAPH...")],
    output: Into,
) -> None:
    """Make one lineage file of several.

    What one of them defines, the others may read. Where files of one path differ, those of later graphs get a number.

    Example: lineage graph merge shop.lineage finance.json -o all.lineage
    """
    from lineage_pipeline.cli.files import write_rows

    first, *others = [_load(path) for path in inputs]
    merged = first.merge(*others)
    write_rows(output, "merged@graph", merged.rows, merged.facts.files())
    say(f"lineage: {len(merged.rows.objects)} objects, {len(merged.rows.column_edges)} column edges in {output}")


@graph.command()
def query(
    stored: Stored,
    upstream: Names = None,
    downstream: OtherNames = None,
    level: LevelOption = Level.COLUMN,
    depth: Depth = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Ask a lineage file what feeds columns or tables, and what they feed.

    `lineage impact` and `lineage path` ask in more ways; --in GRAPH makes them ask a file.

    Example: lineage graph query all.lineage --upstream mart.daily_sales.revenue
    """
    from lineage_pipeline.export.answers import impact_answer, write_answer

    if not upstream and not downstream:
        raise LineageError("say what to ask: --upstream A,B or --downstream A,B")
    lineage = _load(stored)
    starts: list[str] = []
    found: list[Reached] = []
    for names, side in ((upstream, "up"), (downstream, "down")):
        for name in (names or "").split(","):
            if name.strip():
                begun, reached = _ask(lineage, name.strip(), level, side, depth)
                starts += begun
                found += reached
    asked = ", ".join(names for names in (upstream, downstream) if names)
    kept = sorted(set(found), key=lambda row: (row.direction, row.hops, row.object, row.column or "", str(row.via)))
    put(write_answer(impact_answer(asked, level, list(dict.fromkeys(starts)), kept), format), output)


def _ask(
    lineage: "Lineage", name: str, level: Level, side: str, depth: int | None
) -> "tuple[list[str], tuple[Reached, ...]]":
    from lineage_pipeline.engine.trace.selectors import FAR, parse_selector

    far = FAR if depth is None else depth
    up, down = (far, None) if side == "up" else (None, far)
    meant = parse_selector(name)
    if level is Level.TABLE:
        return list(lineage.select_objects(meant)), lineage.table_impact(meant, up=up, down=down)
    starts = [f"{ref.object}.{ref.column}" for ref in lineage.select(meant).columns]
    return starts, lineage.impact(meant, up=up, down=down)


@graph.command()
def export(
    stored: Stored,
    format: Annotated[str, typer.Option("--format", "-f", help=f"How to write it: {', '.join(NAMES)}.")],
    output: Output = None,
    level: DrawnLevel = None,
    focus: FocusOption = None,
    depth: AroundOption = None,
    direction: DirectionOption = None,
    limit: LimitOption = None,
) -> None:
    """Write a lineage file for other tools; `lineage export` does the same and has more flags for events.

    Example: lineage graph export all.lineage --format mermaid --focus orders
    """
    from lineage_pipeline.cli import exporting

    source = exporting.Source(str(stored), {}, focus, depth, direction)
    exporting.export(format, source, output, {"level": level, "limit": limit})


def _load(path: Path) -> "Lineage":
    from lineage_pipeline.questions.lineage import Lineage

    return Lineage.load(path)
