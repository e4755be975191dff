"""Types of the values of a seed, as dbt tells them: the narrowest that fits all."""

import re
from collections.abc import Iterable

TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("integer", re.compile(r"[+-]?\d{1,18}\Z")),
    ("numeric", re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}\Z")),
    ("timestamp", re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\Z")),
    ("boolean", re.compile(r"(?:true|false)\Z", re.IGNORECASE)),
)


def type_of_values(values: Iterable[str]) -> str:
    """Give the type of the values of a column; empty ones say nothing, and nothing but those is text."""
    said = [value.strip() for value in values if value.strip() and value.strip().lower() != "null"]
    if not said:
        return "varchar"
    return next((name for name, pattern in TYPES if all(pattern.match(value) for value in said)), "varchar")
