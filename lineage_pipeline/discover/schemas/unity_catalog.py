"""Databricks Unity Catalog, through the Databricks SDK: `databricks://host/catalog` or `…/catalog/schema`."""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, urlsplit

from databricks.sdk import WorkspaceClient  # type: ignore[import-not-found, unused-ignore]
from databricks.sdk.core import Config  # type: ignore[import-not-found, unused-ignore]
from databricks.sdk.errors import DatabricksError  # type: ignore[import-not-found, unused-ignore]

from lineage_pipeline.discover.schemas.sql_catalogs import CatalogRows, QueriedCatalog, error_line
from lineage_pipeline.model.errors import LineageError

REACHED, ANSWERED, TRIED = 10, 30, 60
"""Seconds until a host is reached, until it answers once, and for which it is tried again where it is busy."""

UNITY_SYSTEM_SCHEMAS = frozenset({"information_schema"})


class UnityCatalog(QueriedCatalog):
    """A Unity catalog; the token is DATABRICKS_TOKEN, and other ways of signing in are the SDK's own."""

    dialect = "databricks"
    default_schema = "default"

    @staticmethod
    def _secret() -> str:
        return "set DATABRICKS_TOKEN"

    def rows(self) -> CatalogRows:
        """Return the columns of all tables and views of the catalog, or of one schema of it."""
        address = urlsplit(self.url)
        catalog, _, schema = address.path.strip("/").partition("/")
        if not catalog:
            raise LineageError(f"{self.url}: name a catalog: databricks://{address.hostname}/CATALOG")
        try:
            client = self._open_client(address)
            schemas = [schema] if schema else [item.name or "" for item in client.schemas.list(catalog)]
            return [
                row
                for name in schemas
                if name not in UNITY_SYSTEM_SCHEMAS
                for row in _iter_column_rows(client, catalog, name)
            ]
        except (DatabricksError, ValueError, OSError) as error:
            raise LineageError(f"{self.url}: {error_line(error)}") from None

    def _open_client(self, address: SplitResult) -> Any:
        """Open a client; an unreachable host fails at once, and not after all retries of the SDK."""
        scheme, port = ("http", 80) if address.hostname in ("localhost", "127.0.0.1") else ("https", 443)
        if not any(self.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
            socket.create_connection((address.hostname or "", address.port or port), REACHED).close()
        config = Config(
            host=f"{scheme}://{address.netloc.rpartition('@')[2]}",
            token=self.environ.get("DATABRICKS_TOKEN"),
            http_timeout_seconds=ANSWERED,
            retry_timeout_seconds=TRIED,
        )
        return WorkspaceClient(config=config)


def _iter_column_rows(client: Any, catalog: str, schema: str) -> Iterator[tuple[Any, ...]]:
    for table in client.tables.list(catalog, schema):
        kind = getattr(table.table_type, "value", "") or ""
        for column in sorted(table.columns or (), key=lambda column: column.position or 0):
            nullable = column.nullable is not False
            said = (column.name, column.type_text, nullable, column.comment, table.comment)
            yield (schema, table.name, "VIEW" in kind, *said)
