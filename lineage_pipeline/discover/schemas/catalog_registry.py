"""Catalogs by the scheme of their address: built-in ones, plug-ins, and whatever SQLAlchemy can open."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from lineage_pipeline.discover.schemas.ddl_files import parse_ddl_schema
from lineage_pipeline.discover.schemas.imported_tables import ImportedTable
from lineage_pipeline.discover.schemas.protocol import CATALOG_ENTRY_POINTS, Catalog
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.errors import LineageError

_PACKAGE = "lineage_pipeline.discover.schemas"
CATALOGS: Mapping[str, str] = {
    "databricks": f"{_PACKAGE}.unity_catalog:UnityCatalog",
    "duckdb": f"{_PACKAGE}.sql_catalogs:DuckDbCatalog",
    "postgres": f"{_PACKAGE}.sql_catalogs:PostgresCatalog",
    "postgresql": f"{_PACKAGE}.sql_catalogs:PostgresCatalog",
    "spark": "lineage_pipeline.spark.catalog:SparkCatalog",
}
"""Built-in catalogs by the scheme of their address; each is imported on demand."""

FALLBACK_CATALOG = f"{_PACKAGE}.sqlalchemy_catalog:SqlAlchemyCatalog"
"""The catalog of all other addresses."""

PACKAGE_EXTRAS = {"databricks": "databricks", "duckdb": "catalog", "psycopg": "catalog", "pyspark": "pipeline"}
"""The extra of our package that installs a module."""


DRIVER_PACKAGES = {"MySQLdb": "mysqlclient", "psycopg2": "psycopg2-binary", "cx_Oracle": "cx-Oracle"}
"""Packages of drivers whose module has another name."""


class OpenCatalog:
    """A configured catalog; tables that it does not describe itself are read from its DDL."""

    def __init__(self, catalog: Catalog, url: str) -> None:
        """Store the catalog."""
        self.catalog = catalog
        self.url = url
        self.dialect = catalog.dialect
        self.default_schema = catalog.default_schema

    def list(self) -> Sequence[str]:
        """Return the names of all tables and views."""
        with _explain_missing_package(self.url):
            return self.catalog.list()

    def get_ddl(self, name: str) -> str:
        """Return the DDL of one table."""
        return self.catalog.get_ddl(name)

    def get_ddl_batch(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the DDL of several tables."""
        with _explain_missing_package(self.url):
            return self.catalog.get_ddl_batch(names)

    def tables(self) -> Iterator[ImportedTable]:
        """Return all tables in the order of `list`."""
        return iter(self._known.values())

    def get(self, name: str) -> ImportedTable:
        """Return one table."""
        if name not in self._known:
            raise LineageError(f"{self.url} has no {name}")
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, ImportedTable]:
        own = getattr(self.catalog, "tables", None)
        names = self.list()
        if own is not None:
            return dict(zip(names, own(), strict=True))
        options = Options(self.dialect, default_schema=self.default_schema)
        texts = self.get_ddl_batch(names)
        found: dict[str, ImportedTable] = {}
        for name in names:
            found |= dict.fromkeys(
                [name], next(iter(parse_ddl_schema(texts[name], f"{self.url}#{name}", options).tables))
            )
        return found


def open_catalog(url: str, environ: Mapping[str, str], root: Path = Path()) -> OpenCatalog:
    """Configure the catalog of an address; no query is run yet."""
    scheme = url.partition("://")[0].lower()
    plugged = {point.name.lower(): point for point in metadata.entry_points(group=CATALOG_ENTRY_POINTS)}
    place = CATALOGS.get(scheme)
    with _explain_missing_package(url):
        found = (
            _import_by_path(place)
            if place
            else plugged[scheme].load()
            if scheme in plugged
            else _import_by_path(FALLBACK_CATALOG)
        )
        return OpenCatalog(found.configure(url, environ, root), url)


@contextmanager
def _explain_missing_package(url: str) -> Iterator[None]:
    """Turn a missing package into an error that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise LineageError(_missing_package_advice(url.partition("://")[0], error)) from None


def _import_by_path(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _missing_package_advice(scheme: str, error: ModuleNotFoundError) -> str:
    package = (error.name or "").partition(".")[0]
    if package in PACKAGE_EXTRAS:
        return f"{scheme}:// needs {package}: pip install 'lineage-pipeline[{PACKAGE_EXTRAS[package]}]'"
    if package == "sqlalchemy":
        words = ", ".join(sorted(CATALOGS))
        return (
            f"there is no catalog {scheme}; known are {words}, and with SQLAlchemy installed whatever it can open: "
            "pip install sqlalchemy"
        )
    return f"{scheme}:// needs the Python package {package}: pip install {DRIVER_PACKAGES.get(package, package)}"
