"""Layers of settings: what is said by a file, by variables and by flags, one laid over the other."""

from collections.abc import Mapping
from typing import Any

Layer = dict[str, Any]

INCLUDED = (
    *("*.sql", "*.SQL", "*.hql", "*.ddl", "*.sqlx", "*.py", "*.ipynb", "*.scala", "*.r", "*.R"),
    *("*.java", "*.kt", "*.cs", "*.go", "*.js", "*.ts"),
)
EXCLUDED = (".venv/**", "**/node_modules/**", "**/target/**", ".lineage/**", "*.min.js", "*.d.ts")

LISTS = frozenset({"search_path", "schemas", "include", "exclude", "public", "private", "sensitive"})  # with commas

READING = ("analysis", "systems", "include", "exclude", "labels", "templating", "dbt")
"""The tables that bear on how files are read."""

TAKEN = (*READING, "manifest", "diff", "checks")
"""What a repository says itself of how it is read and judged."""


def merge(weaker: Layer, stronger: Mapping[str, Any]) -> Layer:
    """Lay one layer over another, table by table; what is None was not said."""
    merged = dict(weaker)
    for key, value in stronger.items():
        if isinstance(value, Mapping):
            merged[key] = merge(merged[key] if isinstance(merged.get(key), dict) else {}, value)
        elif value is not None:
            merged[key] = value
    return merged


def loosen_systems(layer: Layer, stronger: Mapping[str, Any]) -> Layer:
    """Take from the systems what a stronger layer says for all: `--dialect` must beat every row of the file."""
    said = {key for key, value in stronger.get("analysis", {}).items() if value is not None}
    rows = [row for row in layer.get("systems", ()) if isinstance(row, dict)]
    systems = [{key: value for key, value in row.items() if key not in said} for row in rows]
    return layer | {"systems": systems} if said and systems else layer
