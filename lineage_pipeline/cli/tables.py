"""`lineage tables`: which tables statements use, what is known of them, and their definitions from a catalog."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from lineage_pipeline.cli.groups import group
from lineage_pipeline.cli.words import AllowImplied, Dialect, Output, Schemas, Table, TableOption, Variables, put, say

if TYPE_CHECKING:
    from collections.abc import Collection

    from lineage_pipeline.vocabulary.tables import ObjectRow

tables = group("List tables and how they are used; fetch and infer their schemas.")

Places = Annotated[
    list[str] | None,
    typer.Argument(help="SQL files, folders or REPO@REV; - is standard input; this folder if none.", metavar="PATH..."),
]
OnlyTable = Annotated[str | None, typer.Option("--table", help="Only tables of this name or pattern.", metavar="TABLE")]


@tables.command()
def overview(
    paths: Places = None,
    table: OnlyTable = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """List the tables that statements use: as input, as output, or as both.

    Example: lineage tables overview orders.sql --dialect spark -f csv
    """
    from lineage_pipeline.cli.places import Reading, analysed, find
    from lineage_pipeline.discover.gather import input_files
    from lineage_pipeline.engine.compile.dissect import dissect_source
    from lineage_pipeline.engine.trace.usage import table_usage
    from lineage_pipeline.export.answers import write_answer
    from lineage_pipeline.export.lists import usage_answer

    found = find(paths or ["."], Reading(dialect, schema, variables=var))
    files = input_files(found.discovery, found.rules)
    parts = (part for file in files for one in dissect_source(file) for part in one.of_kind("CTE"))
    used = table_usage(analysed(found).lineage, [part.name for part in parts if part.name])
    names = _fitting([one.object for one in used], table)
    put(write_answer(usage_answer([one for one in used if one.object in names]), format), output)


@tables.command()
def scrape(
    paths: Places = None,
    table: OnlyTable = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """List the columns of tables as SQL files define, use and imply them.

    Each says how it is known: imported, implied by a statement, or inferred from its use. The JSON and the CSV can be
    given to --schema again.

    Example: lineage tables scrape models --dialect spark -f json -o schema.json
    """
    from lineage_pipeline.cli.places import Reading, analysed, find
    from lineage_pipeline.export.answers import write_answer
    from lineage_pipeline.export.lists import schemas_answer

    rows = analysed(find(paths or ["."], Reading(dialect, schema, allow_implied, var))).lineage
    names = _fitting([row.object for row in rows.objects], table)
    columns = [row for row in rows.columns if row.object in names]
    put(write_answer(schemas_answer(rows.objects, columns), format), output)


@tables.command()
def pull(
    paths: Places = None,
    catalog: Annotated[
        str, typer.Option("--catalog", "-c", help="duckdb:///FILE or postgresql://USER@HOST/DATABASE.", metavar="URL")
    ] = "",
    folder: Annotated[
        Path | None, typer.Option("--ddl-folder", "-o", help="Write a file for each table here, not to stdout.")
    ] = None,
    dialect: Dialect = None,
    var: Variables = None,
) -> None:
    """Fetch the definitions of the tables that SQL files read and do not define.

    The folder can be given to --schema. A password is taken from PGPASSWORD, never from the address.

    Example: lineage tables pull models --catalog duckdb:///shop.duckdb -o ddl
    """
    from lineage_pipeline.cli.places import Reading, analysed, find
    from lineage_pipeline.cli.pulling import definitions
    from lineage_pipeline.vocabulary.errors import LineageError

    if not catalog:
        raise LineageError("name a catalog: --catalog duckdb:///FILE or --catalog postgresql://USER@HOST/DATABASE")
    found = find(paths or ["."], Reading(dialect, variables=var))
    wanted = [row for row in analysed(found).lineage.objects if _is_foreign(row)]
    texts, missing = definitions(catalog, wanted, found.rules.options_for(""), os.environ)
    for name in missing:
        say(f"lineage: {name} is not in the catalog")
    if folder is None:
        put("\n".join(texts.values()))
    else:
        for name, text in texts.items():
            put(text, folder / f"{quote(name, safe=' ')}.sql")  # a name may hold what leads out of the folder
        say(f"lineage: {len(texts)} files in {folder}")


def _is_foreign(row: "ObjectRow") -> bool:
    """Say whether an object is read without being defined by any file."""
    from lineage_pipeline.vocabulary.sets import ObjectKind, Origin

    return row.origin in (Origin.UNKNOWN, Origin.INFERRED) and row.kind is not ObjectKind.QUERY


def _fitting(names: "Collection[str]", wanted: str | None) -> "Collection[str]":
    """Give the tables that a name or a pattern fits; where none does, say which was meant."""
    from lineage_pipeline.engine.trace.names import Names
    from lineage_pipeline.engine.trace.selectors import parse_selector
    from lineage_pipeline.questions.missing import no_object

    if wanted is None:
        return frozenset(names)
    known, selector = Names(dict.fromkeys(names, ())), parse_selector(wanted)
    found = known.objects_like(selector.parts)
    if not found:
        raise no_object(known, selector)
    return frozenset(found)
