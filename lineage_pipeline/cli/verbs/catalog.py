"""`lineage catalog list|pull`: the tables of a live catalog, as names, DDL or a schema file."""

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.discover.schemas.catalog_registry import OpenCatalog


class CatalogAction(StrEnum):
    """What is done with a catalog."""

    LIST = "list"
    PULL = "pull"


class PullFormat(StrEnum):
    """Format of pulled tables."""

    DDL = "ddl"
    JSON = "json"


def catalog(
    action: Annotated[CatalogAction, typer.Argument(help="Names, or DDL and schema files.", metavar="list|pull")],
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
    from lineage_pipeline.discover.schemas.catalog_registry import open_catalog
    from lineage_pipeline.files.path_patterns import matches_path

    source = open_catalog(url, os.environ)
    names = [name for name in source.list() if not only or matches_path(name, only)]
    if action is CatalogAction.LIST:
        write_output("".join(f"{name}\n" for name in names), output)
        return
    chosen = format or (PullFormat.JSON if output is not None and output.suffix == ".json" else PullFormat.DDL)
    if chosen is PullFormat.JSON:
        write_output(_write_document(source, names), output)
    else:
        _write_ddl(source, names, output)
    print_note(f"lineage: {len(names)} tables and views of {url}")


def _write_document(source: "OpenCatalog", names: list[str]) -> str:
    import json

    from lineage_pipeline.discover.schemas.schema_documents import write_schema_document

    document = write_schema_document(source.get(name) for name in names)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _write_ddl(source: "OpenCatalog", names: list[str], output: Path | None) -> None:
    """Write a file per table in a folder, or all DDL as one text."""
    texts = source.get_ddl_batch(names)
    if output is None or output.suffix == ".sql":
        write_output("\n".join(texts[name] for name in names), output)
        return
    if output.exists() and not output.is_dir():
        raise LineageError(f"{output} is a file; name a folder, or a file that ends in .sql or .json")
    for name, place in zip(names, _ddl_paths(names), strict=True):
        write_output(texts[name], output / place)


def _ddl_paths(names: list[str]) -> Iterator[str]:
    """Return a unique relative path for each table: a folder for its schema, safe characters only."""
    taken: set[str] = set()
    for name in names:
        schema, _, table = name.rpartition(".")
        parts = ["".join(sign if sign.isalnum() or sign in "_-$" else "_" for sign in part) for part in (schema, table)]
        place = "/".join(part for part in parts if part)
        while place.lower() in taken:
            place += "_"
        taken.add(place.lower())
        yield f"{place}.sql"
