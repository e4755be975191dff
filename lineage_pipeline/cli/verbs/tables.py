"""`lineage tables`: the tables that statements use, their columns, and their definitions from a catalog."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from lineage_pipeline.cli.groups import make_group
from lineage_pipeline.cli.options import (
    AllowImpliedOption,
    DialectOption,
    OutputOption,
    SchemaOption,
    TableFormat,
    TableFormatOption,
    VariablesOption,
)
from lineage_pipeline.cli.output import print_note, write_output

if TYPE_CHECKING:
    from collections.abc import Collection

    from lineage_pipeline.model.analysis import Options, SchemaColumn, TableSchema
    from lineage_pipeline.model.tables import ObjectRow

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def fetch_definitions(
    url: str, wanted: "Sequence[ObjectRow]", options: "Options", environ: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the DDL of the wanted tables by name, and the names that the catalog does not have."""
    from lineage_pipeline.discover.schemas.catalog_registry import open_catalog
    from lineage_pipeline.discover.schemas.normalize import normalize_tables

    schemas = normalize_tables(open_catalog(url, environ).tables(), options).schemas
    found: dict[str, str] = {}
    missing = []
    for row in wanted:
        schema = _find_schema(row.object, schemas)
        if schema is None:
            missing.append(row.object)
        else:
            found[row.object.replace('"', "")] = _write_create_table(row.object, schema)
    return found, missing


def _find_schema(name: str, schemas: "Mapping[str, TableSchema]") -> "TableSchema | None":
    """Find a table by its name, which may be more or less qualified in the catalog."""
    from lineage_pipeline.engine.graph.namespace import is_same_suffix, split_object_id

    if name in schemas:
        return schemas[name]
    alike = [schema for key, schema in schemas.items() if is_same_suffix(split_object_id(key), split_object_id(name))]
    return alike[0] if len(alike) == 1 else None


def _write_create_table(name: str, schema: "TableSchema") -> str:
    columns = ",\n".join(f"    {_write_column(column)}" for column in schema.columns)
    return f"create table {name} (\n{columns}\n);\n"


def _write_column(column: "SchemaColumn") -> str:
    kind = f" {column.type}" if column.type else ""
    return f"{_quote_name(column.written)}{kind}{'' if column.nullable else ' not null'}"


def _quote_name(name: str) -> str:
    return name if _PLAIN_NAME.match(name) else '"' + name.replace('"', '""') + '"'


tables = make_group("List tables and how they are used; fetch and infer their schemas.")

PlacesArgument = Annotated[
    list[str] | None,
    typer.Argument(help="SQL files, folders or REPO@REV; - is standard input; this folder if none.", metavar="PATH..."),
]
OnlyTableOption = Annotated[
    str | None, typer.Option("--table", help="Only tables of this name or pattern.", metavar="TABLE")
]


@tables.command()
def overview(
    paths: PlacesArgument = None,
    table: OnlyTableOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """List the tables that statements use: as input, as output, or as both.

    Example: lineage tables overview orders.sql --dialect spark -f csv
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, analyze_inputs, discover_inputs
    from lineage_pipeline.discover.discovery import build_input_files
    from lineage_pipeline.engine.compile.sections import dissect_source
    from lineage_pipeline.engine.trace.usage import list_table_usage
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.list_answers import answer_usage

    found = discover_inputs(paths or ["."], ReadingFlags(dialect, schema, variables=var))
    files = build_input_files(found.discovery, found.rules)
    parts = (part for file in files for one in dissect_source(file) for part in one.of_kind("CTE"))
    used = list_table_usage(analyze_inputs(found).lineage, [part.name for part in parts if part.name])
    names = _select_tables([one.object for one in used], table)
    write_output(write_answer(answer_usage([one for one in used if one.object in names]), format), output)


@tables.command()
def scrape(
    paths: PlacesArgument = None,
    table: OnlyTableOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    allow_implied: AllowImpliedOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """List the columns of tables as SQL files define, use and imply them.

    Each says how it is known: imported, implied by a statement, or inferred from its use. The JSON and the CSV can be
    given to --schema again.

    Example: lineage tables scrape models --dialect spark -f json -o schema.json
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, analyze_inputs, discover_inputs
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.list_answers import answer_schemas

    rows = analyze_inputs(discover_inputs(paths or ["."], ReadingFlags(dialect, schema, allow_implied, var))).lineage
    names = _select_tables([row.object for row in rows.objects], table)
    columns = [row for row in rows.columns if row.object in names]
    write_output(write_answer(answer_schemas(rows.objects, columns), format), output)


@tables.command()
def pull(
    paths: PlacesArgument = None,
    catalog: Annotated[
        str, typer.Option("--catalog", "-c", help="duckdb:///FILE or postgresql://USER@HOST/DATABASE.", metavar="URL")
    ] = "",
    folder: Annotated[
        Path | None, typer.Option("--ddl-folder", "-o", help="Write a file for each table here, not to stdout.")
    ] = None,
    dialect: DialectOption = None,
    var: VariablesOption = None,
) -> None:
    """Fetch the definitions of the tables that SQL files read and do not define.

    The folder can be given to --schema. A password is taken from PGPASSWORD, never from the address.

    Example: lineage tables pull models --catalog duckdb:///shop.duckdb -o ddl
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, analyze_inputs, discover_inputs

    pass
    from lineage_pipeline.model.errors import LineageError

    if not catalog:
        raise LineageError("name a catalog: --catalog duckdb:///FILE or --catalog postgresql://USER@HOST/DATABASE")
    found = discover_inputs(paths or ["."], ReadingFlags(dialect, variables=var))
    wanted = [row for row in analyze_inputs(found).lineage.objects if _is_undefined(row)]
    texts, missing = fetch_definitions(catalog, wanted, found.rules.options_for(""), os.environ)
    for name in missing:
        print_note(f"lineage: {name} is not in the catalog")
    if folder is None:
        write_output("\n".join(texts.values()))
    else:
        for name, text in texts.items():
            write_output(text, folder / f"{quote(name, safe=' ')}.sql")  # a name may hold what leads out of the folder
        print_note(f"lineage: {len(texts)} files in {folder}")


def _is_undefined(row: "ObjectRow") -> bool:
    """Tell whether an object is read and no file defines it."""
    from lineage_pipeline.model.enums import ObjectKind, Origin

    return row.origin in (Origin.UNKNOWN, Origin.INFERRED) and row.kind is not ObjectKind.QUERY


def _select_tables(names: "Collection[str]", wanted: str | None) -> "Collection[str]":
    """Return the tables that match a name or a pattern; where none does, suggest one."""
    from lineage_pipeline.engine.trace.name_lookup import NameLookup
    from lineage_pipeline.engine.trace.selectors import parse_selector
    from lineage_pipeline.queries.lineage import object_not_found

    if wanted is None:
        return frozenset(names)
    known, selector = NameLookup(dict.fromkeys(names, ())), parse_selector(wanted)
    found = known.match_objects(selector.parts)
    if not found:
        raise object_not_found(known, selector)
    return frozenset(found)
