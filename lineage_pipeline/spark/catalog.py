"""The catalog of the Spark session: `spark://` for the current one, `spark://catalog` or `spark://catalog/schema`."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lineage_pipeline.config.models import SparkSettings
from lineage_pipeline.discover.schemas.sql_catalogs import CatalogRows, QueriedCatalog, error_line
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.spark.session import get_session


class SparkCatalog(QueriedCatalog):
    """Tables and views of the active session, or of one that is started with our own defaults."""

    dialect = "spark"
    default_schema = "default"

    def rows(self) -> CatalogRows:
        """Return the columns of all tables and views that are not temporary."""
        spark = SparkSession.getActiveSession() or get_session(SparkSettings())
        address = urlsplit(self.url)
        try:
            return list(_catalog_rows(spark, address.netloc, address.path.strip("/")))
        except PySparkException as error:
            raise LineageError(f"{self.url}: {error_line(error)}") from None


def _catalog_rows(spark: SparkSession, catalog: str, schema: str) -> Iterator[tuple[Any, ...]]:
    before = spark.catalog.currentCatalog()
    spark.catalog.setCurrentCatalog(catalog or before)
    try:
        for name in [schema] if schema else sorted(database.name for database in spark.catalog.listDatabases()):
            for table in spark.catalog.listTables(name):
                if table.isTemporary:
                    continue
                for column in spark.catalog.listColumns(f"`{name}`.`{table.name}`"):
                    said = (column.name, column.dataType, column.nullable, column.description, table.description)
                    yield (name, table.name, table.tableType == "VIEW", *said)
    finally:
        spark.catalog.setCurrentCatalog(before)
