"""Values as dbt tells them: the types of a seed, the narrowest that fits all, and settings that are templates."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

NUMBER = re.compile(r"[+-]?\d+")

TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("integer", re.compile(r"[+-]?\d{1,18}\Z")),
    ("numeric", re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}\Z")),
    ("timestamp", re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\Z")),
    ("boolean", re.compile(r"(?:true|false)\Z", re.IGNORECASE)),
)


def type_of_values(values: Iterable[str]) -> str:
    """Give the kind of the values of a column; empty ones say nothing, and nothing but those is a number to dbt."""
    said = [value.strip() for value in values if value.strip() and value.strip().lower() != "null"]
    if not said:
        return "integer"
    return next((name for name, pattern in TYPES if all(pattern.match(value) for value in said)), "varchar")


def as_bool(value: Any) -> Any:
    """Give what a text says as yes or no, as the filter of dbt does; what says neither stays."""
    said = str(value).strip().lower()
    return {"true": True, "false": False, "1": True, "0": False}.get(said, value)


def as_number(value: Any) -> Any:
    """Give what a text says as a number, as the filter of dbt does; what is none stays."""
    try:
        return int(str(value)) if NUMBER.fullmatch(str(value).strip()) else float(str(value))
    except ValueError:
        return value


def as_native(value: Any) -> Any:
    """Give what a text says as a value of Python, as the filter of dbt does; what is none stays."""
    try:
        return ast.literal_eval(str(value).strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


FILTERS: Mapping[str, Callable[[Any], Any]] = {
    "as_bool": as_bool,
    "as_number": as_number,
    "as_native": as_native,
    "as_text": str,
}
"""The filters of dbt that turn the text of a setting into a value."""


def worked_out(value: Any, render: Callable[[str], str]) -> Any:
    """Give a setting with the templates in it rendered, deep inside of lists and mappings, too."""
    if isinstance(value, str):
        if "{{" not in value and "{%" not in value:
            return value
        said = render(value).strip()
        return {"True": True, "False": False, "None": None}.get(said, said)
    if isinstance(value, Mapping):
        return {key: worked_out(item, render) for key, item in value.items()}
    return [worked_out(item, render) for item in value] if isinstance(value, list | tuple) else value
