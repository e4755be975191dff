"""What is wrong with a settings file, and where."""

import re
import tomllib
from pathlib import Path
from typing import Any

from lineage_pipeline.vocabulary.errors import LineageError, Misread

_PLACE = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


def read_toml(file: Path) -> dict[str, Any]:
    """Read a file, or say in one sentence why it cannot be."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise unreadable(file, error) from None


def unreadable(file: Path, error: Exception) -> LineageError:
    """Say what is wrong with a file; where it stops being TOML, with the line and a mark below it."""
    if not isinstance(error, tomllib.TOMLDecodeError):
        return LineageError(f"{file}: {getattr(error, 'strerror', None) or error}")
    told = str(error)
    lines = file.read_text(encoding="utf-8").splitlines() or [""]
    found = _PLACE.search(told)
    line = int(found["line"]) if found and found["line"] else len(lines)
    column = int(found["column"]) if found and found["column"] else len(lines[-1]) + 1
    text = lines[min(line, len(lines)) - 1]
    reason = _PLACE.sub("", told)
    return Misread(f"{file}:{line}:{column}", reason, f"    {text}\n    {' ' * (column - 1)}^")
