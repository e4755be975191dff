"""What is measured: synthetic repositories, and the files that somebody names."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.generate import generate
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder, discover_single_files
from lineage_pipeline.model.analysis import InputFile, Options

DIALECTS = ("snowflake", "tsql", "bigquery")


class Input(msgspec.Struct, frozen=True):
    """Files by a name that a table shows."""

    name: str
    dialect: str
    files: tuple[InputFile, ...]


def inputs(options: argparse.Namespace) -> Iterator[Input]:
    """Give all inputs that the options name."""
    for dialect in (options.dialect,) if options.dialect else DIALECTS:
        if options.statements:
            files = generate(options.statements, options.seed, dialect)
            rules = Options(dialect)
            made = tuple(InputFile(path, text, rules) for path, text in sorted(files.items()))
            yield Input(f"synthetic {dialect}", dialect, made)
    for named in options.paths:
        path, _, dialect = str(named).partition("=")
        own = dialect or options.dialect
        yield Input(Path(path).name or path, own or "", tuple(discovered(Path(path), own)))


def discovered(path: Path, dialect: str | None) -> list[InputFile]:
    """The files below a folder, or one file, read as the settings there say."""
    settings = load_settings(path, {"analysis": {"dialect": dialect}}, os.environ)
    found = discover_folder(path, settings) if path.is_dir() else discover_single_files([str(path)], b"", settings)
    return list(build_input_files(found, settings))
