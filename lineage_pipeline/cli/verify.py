"""`lineage verify`: our columns and types against those of the user's own engine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.places import Reading
from lineage_pipeline.cli.words import Dialect, Format, FormatOption, Output, Variables, put

if TYPE_CHECKING:
    from lineage_pipeline.engine.diff.verification import Verification


def verify(
    path: Annotated[Path, typer.Argument(help="A folder with SQL files.", metavar="PATH")] = Path(),
    catalog: Annotated[
        str, typer.Option("--catalog", help="duckdb:///FILE or postgresql://USER@HOST/DATABASE.", metavar="URL")
    ] = "",
    system: Annotated[str, typer.Option("--system", help="Which of the systems of the settings it holds.")] = "",
    dialect: Dialect = None,
    var: Variables = None,
    format: FormatOption = Format.TEXT,
    output: Output = None,
) -> None:
    """Show where an engine has other columns or types than we work out; exit 0: none, 1: some, 2: it cannot be told.

    What the files read and do not define is taken from the engine. A password is taken from PGPASSWORD or a password
    file, never from the address.

    Example: lineage verify warehouse --catalog duckdb:///warehouse.duckdb
    """
    from lineage_pipeline.export.verification import verification_document, verification_text
    from lineage_pipeline.vocabulary.errors import LineageError

    if not catalog:
        raise LineageError("name an engine: --catalog duckdb:///FILE or --catalog postgresql://USER@HOST/DATABASE")
    found = _verification(path, catalog, system, Reading(dialect, variables=var))
    written = verification_document if format is Format.JSON else verification_text
    put(written(found, catalog), output)
    if found.differences:
        raise typer.Exit(1)


def _verification(path: Path, url: str, system: str, reading: Reading) -> "Verification":
    from lineage_pipeline import pipeline
    from lineage_pipeline.dialects.traits import GENERIC, traits_of
    from lineage_pipeline.discover.folder import discover_folder
    from lineage_pipeline.discover.gather import input_files
    from lineage_pipeline.discover.schemas.folding import fold_tables
    from lineage_pipeline.discover.schemas.opening import open_catalog
    from lineage_pipeline.engine.diff.verification import defined, verify
    from lineage_pipeline.engine.graph.drops import dropped
    from lineage_pipeline.settings import load_settings
    from lineage_pipeline.vocabulary.errors import LineageError

    source = open_catalog(url, os.environ)
    settings = load_settings(path, reading.flags(), os.environ)
    settings = settings.completed(source.dialect, source.default_schema)
    options = settings.options_of(system)
    theirs = fold_tables(source.tables(), options).schemas
    files = [file for file in input_files(discover_folder(path, settings), settings) if file.options == options]
    first = pipeline.work_out(files, theirs)
    gone = dropped(first.plan.object_statements)
    own = {row.object: first.plan.objects[row.object].imported for row in defined(first.lineage, gone)}
    if not own:
        raise LineageError(f"{path} defines no table or view that could be compared")
    taken = set(own.values())
    given = {name: schema for name, schema in theirs.items() if name not in taken}
    lineage = pipeline.link_together(first.compiled, given).lineage
    family = (traits_of(options.dialect) or GENERIC).family
    return verify(lineage, {name: theirs[key] for name, key in own.items() if key}, family, gone)
