"""Our own engine, asked about a query as the oracles are asked."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Origin
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.oracles.answers import Answer, Answered, Sources, tables


@cache
def _schemas(dialect: str) -> dict[str, TableSchema]:
    """The tables of the fixtures."""
    return schemas(tables(dialect), dialect)


def schemas(tables: Mapping[str, str], dialect: str) -> dict[str, TableSchema]:
    """Tables as the engine reads their definitions."""
    text = ";\n".join(f"create table {name} ({columns})" for name, columns in tables.items())
    found: dict[str, list[SchemaColumn]] = defaultdict(list)
    for row in build_lineage([InputFile("tables.sql", text, Options(dialect))], reach=False).columns:
        found[row.object].append(SchemaColumn(row.name, row.written, row.type, row.nullable))
    return {
        name: TableSchema(name, ObjectKind.TABLE, Origin.IMPORTED, tuple(columns)) for name, columns in found.items()
    }


def lineage(sql: str, dialect: str, given: Mapping[str, TableSchema] | None = None) -> LineageTables:
    """What the engine makes of a query over tables, or over those of the fixtures."""
    return build_lineage([InputFile("-", sql, Options(dialect))], given or _schemas(dialect), reach=False)


def reads(sql: str, dialect: str) -> Sources:
    """The columns of tables that a query reads, be it for values or to decide about them."""
    edges = lineage(sql, dialect).column_edges
    return frozenset(f"{edge.from_object}.{edge.from_column}" for edge in edges)


def ask(sql: str, dialect: str, given: Mapping[str, TableSchema] | None = None) -> Answer:
    """What the engine says about a query."""
    found = lineage(sql, dialect, given)
    folds = DIALECTS[dialect].columns is IdentifierFolding.LOWER
    sources: dict[str, set[str]] = defaultdict(set)
    for edge in found.column_edges:
        if edge.to_object == "query" and edge.type is EdgeType.DIRECT:
            sources[edge.to_column].add(f"{edge.from_object}.{edge.from_column}")
    return tuple(
        Answered(row.name if folds else row.written, row.type, row.nullable, frozenset(sources[row.name]))
        for row in found.columns
        if row.object == "query"
    )
