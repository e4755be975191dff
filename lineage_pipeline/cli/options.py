"""Options and arguments that several commands share, and how their values are parsed."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.model.enums import Grain
from lineage_pipeline.model.errors import LineageError

DialectOption = Annotated[str | None, typer.Option("--dialect", "-d", help="Read the SQL as this dialect.")]
SchemaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--schema",
        help="Columns of tables: a JSON, YAML, CSV or DDL file, dbt's manifest or catalog, or a catalog by address; "
        "may be repeated, the first that knows a table wins.",
        metavar="FILE|URL",
    ),
]
AllowImpliedOption = Annotated[
    bool | None,
    typer.Option("--allow-implied/--no-implied", help="Whether CREATE and ALTER say what columns a table has."),
]
TodayOption = Annotated[
    str | None, typer.Option("--today", help="The day that waivers are held against.", metavar="YYYY-MM-DD")
]
ShowWaivedOption = Annotated[bool, typer.Option("--show-waived", help="List what is waived as well.")]
VariablesOption = Annotated[
    list[str] | None,
    typer.Option("--var", help="A variable of templates; may be repeated.", metavar="NAME=VALUE"),
]
ExpandOption = Annotated[
    bool,
    typer.Option("--expand", help="JSON: list a filter or join of a whole statement once for each column it writes."),
]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")]


class ResultFormat(StrEnum):
    """Format of a result."""

    TEXT = "text"
    JSON = "json"


class TableFormat(StrEnum):
    """Format of a result that is a list."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


SubjectsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--in",
        "-i",
        help="What to ask: a folder, SQL files, REPO@REV, a lineage file of `scan -o`, a warehouse or one of its "
        "snapshots; may be repeated. This folder, if none.",
        metavar="SUBJECT",
    ),
]
TableFormatOption = Annotated[TableFormat, typer.Option("--format", "-f", help="How to write the answer.")]
ResultFormatOption = Annotated[ResultFormat, typer.Option("--format", "-f", help="How to write the result.")]


DUCKDB_PREFIX = "duckdb:///"


def resolve_schema_places(schemas: list[str] | None) -> list[str] | None:
    """Make the paths in --schema absolute, since settings of another folder will read them."""
    if not schemas:
        return None
    return [_resolve_schema_place(place) for place in schemas]


def _resolve_schema_place(place: str) -> str:
    """Make the path of a schema file, a DuckDB catalog or a snapshot's warehouse absolute."""
    if place.startswith(DUCKDB_PREFIX) and Path(place.removeprefix(DUCKDB_PREFIX)).is_file():
        return f"{DUCKDB_PREFIX}{Path(place.removeprefix(DUCKDB_PREFIX)).resolve()}"
    if "://" in place:
        return place
    kind, _, rest = place.partition("snapshot:")
    if kind:
        return str(Path(place).resolve())
    warehouse, sign, key = rest.rpartition("#")
    return f"snapshot:{Path(warehouse).resolve() if warehouse else ''}{sign}{key}"


def parse_variables(given: list[str] | None) -> dict[str, str]:
    """Parse `--var NAME=VALUE` options into a dictionary."""
    pairs = [item.partition("=") for item in given or ()]
    wrong = next((name for name, equals, _ in pairs if not equals or not name), None)
    if wrong is not None:
        raise LineageError(f"--var takes NAME=VALUE, not {wrong or '='}")
    return {name: value for name, _, value in pairs}


EXPORT_FORMATS = "openlineage csv xlsx duckdb parquet mermaid dot graphml json text html markdown".split()


GrainOption = Annotated[
    Grain | None, typer.Option("--level", help="What is drawn: files, objects, or objects with columns.")
]
FocusOption = Annotated[str | None, typer.Option("--focus", help="Only what is around this object.", metavar="OBJECT")]
FocusDepthOption = Annotated[int | None, typer.Option("--depth", help="How many steps around it.", min=0)]


class DirectionChoice(StrEnum):
    """Which way to go where the selector has no +."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"


FocusDirectionOption = Annotated[
    DirectionChoice | None, typer.Option("--direction", help="Only what feeds it, or what it feeds.")
]
BoxLimitOption = Annotated[int | None, typer.Option("--limit", help="Draw at most so many boxes.", min=1)]
