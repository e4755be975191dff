"""Types of seed columns, dbt's `as_bool`, `as_number` and `as_native` filters, and rendering of nested settings."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

INTEGER_TEXT = re.compile(r"[+-]?\d+")

SEED_VALUE_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("integer", re.compile(r"[+-]?\d{1,18}\Z")),
    ("numeric", re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}\Z")),
    ("timestamp", re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\Z")),
    ("boolean", re.compile(r"(?:true|false)\Z", re.IGNORECASE)),
)


def infer_seed_type(values: Iterable[str]) -> str:
    """Return the kind of the values of a seed column, ignoring empty ones; a column of only empty ones is a number."""
    said = [value.strip() for value in values if value.strip() and value.strip().lower() != "null"]
    if not said:
        return "integer"
    return next(
        (name for name, pattern in SEED_VALUE_PATTERNS if all(pattern.match(value) for value in said)), "varchar"
    )


def as_bool(value: Any) -> Any:
    """dbt's `as_bool`: return the boolean that a text spells; any other value is returned unchanged."""
    said = str(value).strip().lower()
    return {"true": True, "false": False, "1": True, "0": False}.get(said, value)


def as_number(value: Any) -> Any:
    """dbt's `as_number`: return the number that a text spells; any other value is returned unchanged."""
    try:
        return int(str(value)) if INTEGER_TEXT.fullmatch(str(value).strip()) else float(str(value))
    except ValueError:
        return value


def as_native(value: Any) -> Any:
    """dbt's `as_native`: return the Python value that a text spells; any other value is returned unchanged."""
    try:
        return ast.literal_eval(str(value).strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


VALUE_FILTERS: Mapping[str, Callable[[Any], Any]] = {
    "as_bool": as_bool,
    "as_number": as_number,
    "as_native": as_native,
    "as_text": str,
}
"""dbt's Jinja filters that turn the text of a setting into a value."""


def render_nested(value: Any, render: Callable[[str], str]) -> Any:
    """Return a setting with its templates rendered, inside of lists and mappings too."""
    if isinstance(value, str):
        if "{{" not in value and "{%" not in value:
            return value
        said = render(value).strip()
        return {"True": True, "False": False, "None": None}.get(said, said)
    if isinstance(value, Mapping):
        return {key: render_nested(item, render) for key, item in value.items()}
    return [render_nested(item, render) for item in value] if isinstance(value, list | tuple) else value
