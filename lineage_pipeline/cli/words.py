"""What every command says in the same way: the flags that many have, and where results and words go."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.manners import MANNERS, painted, tell, wants_color
from lineage_pipeline.vocabulary.errors import LineageError

Dialect = Annotated[str | None, typer.Option("--dialect", "-d", help="Read the SQL as this dialect.")]
Schemas = Annotated[
    list[str] | None,
    typer.Option(
        "--schema",
        help="Columns of tables: a JSON, YAML, CSV or DDL file, dbt's manifest or catalog, or a catalog by address; "
        "may be repeated, the first that knows a table wins.",
        metavar="FILE|URL",
    ),
]
AllowImplied = Annotated[
    bool | None,
    typer.Option("--allow-implied/--no-implied", help="Whether CREATE and ALTER say what columns a table has."),
]
Today = Annotated[
    str | None, typer.Option("--today", help="The day that waivers are held against.", metavar="YYYY-MM-DD")
]
ShowWaived = Annotated[bool, typer.Option("--show-waived", help="List what is waived as well.")]
Variables = Annotated[
    list[str] | None,
    typer.Option("--var", help="A variable of templates; may be repeated.", metavar="NAME=VALUE"),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, not to stdout.")]


class Format(StrEnum):
    """How a result is written."""

    TEXT = "text"
    JSON = "json"


class Table(StrEnum):
    """How an answer that is a list is written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


Subjects = Annotated[
    list[str] | None,
    typer.Option(
        "--in",
        "-i",
        help="What to ask: a folder, SQL files, REPO@REV, a lineage file of `scan -o`, a warehouse or one of its "
        "snapshots; may be repeated. This folder, if none.",
        metavar="SUBJECT",
    ),
]
TableOption = Annotated[Table, typer.Option("--format", "-f", help="How to write the answer.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


DUCKDB = "duckdb:///"


def placed(schemas: list[str] | None) -> list[str] | None:
    """Give places as typed here, so that settings of another folder can take them."""
    if not schemas:
        return None
    return [_placed(place) for place in schemas]


def _placed(place: str) -> str:
    """Give a file, the file of a catalog or a warehouse as seen from here and not from the settings."""
    if place.startswith(DUCKDB) and Path(place.removeprefix(DUCKDB)).is_file():
        return f"{DUCKDB}{Path(place.removeprefix(DUCKDB)).resolve()}"
    if "://" in place:
        return place
    kind, _, rest = place.partition("snapshot:")
    if kind:
        return str(Path(place).resolve())
    warehouse, sign, key = rest.rpartition("#")
    return f"snapshot:{Path(warehouse).resolve() if warehouse else ''}{sign}{key}"


def variables(given: list[str] | None) -> dict[str, str]:
    """Read variables as they are typed."""
    pairs = [item.partition("=") for item in given or ()]
    wrong = next((name for name, equals, _ in pairs if not equals or not name), None)
    if wrong is not None:
        raise LineageError(f"--var takes NAME=VALUE, not {wrong or '='}")
    return {name: value for name, _, value in pairs}


def put(text: str | Iterable[str], output: Path | None = None) -> None:
    """Write the result to stdout, or to a file; parts of a text as they come, unless they are to be painted."""
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines([text] if isinstance(text, str) else text)
    elif isinstance(text, str) or wants_color(sys.stdout):
        sys.stdout.write(painted("".join(text), sys.stdout))
    else:
        sys.stdout.writelines(text)


def say(line: str) -> None:
    """Tell people something, unless they want to hear nothing."""
    tell(line)


def say_more(line: str) -> None:
    """Tell people what only some want to know."""
    if MANNERS.verbose:
        tell(line)
