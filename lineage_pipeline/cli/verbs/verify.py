"""`lineage verify`: our columns and types compared with those of the user's engine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.cli.options import DialectOption, OutputOption, ResultFormat, ResultFormatOption, VariablesOption
from lineage_pipeline.cli.output import write_output
from lineage_pipeline.cli.read_files import list_read_files

if TYPE_CHECKING:
    from lineage_pipeline.engine.diff.verification import Verification


def verify(
    path: Annotated[Path, typer.Argument(help="A folder with SQL files.", metavar="PATH")] = Path(),
    catalog: Annotated[
        str, typer.Option("--catalog", help="duckdb:///FILE or postgresql://USER@HOST/DATABASE.", metavar="URL")
    ] = "",
    system: Annotated[str, typer.Option("--system", help="Which of the systems of the settings it holds.")] = "",
    dialect: DialectOption = None,
    var: VariablesOption = None,
    format: ResultFormatOption = ResultFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Show where an engine has other columns or types than we work out; exit 0: none, 1: some, 2: it cannot be told.

    What the files read and do not define is taken from the engine. A password is taken from PGPASSWORD or a password
    file, never from the address.

    Example: lineage verify warehouse --catalog duckdb:///warehouse.duckdb
    """
    from lineage_pipeline.export.answers.comparison_answers import write_verification_json, write_verification_text
    from lineage_pipeline.model.errors import LineageError

    if not catalog:
        raise LineageError("name an engine: --catalog duckdb:///FILE or --catalog postgresql://USER@HOST/DATABASE")
    found = _compare_with_engine(path, catalog, system, ReadingFlags(dialect, variables=var))
    written = write_verification_json if format is ResultFormat.JSON else write_verification_text
    write_output(written(found, catalog), output)
    if found.differences:
        raise typer.Exit(1)


def _compare_with_engine(path: Path, url: str, system: str, reading: ReadingFlags) -> "Verification":
    from lineage_pipeline import pipeline
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.dialects.generic import GENERIC
    from lineage_pipeline.dialects.registry import find_traits
    from lineage_pipeline.discover.discovery import build_input_files
    from lineage_pipeline.discover.folder import discover_folder
    from lineage_pipeline.discover.schemas.catalog_registry import open_catalog
    from lineage_pipeline.discover.schemas.normalize import normalize_tables
    from lineage_pipeline.engine.diff.verification import list_verified_objects, verify_schemas
    from lineage_pipeline.engine.graph.script_scopes import find_dropped
    from lineage_pipeline.model.errors import LineageError

    source = open_catalog(url, os.environ)
    settings = load_settings(path, reading.flags(), os.environ)
    settings = settings.with_engine_defaults(source.dialect, source.default_schema)
    options = settings.options_of(system)
    theirs = normalize_tables(source.tables(), options).schemas
    discovery = discover_folder(path, settings, analysis_key=compute_analysis_key(settings))
    list_read_files(discovery)
    files = [file for file in build_input_files(discovery, settings) if file.options == options]
    first = pipeline.analyze_files(files, theirs)
    gone = find_dropped(first.plan.object_statements)
    own = {row.object: first.plan.objects[row.object].imported for row in list_verified_objects(first.lineage, gone)}
    if not own:
        raise LineageError(f"{path} defines no table or view that could be compared")
    taken = set(own.values())
    given = {name: schema for name, schema in theirs.items() if name not in taken}
    lineage = pipeline.link_all(first.compiled, given).lineage
    family = (find_traits(options.dialect) or GENERIC).types
    return verify_schemas(lineage, {name: theirs[key] for name, key in own.items() if key}, family, gone)
