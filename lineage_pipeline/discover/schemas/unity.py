"""Databricks Unity Catalog, through the SDK of Databricks: `databricks://host/catalog` or `…/catalog/schema`."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from databricks.sdk import WorkspaceClient  # type: ignore[import-not-found, unused-ignore]
from databricks.sdk.errors import DatabricksError  # type: ignore[import-not-found, unused-ignore]

from lineage_pipeline.discover.schemas.catalogs import Queried, Rows, one_line
from lineage_pipeline.vocabulary.errors import LineageError

SYSTEM_SCHEMAS = frozenset({"information_schema"})


class UnityCatalog(Queried):
    """A catalog of Unity; the token is DATABRICKS_TOKEN, and other ways of signing in are the SDK's own."""

    dialect = "databricks"
    default_schema = "default"

    @staticmethod
    def _secret() -> str:
        return "set DATABRICKS_TOKEN"

    def rows(self) -> Rows:
        """Ask for the columns of all tables and views of the catalog, or of one schema of it."""
        address = urlsplit(self.url)
        catalog, _, schema = address.path.strip("/").partition("/")
        if not catalog:
            raise LineageError(f"{self.url}: name a catalog: databricks://{address.hostname}/CATALOG")
        scheme = "http" if address.hostname in ("localhost", "127.0.0.1") else "https"
        try:
            client = WorkspaceClient(
                host=f"{scheme}://{address.netloc.rpartition('@')[2]}", token=self.environ.get("DATABRICKS_TOKEN")
            )
            schemas = [schema] if schema else [item.name or "" for item in client.schemas.list(catalog)]
            return [row for name in schemas if name not in SYSTEM_SCHEMAS for row in _rows(client, catalog, name)]
        except (DatabricksError, ValueError) as error:
            raise LineageError(f"{self.url}: {one_line(error)}") from None


def _rows(client: Any, catalog: str, schema: str) -> Iterator[tuple[Any, ...]]:
    for table in client.tables.list(catalog, schema):
        kind = getattr(table.table_type, "value", "") or ""
        for column in sorted(table.columns or (), key=lambda column: column.position or 0):
            nullable = column.nullable is not False
            said = (column.name, column.type_text, nullable, column.comment, table.comment)
            yield (schema, table.name, "VIEW" in kind, *said)
