"""What is wrong with a settings file, and where."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lineage_pipeline.discover.bounded import DEEP, SETTINGS, read_bounded, toml_of
from lineage_pipeline.vocabulary.errors import LineageError, Misread

_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


SHOWN = 60
"""Characters of a line that are shown before and after what is wrong with it."""


def read_toml(file: Path) -> dict[str, Any]:
    """Read a file, or say in one sentence why it cannot be."""
    try:
        return toml_of(read_bounded(file, SETTINGS).decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise unreadable(file, error) from None


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """Read a text, or say in one sentence where it stops being TOML."""
    try:
        return toml_of(text)
    except RecursionError:
        raise LineageError(f"{place}: {DEEP}") from None
    except tomllib.TOMLDecodeError as error:
        raise _misread(place, text, error) from None


def unreadable(file: Path, error: Exception) -> LineageError:
    """Say what is wrong with a file; where it stops being TOML, with the line and a mark below it."""
    if isinstance(error, RecursionError):
        return LineageError(f"{file}: {DEEP}")
    if not isinstance(error, tomllib.TOMLDecodeError):
        return LineageError(f"{file}: {getattr(error, 'strerror', None) or error}")
    return _misread(str(file), file.read_text(encoding="utf-8"), error)


def _misread(place: str, text: str, error: tomllib.TOMLDecodeError) -> LineageError:
    told, lines = str(error), text.splitlines() or [""]
    found = _PLACE.search(told)
    line = int(found["line"]) if found and found["line"] else len(lines)
    column = int(found["column"]) if found and found["column"] else len(lines[-1]) + 1
    start = max(column - SHOWN, 0)
    shown = lines[min(line, len(lines)) - 1][start : start + 2 * SHOWN]
    return Misread(f"{place}:{line}:{column}", _PLACE.sub("", told), f"    {shown}\n    {' ' * (column - 1 - start)}^")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Say which known word was meant, or which there are."""
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(words)}"
