"""Files beside the SQL: settings, manifests and schemas are read whole, and never more of them than anybody writes."""

import csv
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineage_pipeline.vocabulary.errors import LineageError

SETTINGS, LISTING, DOCUMENT = 1_000_000, 50_000_000, 500_000_000
"""Bytes of a settings file, of a list of files, and of a document that a tool writes, as dbt does."""

DEEP = "it is nested too deeply"

PARTS = 100
"""Dots in a key of TOML: for each, its reader goes through all that are before it."""


@contextmanager
def as_csv(source: object) -> Iterator[None]:
    """Say in one sentence what keeps a file from being read as CSV."""
    try:
        yield
    except csv.Error as error:
        raise LineageError(f"{source}: {error}") from None
    except UnicodeDecodeError:
        raise LineageError(f"{source}: it is not a text in UTF-8") from None


def read_bounded(file: Path, most: int) -> bytes:
    """Give the bytes of a file, or say that there are too many; a file that grows or never ends is no danger."""
    with file.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise LineageError(f"{file}: it is over the limit of {most // 1_000_000} MB for such a file")
    return content


def toml_of(text: str) -> dict[str, Any]:
    """Read TOML; keys of thousands of parts and numbers of thousands of digits are none."""
    if any(key.count(".") > PARTS for line in text.splitlines() for key in _keys(line)):
        raise tomllib.TOMLDecodeError("a key has too many parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python makes no number of them
        raise tomllib.TOMLDecodeError("a number has too many digits") from None


def _keys(line: str) -> list[str]:
    """Give what may be keys of a line: all before a sign of equality, and the name of a table."""
    *keys, rest = line.split("=")
    return [*keys, rest] if rest.lstrip().startswith("[") and '"' not in rest and "," not in rest else keys
