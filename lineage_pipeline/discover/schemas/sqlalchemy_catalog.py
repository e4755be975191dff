"""Catalogs through SQLAlchemy: its inspector lists the tables with the types of the engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import sqlalchemy
from sqlalchemy import exc

from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.schemas.sql_catalogs import CatalogRows, QueriedCatalog, error_line
from lineage_pipeline.model.errors import LineageError

SQLALCHEMY_DIALECTS = {
    "mssql": "tsql",
    "postgresql": "postgres",
    "mariadb": "mysql",
    "awsathena": "athena",
    "hive": "hive",
}
"""Dialects that SQLAlchemy names differently."""

DIALECT_PACKAGES = {
    "awsathena": "'PyAthena[SQLAlchemy]'",
    "bigquery": "sqlalchemy-bigquery",
    "clickhouse": "clickhouse-sqlalchemy",
    "clickhousedb": "clickhouse-connect",
    "exa": "sqlalchemy-exasol",
    "hive": "'PyHive[hive]'",
    "ibm_db_sa": "ibm_db_sa",
    "presto": "'PyHive[presto]'",
    "redshift": "sqlalchemy-redshift",
    "snowflake": "snowflake-sqlalchemy",
    "teradatasql": "teradatasqlalchemy",
    "trino": "'trino[sqlalchemy]'",
    "vertica": "sqlalchemy-vertica-python",
}
"""Packages that provide SQLAlchemy dialects, by scheme."""

PASSWORD_VARIABLE = "LINEAGE_CATALOG_PASSWORD"  # noqa: S105 - the name of the variable, not what it holds
"""Environment variable with the password of an address without one."""

SYSTEM_SCHEMAS = frozenset("information_schema pg_catalog sys performance_schema mysql".split())


class SqlAlchemyCatalog(QueriedCatalog):
    """A database by an address of SQLAlchemy: `sqlite:///file.db`, `mysql+pymysql://user@host/database`."""

    def __init__(self, url: str, environ: Mapping[str, str], root: Path) -> None:
        """Open the address; a dialect or driver that is not installed is an error that names the package."""
        super().__init__(url, environ, root)
        try:
            address = sqlalchemy.engine.make_url(url)
            if address.username and not address.password and environ.get(PASSWORD_VARIABLE):
                address = address.set(password=environ[PASSWORD_VARIABLE])
            if address.get_backend_name() == "sqlite" and address.database:
                address = address.set(database=str(self._file(address.database)))
            self.engine = sqlalchemy.create_engine(address)
        except (exc.NoSuchModuleError, exc.ArgumentError) as error:
            scheme = url.partition("://")[0]
            package = DIALECT_PACKAGES.get(scheme.partition("+")[0])
            hint = f"{scheme}:// needs another package: pip install {package}" if package else error_line(error)
            raise LineageError(f"there is no catalog {scheme}: {hint}") from None
        name = self.engine.dialect.name
        mapped = SQLALCHEMY_DIALECTS.get(name, name)
        self.dialect = mapped if find_traits(mapped) is not None else ""

    @classmethod
    def configure(cls, url: str, environ: Mapping[str, str], root: Path) -> Self:
        """Create the catalog; the default schema is that of the connection."""
        opened = super().configure(url, environ, root)
        try:
            opened.default_schema = sqlalchemy.inspect(opened.engine).default_schema_name or ""
        except exc.SQLAlchemyError as error:
            raise LineageError(f"{url}: {error_line(error)}") from None
        return opened

    @staticmethod
    def _secret() -> str:
        return f"set {PASSWORD_VARIABLE}"

    def _file(self, path: str) -> Path:
        near = self.root / path
        if path != ":memory:" and not near.is_file():
            raise LineageError(f"{self.url}: there is no file {near}")
        return near

    def rows(self) -> CatalogRows:
        """Return the columns of all tables and views of all schemas but the system ones."""
        try:
            inspector = sqlalchemy.inspect(self.engine)
            schemas = [name for name in inspector.get_schema_names() if name.lower() not in SYSTEM_SCHEMAS]
            return [row for schema in schemas for row in self._schema(inspector, schema)]
        except exc.SQLAlchemyError as error:
            raise LineageError(f"{self.url}: {error_line(error)}") from None
        finally:
            self.engine.dispose()

    def _schema(self, inspector: Any, schema: str) -> list[tuple[Any, ...]]:
        views = set(inspector.get_view_names(schema=schema))
        found = []
        for table in sorted({*inspector.get_table_names(schema=schema), *views}):
            comment = self._comment(inspector, table, schema)
            for column in inspector.get_columns(table, schema=schema):
                kind = self._type(column["type"])
                said = (column["name"], kind, column.get("nullable", True), column.get("comment"))
                found.append((schema, table, table in views, *said, comment))
        return found

    def _type(self, kind: Any) -> str | None:
        try:
            return str(kind.compile(dialect=self.engine.dialect))
        except (exc.CompileError, exc.UnsupportedCompilationError):  # a type that the inspector does not know
            return None

    @staticmethod
    def _comment(inspector: Any, table: str, schema: str) -> str | None:
        try:
            found: str | None = inspector.get_table_comment(table, schema=schema).get("text")
        except NotImplementedError:
            return None
        return found
