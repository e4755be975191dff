"""Fragments of text output: locations, counts with nouns, and SQL on one line."""


def format_location(path: str, line: int | None) -> str:
    """Format a location as `path:line`, which editors can open."""
    return path if line is None else f"{path}:{line}"


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun: 1 object, 2 objects."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def collapse_whitespace(text: str) -> str:
    """Replace line breaks and runs of blanks by one blank."""
    return " ".join(text.split())
