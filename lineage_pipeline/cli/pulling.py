"""Definitions of tables as a catalog knows them, written as DDL."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineage_pipeline.vocabulary.analysis import Options, SchemaColumn, TableSchema
    from lineage_pipeline.vocabulary.tables import ObjectRow

_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")


def definitions(
    url: str, wanted: "Sequence[ObjectRow]", options: "Options", environ: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Give the DDL of the wanted tables by their names, and the names that the catalog does not know."""
    from lineage_pipeline.discover.schemas.folding import fold_tables
    from lineage_pipeline.discover.schemas.opening import open_catalog

    schemas = fold_tables(open_catalog(url, environ).tables(), options).schemas
    found: dict[str, str] = {}
    missing = []
    for row in wanted:
        schema = _schema(row.object, schemas)
        if schema is None:
            missing.append(row.object)
        else:
            found[row.object.replace('"', "")] = _ddl(row.object, schema)
    return found, missing


def _schema(name: str, schemas: "Mapping[str, TableSchema]") -> "TableSchema | None":
    """Find a table by its name, which one of the two may write longer than the other."""
    from lineage_pipeline.engine.graph.names import ends_alike, split_id

    if name in schemas:
        return schemas[name]
    alike = [schema for key, schema in schemas.items() if ends_alike(split_id(key), split_id(name))]
    return alike[0] if len(alike) == 1 else None


def _ddl(name: str, schema: "TableSchema") -> str:
    columns = ",\n".join(f"    {_column(column)}" for column in schema.columns)
    return f"create table {name} (\n{columns}\n);\n"


def _column(column: "SchemaColumn") -> str:
    kind = f" {column.type}" if column.type else ""
    return f"{_quoted(column.written)}{kind}{'' if column.nullable else ' not null'}"


def _quoted(name: str) -> str:
    return name if _PLAIN.match(name) else '"' + name.replace('"', '""') + '"'
