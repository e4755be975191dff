"""Live catalogs of DuckDB and PostgreSQL: one query returns all columns of all tables."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable
from lineage_pipeline.discover.schemas.schema_documents import write_ddl
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.model.errors import LineageError

CatalogRows = Sequence[tuple[Any, ...]]
"""Schema, table, whether it is a view, column, type, nullability, comments on column and table."""


class QueriedCatalog(ABC):
    """A catalog that one query reads completely."""

    dialect = ""
    default_schema = ""

    def __init__(self, url: str, environ: Mapping[str, str], root: Path) -> None:
        """Store the address."""
        self.url = url
        self.environ = environ
        self.root = root

    @classmethod
    def configure(cls, url: str, environ: Mapping[str, str], root: Path) -> Self:
        """Create the catalog; addresses with a password are refused, as they end up in logs and histories."""
        if urlsplit(url).password:
            raise LineageError(f"{_redact_password(url)}: leave the password out of the address; {cls._secret()}")
        return cls(url, environ, root)

    @staticmethod
    def _secret() -> str:
        return "give it in the environment"

    @abstractmethod
    def rows(self) -> CatalogRows:
        """Query the database."""

    @cached_property
    def _known(self) -> dict[str, ImportedTable]:
        grouped: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
        for row in self.rows():
            grouped.setdefault((row[0], row[1]), []).append(row)
        return {f"{schema}.{name}": self._table(schema, name, rows) for (schema, name), rows in sorted(grouped.items())}

    def _table(self, schema: str, name: str, rows: CatalogRows) -> ImportedTable:
        columns = tuple(ImportedColumn(row[3], row[4], row[5], row[6] or None, quoted=True) for row in rows)
        kind = ObjectKind.VIEW if rows[0][2] else ObjectKind.TABLE
        return ImportedTable(((schema, True), (name, True)), columns, kind, description=rows[0][7], source=self.url)

    def list(self) -> Sequence[str]:
        """Return the names of all tables and views."""
        return tuple(self._known)

    def get_ddl(self, name: str) -> str:
        """Return the DDL of one table."""
        return self.get_ddl_batch([name])[name]

    def get_ddl_batch(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the DDL of several tables."""
        strange = [name for name in names if name not in self._known]
        if strange:
            raise LineageError(f"{self.url} has no {strange[0]}")
        return {name: write_ddl(self._known[name], self.dialect) for name in names}

    def tables(self) -> Iterator[ImportedTable]:
        """Return all tables."""
        return iter(self._known.values())


class DuckDbCatalog(QueriedCatalog):
    """A DuckDB file, opened read-only: `duckdb:///path/to/file.duckdb`."""

    dialect = "duckdb"
    default_schema = "main"

    def rows(self) -> CatalogRows:
        """Query the columns of tables and views of the file itself."""
        import duckdb

        path = urlsplit(self.url).path
        near = self.root / path.removeprefix("/")  # three slashes: as the settings see it, unless only the other exists
        path = str(near if near.is_file() or not Path(path).is_file() else path)
        if not Path(path).is_file():
            raise LineageError(f"{self.url}: there is no file {path}")
        try:
            with duckdb.connect(str(path), read_only=True) as connection:
                return connection.execute(DUCKDB_COLUMNS_QUERY).fetchall()
        except duckdb.Error as error:
            raise LineageError(f"{self.url}: {error_line(error)}") from None


class PostgresCatalog(QueriedCatalog):
    """A PostgreSQL database: `postgresql://user@host/database`; the password is PGPASSWORD or a password file."""

    dialect = "postgres"
    default_schema = "public"

    @staticmethod
    def _secret() -> str:
        return "set PGPASSWORD, or use a password file"

    def rows(self) -> CatalogRows:
        """Query the columns of all schemas but the system ones."""
        import psycopg

        try:
            with psycopg.connect(self.url, password=self.environ.get("PGPASSWORD"), connect_timeout=10) as connection:
                return connection.execute(POSTGRES_COLUMNS_QUERY).fetchall()
        except psycopg.Error as error:
            raise LineageError(f"{_redact_password(self.url)}: {error_line(error)}") from None


DUCKDB_COLUMNS_QUERY = """
select c.schema_name, c.table_name, v.view_name is not null, c.column_name, c.data_type, c.is_nullable, c.comment,
       coalesce(t.comment, v.comment)
from duckdb_columns() c
left join duckdb_views() v
  on v.database_name = c.database_name and v.schema_name = c.schema_name and v.view_name = c.table_name
left join duckdb_tables() t
  on t.database_name = c.database_name and t.schema_name = c.schema_name and t.table_name = c.table_name
where c.database_name = current_database() and not c.internal
order by c.schema_name, c.table_name, c.column_index
"""

POSTGRES_COLUMNS_QUERY = """
select n.nspname, c.relname, c.relkind in ('v', 'm'), a.attname, format_type(a.atttypid, a.atttypmod),
       not a.attnotnull, col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class')
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_t%'
order by n.nspname, c.relname, a.attnum
"""


def _redact_password(url: str) -> str:
    """Return an address without a password."""
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", ":***@") if parts.password else url


def error_line(error: Exception) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split())
