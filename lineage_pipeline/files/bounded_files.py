"""Reads files beside the SQL (settings, manifests, schemas) with limits on size and nesting."""

import csv
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineage_pipeline.model.errors import LineageError

SETTINGS, LISTING, DOCUMENT = 1_000_000, 50_000_000, 500_000_000
"""Bytes of a settings file, of a list of files, and of a document that a tool writes, as dbt does."""

TOO_DEEP = "it is nested too deeply"

MAX_KEY_PARTS = 100
"""Most dots in a TOML key: its parser goes through all preceding parts for each."""


@contextmanager
def explain_csv_errors(source: object) -> Iterator[None]:
    """Turn CSV errors of the block into one sentence that names the file."""
    try:
        yield
    except csv.Error as error:
        raise LineageError(f"{source}: {error}") from None
    except UnicodeDecodeError:
        raise LineageError(f"{source}: it is not a text in UTF-8") from None


def read_bounded_file(file: Path, most: int) -> bytes:
    """Return the bytes of a file, or fail where it has more than `most`, even if it grows while it is read."""
    with file.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise LineageError(f"{file}: it is over the limit of {most // 1_000_000} MB for such a file")
    return content


def parse_bounded_toml(text: str) -> dict[str, Any]:
    """Parse TOML; refuse keys of thousands of parts and numbers of thousands of digits."""
    if any(key.count(".") > MAX_KEY_PARTS for line in text.splitlines() for key in _possible_keys(line)):
        raise tomllib.TOMLDecodeError("a key has too many parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python makes no number of them
        raise tomllib.TOMLDecodeError("a number has too many digits") from None


def _possible_keys(line: str) -> list[str]:
    """Return the parts of a line that may be keys: before each equals sign, and the name of a table."""
    *keys, rest = line.split("=")
    return [*keys, rest] if rest.lstrip().startswith("[") and '"' not in rest and "," not in rest else keys
