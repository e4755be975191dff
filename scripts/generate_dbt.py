"""Writes the sources and staging models of dbt from the vocabulary, so that the two cannot drift apart."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml
from msgspec import inspect

from lineage_pipeline.model.tables import TABLES, Table
from lineage_pipeline.store.table_schemas import address_columns, arrow_schema, row_fields

PROJECT = Path(__file__).parents[1] / "dbt_project"
STAGING = Path("models/staging")
HEADER = "# Written by scripts/generate_dbt.py from the vocabulary and descriptions.toml; change those.\n"

# `column` is a reserved word wherever SQL is written.
RENAMES = {
    ("facets", "column"): "column_name",
    ("changes", "column"): "column_name",
    ("waivers", "column"): "column_name",
    ("diagnostics", "column"): "column_number",
}


def main() -> int:
    """Write the files, and remove those of tables that are gone."""
    wanted = generate()
    for path in (PROJECT / STAGING).glob("*"):
        if path.relative_to(PROJECT) not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (PROJECT / name).parent.mkdir(parents=True, exist_ok=True)
        (PROJECT / name).write_text(text, encoding="utf-8")
    return 0


def generate() -> dict[Path, str]:
    """Make the text of every generated file, by its path in the project."""
    meanings = tomllib.loads((PROJECT / "descriptions.toml").read_text(encoding="utf-8"))
    files = {STAGING / "_lineage__sources.yml": HEADER + _yaml(sources(meanings))}
    for table in TABLES.values():
        files[STAGING / f"{model(table)}.sql"] = select(table)
        files[STAGING / f"{model(table)}.yml"] = HEADER + _yaml(properties(table, meanings))
    return files


def sources(meanings: dict[str, Any]) -> dict[str, Any]:
    """Describe the views over the published files; each is the Dagster asset of the same name."""
    tables = [
        {
            "name": table.name,
            "description": meanings[table.name]["_table"],
            "config": {"meta": {"dagster": {"asset_key": ["lineage", table.name]}}},
            "columns": [_column(name, meaning(table, name, meanings)) for name in arrow_schema(table.name).names],
        }
        for table in TABLES.values()
    ]
    about = "The published Parquet files of the warehouse, one view per table; made when a run starts."
    return {"version": 2, "sources": [{"name": "lineage", "schema": "lineage", "description": about, "tables": tables}]}


def properties(table: Table, meanings: dict[str, Any]) -> dict[str, Any]:
    """Describe a staging model and test its key."""
    key = [staged(table, name) for name in (*address_columns(table.name), *table.key)]
    optional = {field.name for field in row_fields(table.row) if isinstance(field.type, inspect.UnionType)}
    arguments: dict[str, Any] = {"columns": key}
    if nullable := [staged(table, name) for name in table.key if name in optional]:
        arguments["nullable"] = nullable
    columns = [_column(staged(table, name), meaning(table, name, meanings)) for name in arrow_schema(table.name).names]
    described = {
        "name": model(table),
        "description": meanings[table.name]["_table"],
        "data_tests": [{"is_key": {"name": f"{table.name}_have_their_key", "arguments": arguments}}],
        "columns": columns,
    }
    return {"version": 2, "models": [described]}


def select(table: Table) -> str:
    """Write a staging model: every column by name, renamed where it must be, and nothing else."""
    lines = []
    for name in arrow_schema(table.name).names:
        alias = f" as {staged(table, name)}" if staged(table, name) != name else ""
        lines.append(f"    {table.name}.{name}{alias}")
    # Two snapshots that are analyzed at the same time may both store a content that is new to both.
    head = "select distinct" if not address_columns(table.name) else "select"
    return f"{head}\n" + ",\n".join(lines) + f"\nfrom {{{{ source('lineage', '{table.name}') }}}} as {table.name}\n"


def model(table: Table) -> str:
    """Name the staging model of a table."""
    return f"stg_lineage__{table.name}"


def staged(table: Table, column: str) -> str:
    """Name a column as the staging model does."""
    return RENAMES.get((table.name, column), column)


def meaning(table: Table, column: str, meanings: dict[str, Any]) -> str:
    """Look up what a column means, in its table or in common."""
    text: str = meanings[table.name].get(column) or meanings["common"][column]
    return text


def _column(name: str, description: str) -> dict[str, str]:
    return {"name": name, "description": description}


def _yaml(content: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return text


if __name__ == "__main__":
    sys.exit(main())
