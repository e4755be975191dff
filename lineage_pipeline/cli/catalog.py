"""`lineage catalog list|pull`: what a live catalog has, by name, as DDL or as a schema file."""

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.words import put, say
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.discover.schemas.opening import Opened


class Action(StrEnum):
    """What is done with a catalog."""

    LIST = "list"
    PULL = "pull"


class PullFormat(StrEnum):
    """How tables are written."""

    DDL = "ddl"
    JSON = "json"


def catalog(
    action: Annotated[Action, typer.Argument(help="Names, or DDL and schema files.", metavar="list|pull")],
    url: Annotated[str, typer.Argument(help="The address of a catalog.", metavar="URL")],
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Names, with * and ?; may be repeated.", metavar="PATTERN")
    ] = None,
    format: Annotated[
        PullFormat | None, typer.Option("--format", "-f", help="ddl, or json for a schema file; by the name of -o.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for DDL files, or a file.", metavar="PATH")
    ] = None,
) -> None:
    """Show what a catalog has, or write it to files that --schema reads.

    Addresses: duckdb:///FILE, postgresql://USER@HOST/DATABASE, sqlite:///FILE and whatever else SQLAlchemy opens, spark://,
    databricks://HOST/CATALOG, and those of plug-ins. Secrets come from the environment: PGPASSWORD, DATABRICKS_TOKEN,
    LINEAGE_CATALOG_PASSWORD.

    Example: lineage catalog pull postgresql://me@host/shop -o schema.json
    """
    from lineage_pipeline.discover.globs import matches
    from lineage_pipeline.discover.schemas.opening import open_catalog

    source = open_catalog(url, os.environ)
    names = [name for name in source.list() if not only or matches(name, only)]
    if action is Action.LIST:
        put("".join(f"{name}\n" for name in names), output)
        return
    chosen = format or (PullFormat.JSON if output is not None and output.suffix == ".json" else PullFormat.DDL)
    if chosen is PullFormat.JSON:
        put(_document(source, names), output)
    else:
        _write_ddl(source, names, output)
    say(f"lineage: {len(names)} tables and views of {url}")


def _document(source: "Opened", names: list[str]) -> str:
    import json

    from lineage_pipeline.discover.schemas.written import document_of

    document = document_of(source.get(name) for name in names)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _write_ddl(source: "Opened", names: list[str], output: Path | None) -> None:
    """Write one file for each table below a folder, or all DDL as one text."""
    texts = source.get_ddl_batch(names)
    if output is None or output.suffix == ".sql":
        put("\n".join(texts[name] for name in names), output)
        return
    if output.exists() and not output.is_dir():
        raise LineageError(f"{output} is a file; name a folder, or a file that ends in .sql or .json")
    for name, place in zip(names, _places(names), strict=True):
        put(texts[name], output / place)


def _places(names: list[str]) -> Iterator[str]:
    """Give each table a file: a folder for its schema, nothing in a name that a path could not hold, and none twice."""
    taken: set[str] = set()
    for name in names:
        schema, _, table = name.rpartition(".")
        parts = ["".join(sign if sign.isalnum() or sign in "_-$" else "_" for sign in part) for part in (schema, table)]
        place = "/".join(part for part in parts if part)
        while place.lower() in taken:
            place += "_"
        taken.add(place.lower())
        yield f"{place}.sql"
