"""Layers of settings: file, environment variables and flags, each merged over the one before."""

from collections.abc import Mapping
from typing import Any

SettingsLayer = dict[str, Any]

DEFAULT_INCLUDE = (
    *("*.sql", "*.SQL", "*.hql", "*.ddl", "*.sqlx", "*.py", "*.ipynb", "*.scala", "*.r", "*.R"),
    *("*.java", "*.kt", "*.cs", "*.go", "*.js", "*.ts"),
)
DEFAULT_EXCLUDE = (".venv/**", "**/node_modules/**", "**/target/**", ".lineage/**", "*.min.js", "*.d.ts")

COMMA_LISTS = frozenset(
    {"search_path", "schemas", "include", "exclude", "public", "private", "sensitive"}
)  # with commas

READING_TABLES = ("analysis", "systems", "include", "exclude", "labels", "templating", "dbt")
"""Tables of the settings that affect how files are read."""

REPOSITORY_TABLES = (*READING_TABLES, "manifest", "diff", "checks")
"""Tables that a repository's own settings file may set: how it is read and judged."""


def merge_layers(weaker: SettingsLayer, stronger: Mapping[str, Any]) -> SettingsLayer:
    """Merge a stronger layer over a weaker one, table by table; None means not given."""
    merged = dict(weaker)
    for key, value in stronger.items():
        if isinstance(value, Mapping):
            merged[key] = merge_layers(merged[key] if isinstance(merged.get(key), dict) else {}, value)
        elif value is not None:
            merged[key] = value
    return merged


def drop_overridden(layer: SettingsLayer, stronger: Mapping[str, Any]) -> SettingsLayer:
    """Drop the keys of `[[systems]]` that a stronger layer sets for all: `--dialect` must override every row."""
    said = {key for key, value in stronger.get("analysis", {}).items() if value is not None}
    rows = [row for row in layer.get("systems", ()) if isinstance(row, dict)]
    systems = [{key: value for key, value in row.items() if key not in said} for row in rows]
    return layer | {"systems": systems} if said and systems else layer
