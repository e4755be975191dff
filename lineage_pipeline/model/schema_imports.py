"""Imported schemas by object id, and the names of the variables that hold secrets of catalogs."""

from collections.abc import Mapping

import msgspec

from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline.model.tables import Diagnostic

SECRET_VARIABLES = ("PGPASSWORD", "LINEAGE_CATALOG_PASSWORD", "DATABRICKS_TOKEN")
"""Environment variables with secrets of catalogs; no file and no address holds one."""


class SchemaImports(msgspec.Struct, frozen=True):
    """Imported schemas by object id, and findings about them."""

    schemas: Mapping[str, TableSchema] = {}
    findings: tuple[Diagnostic, ...] = ()
