"""`lineage analyze`: the lineage of some files, or of standard input."""

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lineage_pipeline.cli.words import AllowImplied, Dialect, Format, FormatOption, Output, Schemas, put

if TYPE_CHECKING:
    from lineage_pipeline.discover.schemas.model import Imports, SchemaMetadata
    from lineage_pipeline.settings import Settings
    from lineage_pipeline.vocabulary.analysis import Options


class GraphOf(StrEnum):
    """What a graph is drawn of."""

    STATEMENT = "statement"
    GLOBAL = "global"


STRICT = (
    "Exit 1 where something could not be done: a statement failed or is partial, a finding is an error, "
    "or a dialect, a syntax or dynamic SQL could not be read."
)


def analyze(
    files: Annotated[list[str], typer.Argument(help="SQL files; - is standard input.", metavar="FILE...")],
    dialect: Dialect = None,
    schema: Schemas = None,
    allow_implied: AllowImplied = None,
    format: FormatOption = Format.TEXT,
    graph: Annotated[
        GraphOf | None, typer.Option("--graph", help="Print graphs as JSON: of each statement, or of all together.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help=STRICT)] = False,
    output: Output = None,
) -> None:
    """Show what the statements of some files read and write.

    Example: lineage analyze orders.sql --dialect snowflake --format json
    """
    from lineage_pipeline.cli.subject import graphs_of, leaves_undone, subject_of
    from lineage_pipeline.discover.files import STDIN, discover_files
    from lineage_pipeline.export import EXPORTERS
    from lineage_pipeline.export.json import dump, global_document, graph_documents
    from lineage_pipeline.settings import load_settings

    named = [Path(file).resolve() for file in files if file != STDIN]
    start = Path(os.path.commonpath([file.parent for file in named])) if named else Path.cwd()
    flags = {"dialect": dialect, "allow_implied": allow_implied}
    settings = load_settings(start, {"analysis": flags}, os.environ)
    rules, imports = _read(schema or (), files[0], _Given(settings, start))
    discovery = discover_files(files, sys.stdin.buffer.read() if STDIN in files else b"", rules)
    if graph is None:
        subject = subject_of(discovery, rules, settings, imports)
        lineage, written = subject.lineage, "".join(EXPORTERS[format].write(subject))
    else:
        lineage, graphs = graphs_of(discovery, rules, imports)
        one = graph is GraphOf.GLOBAL
        written = dump(global_document(graphs.whole()) if one else graph_documents(graphs.statements()))
    put(written, output)
    if strict and leaves_undone(lineage):
        raise typer.Exit(1)


def _read(schemas: Sequence[str], file: str, rules: "_Given") -> "tuple[_Given, Imports]":
    """Read the schemas that flags name in the place of those of the settings; their hints bear on names."""
    from lineage_pipeline.discover.schemas.folding import fold_tables
    from lineage_pipeline.discover.schemas.reading import read_schemas

    if not schemas:
        return rules, rules.settings.imports()
    metadata = read_schemas(schemas, rules.options_for(file), Path(), os.environ)
    hinted = rules._replace(hints=metadata)
    return hinted, fold_tables(metadata.tables, hinted.options_for(file))


class _Given(NamedTuple):
    """The settings, asked with paths as they were typed, not as they lie below the settings' folder."""

    settings: "Settings"
    start: Path
    hints: "SchemaMetadata | None" = None

    def selects(self, path: str) -> bool:
        """Take every file that was named."""
        return bool(path)

    def options_for(self, path: str) -> "Options":
        """Give the options of the file's own place, completed by the hints of an imported schema."""
        from lineage_pipeline.discover.schemas.model import with_hints

        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        options = self.settings.options_for(full.relative_to(self.start).as_posix() if inside else path)
        return options if self.hints is None else with_hints(options, self.hints)

    def analysis_key(self) -> str:
        """Name what bears on results."""
        return self.settings.analysis_key()
