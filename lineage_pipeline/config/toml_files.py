"""Reads TOML settings files, with errors that show the line."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lineage_pipeline.files.bounded_files import SETTINGS, TOO_DEEP, parse_bounded_toml, read_bounded_file
from lineage_pipeline.model.errors import FileSyntaxError, LineageError

_TOML_ERROR_LOCATION = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


SHOWN_CHARACTERS = 60
"""Characters of a line that are shown before and after an error."""


def read_toml_file(file: Path) -> dict[str, Any]:
    """Read a file, or fail with one sentence."""
    try:
        return parse_bounded_toml(read_bounded_file(file, SETTINGS).decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise unreadable_error(file, error) from None


def parse_toml_text(text: str, place: str) -> dict[str, Any]:
    """Parse a text, or fail with one sentence that says where it stops being TOML."""
    try:
        return parse_bounded_toml(text)
    except RecursionError:
        raise LineageError(f"{place}: {TOO_DEEP}") from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(place, text, error) from None


def unreadable_error(file: Path, error: Exception) -> LineageError:
    """Build the error for an unreadable file; a TOML error shows the line with a mark below."""
    if isinstance(error, RecursionError):
        return LineageError(f"{file}: {TOO_DEEP}")
    if not isinstance(error, tomllib.TOMLDecodeError):
        return LineageError(f"{file}: {getattr(error, 'strerror', None) or error}")
    return _syntax_error(str(file), file.read_text(encoding="utf-8"), error)


def _syntax_error(place: str, text: str, error: tomllib.TOMLDecodeError) -> LineageError:
    message, lines = str(error), text.splitlines() or [""]
    found = _TOML_ERROR_LOCATION.search(message)
    line = int(found["line"]) if found and found["line"] else len(lines)
    column = int(found["column"]) if found and found["column"] else len(lines[-1]) + 1
    start = max(column - SHOWN_CHARACTERS, 0)
    shown = lines[min(line, len(lines)) - 1][start : start + 2 * SHOWN_CHARACTERS]
    return FileSyntaxError(
        f"{place}:{line}:{column}",
        _TOML_ERROR_LOCATION.sub("", message),
        f"    {shown}\n    {' ' * (column - 1 - start)}^",
    )


def suggest_word(word: str, known: Iterable[str]) -> str:
    """Return a hint which known word was meant, or which there are."""
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(words)}"
