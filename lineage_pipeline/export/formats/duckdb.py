"""DuckDB: one file with the tables, and views and macros for common queries."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

VIEWS = {
    "table_lineage": """
        select from_object, to_object, kind, len(statements) as statements
        from object_edges""",
    "column_lineage": """
        with types as (
            select object, name, first(type order by ordinal) as type from columns group by all
        )
        select
            edges.from_object, edges.from_column, sources.type as from_type,
            edges.to_object, edges.to_column, targets.type as to_type,
            edges.type, edges.subtype, edges.masking, edges.approximate, edges.conditional, edges.expression,
            edges.path, edges.statement, edges.span.line as line
        from column_edges as edges
        left join types as sources on sources.object = edges.from_object and sources.name = edges.from_column
        left join types as targets on targets.object = edges.to_object and targets.name = edges.to_column""",
    "table_usage": """
        select
            objects.object, objects.kind,
            count(*) filter (where role = 'read') as reads, count(*) filter (where role = 'write') as writes,
            count(*) filter (where role = 'define') as definitions
        from objects
        left join object_statements using (object)
        group by all""",
    "findings_by_code": """
        select code, severity, count(*) as findings, count(distinct path) as files
        from diagnostics
        group by all""",
    "unread_columns": """
        select columns.object, columns.name, columns.type
        from columns
        anti join column_edges
            on column_edges.from_object = columns.object and column_edges.from_column in (columns.name, '*')""",
    "roots_and_leaves": """
        select
            object, kind,
            object not in (select to_object from object_edges) as is_root,
            object not in (select from_object from object_edges) as is_leaf
        from objects""",
}
"""The queries of the views by name."""

MACROS = {
    "upstream": ("to", "from"),
    "downstream": ("from", "to"),
}
"""Walks from one column along the edges that carry values; each column once, at its least distance."""


def save_duckdb(tables: "Mapping[str, pa.Table]", file: Path) -> None:
    """Write a new file and move it into place when it is complete."""
    import duckdb

    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.new")
    new.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(new)) as connection:
            for name, table in tables.items():
                connection.register("incoming", table)
                connection.execute(f'create table "{name}" as select * from incoming')
                connection.unregister("incoming")
            for name, query in VIEWS.items():
                connection.execute(f"create view {name} as {query}")
            for name, (near, far) in MACROS.items():
                connection.execute(_walk_macro(name, near, far))
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _walk_macro(name: str, near: str, far: str) -> str:
    """Return the table macro that walks from an object and a column."""
    return f"""
        create macro {name}(start_object, start_column) as table
        with recursive walk(object, "column", distance) as (
            select start_object, start_column, 0
            union
            select edges.{far}_object, edges.{far}_column, walk.distance + 1
            from walk
            join column_edges as edges
                on edges.{near}_object = walk.object and edges.{near}_column = walk."column" and edges.type = 'DIRECT'
            where walk.distance < 100
        )
        select object, "column", min(distance) as distance
        from walk
        where distance > 0
        group by all
    """
