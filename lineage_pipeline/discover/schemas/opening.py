"""Catalogs by the scheme of their address: our own, those that plug in, and whatever SQLAlchemy can open."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from lineage_pipeline.discover.schemas.ddl import metadata_of_ddl
from lineage_pipeline.discover.schemas.model import ImportedTable
from lineage_pipeline.discover.schemas.protocol import ENTRY_POINTS, Catalog
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.errors import LineageError

_OWN = "lineage_pipeline.discover.schemas"
CATALOGS: Mapping[str, str] = {
    "databricks": f"{_OWN}.unity:UnityCatalog",
    "duckdb": f"{_OWN}.catalogs:DuckDbCatalog",
    "postgres": f"{_OWN}.catalogs:PostgresCatalog",
    "postgresql": f"{_OWN}.catalogs:PostgresCatalog",
    "spark": "lineage_pipeline.spark.catalog:SparkCatalog",
}
"""Who reads a catalog, by the scheme of its address; each is imported when it is asked for."""

OTHERS = f"{_OWN}.alchemy:AlchemyCatalog"
"""Who reads all other addresses."""

EXTRAS = {"databricks": "databricks", "duckdb": "catalog", "psycopg": "catalog", "pyspark": "pipeline"}
"""The extra of our package that brings a module."""


DRIVERS = {"MySQLdb": "mysqlclient", "psycopg2": "psycopg2-binary", "cx_Oracle": "cx-Oracle"}
"""What brings a driver that is called otherwise than its package."""


class Opened:
    """A configured catalog; what it does not say itself of its tables is read from its DDL."""

    def __init__(self, catalog: Catalog, url: str) -> None:
        """Keep the catalog."""
        self.catalog = catalog
        self.url = url
        self.dialect = catalog.dialect
        self.default_schema = catalog.default_schema

    def list(self) -> Sequence[str]:
        """Name all tables and views."""
        with _explained(self.url):
            return self.catalog.list()

    def get_ddl(self, name: str) -> str:
        """Give the DDL of one table."""
        return self.catalog.get_ddl(name)

    def get_ddl_batch(self, names: Sequence[str]) -> Mapping[str, str]:
        """Give the DDL of several tables."""
        with _explained(self.url):
            return self.catalog.get_ddl_batch(names)

    def tables(self) -> Iterator[ImportedTable]:
        """Give all tables in the order of `list`."""
        return iter(self._known.values())

    def get(self, name: str) -> ImportedTable:
        """Give one table."""
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
                [name], next(iter(metadata_of_ddl(texts[name], f"{self.url}#{name}", options).tables))
            )
        return found


def open_catalog(url: str, environ: Mapping[str, str], root: Path = Path()) -> Opened:
    """Configure the catalog of an address; nothing is asked of it yet."""
    scheme = url.partition("://")[0].lower()
    plugged = {point.name.lower(): point for point in metadata.entry_points(group=ENTRY_POINTS)}
    place = CATALOGS.get(scheme)
    with _explained(url):
        found = _imported(place) if place else plugged[scheme].load() if scheme in plugged else _imported(OTHERS)
        return Opened(found.configure(url, environ, root), url)


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Say what to install where a package is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise LineageError(_missing(url.partition("://")[0], error)) from None


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _missing(scheme: str, error: ModuleNotFoundError) -> str:
    package = (error.name or "").partition(".")[0]
    if package in EXTRAS:
        return f"{scheme}:// needs {package}: pip install 'lineage-pipeline[{EXTRAS[package]}]'"
    if package == "sqlalchemy":
        words = ", ".join(sorted(CATALOGS))
        return (
            f"there is no catalog {scheme}; known are {words}, and with SQLAlchemy installed whatever it can open: "
            "pip install sqlalchemy"
        )
    return f"{scheme}:// needs the Python package {package}: pip install {DRIVERS.get(package, package)}"
