"""Live catalogs: the user's own engine says which tables it has, in one question."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable
from lineage_pipeline.discover.schemas.written import ddl_of
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import ObjectKind

Rows = Sequence[tuple[Any, ...]]
"""Schema, table, whether it is a view, column, type, whether it may be null, comments on column and table."""


class Queried(ABC):
    """A catalog that one query reads whole."""

    dialect = ""
    default_schema = ""

    def __init__(self, url: str, environ: Mapping[str, str], root: Path) -> None:
        """Keep the address."""
        self.url = url
        self.environ = environ
        self.root = root

    @classmethod
    def configure(cls, url: str, environ: Mapping[str, str], root: Path) -> Self:
        """Refuse addresses with a password: they end up in logs and histories."""
        if urlsplit(url).password:
            raise LineageError(f"{_hidden(url)}: leave the password out of the address; {cls._secret()}")
        return cls(url, environ, root)

    @staticmethod
    def _secret() -> str:
        return "give it in the environment"

    @abstractmethod
    def rows(self) -> Rows:
        """Ask the engine."""

    @cached_property
    def _known(self) -> dict[str, ImportedTable]:
        grouped: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
        for row in self.rows():
            grouped.setdefault((row[0], row[1]), []).append(row)
        return {f"{schema}.{name}": self._table(schema, name, rows) for (schema, name), rows in sorted(grouped.items())}

    def _table(self, schema: str, name: str, rows: Rows) -> ImportedTable:
        columns = tuple(ImportedColumn(row[3], row[4], row[5], row[6] or None, quoted=True) for row in rows)
        kind = ObjectKind.VIEW if rows[0][2] else ObjectKind.TABLE
        return ImportedTable(((schema, True), (name, True)), columns, kind, description=rows[0][7], source=self.url)

    def list(self) -> Sequence[str]:
        """Name all tables and views."""
        return tuple(self._known)

    def get_ddl(self, name: str) -> str:
        """Give the DDL of one table."""
        return self.get_ddl_batch([name])[name]

    def get_ddl_batch(self, names: Sequence[str]) -> Mapping[str, str]:
        """Give the DDL of several tables."""
        strange = [name for name in names if name not in self._known]
        if strange:
            raise LineageError(f"{self.url} has no {strange[0]}")
        return {name: ddl_of(self._known[name], self.dialect) for name in names}

    def tables(self) -> Iterator[ImportedTable]:
        """Give all tables."""
        return iter(self._known.values())


class DuckDbCatalog(Queried):
    """A DuckDB file, opened for reading only: `duckdb:///path/to/file.duckdb`."""

    dialect = "duckdb"
    default_schema = "main"

    def rows(self) -> Rows:
        """Ask for the columns of tables and views of the file itself."""
        import duckdb

        path = urlsplit(self.url).path
        near = self.root / path.removeprefix("/")  # three slashes: as the settings see it, unless only the other exists
        path = str(near if near.is_file() or not Path(path).is_file() else path)
        if not Path(path).is_file():
            raise LineageError(f"{self.url}: there is no file {path}")
        try:
            with duckdb.connect(str(path), read_only=True) as connection:
                return connection.execute(DUCKDB).fetchall()
        except duckdb.Error as error:
            raise LineageError(f"{self.url}: {one_line(error)}") from None


class PostgresCatalog(Queried):
    """A PostgreSQL database: `postgresql://user@host/database`; the password is PGPASSWORD or a password file."""

    dialect = "postgres"
    default_schema = "public"

    @staticmethod
    def _secret() -> str:
        return "set PGPASSWORD, or use a password file"

    def rows(self) -> Rows:
        """Ask for the columns of all schemas but the server's own."""
        import psycopg

        try:
            with psycopg.connect(self.url, password=self.environ.get("PGPASSWORD"), connect_timeout=10) as connection:
                return connection.execute(POSTGRES).fetchall()
        except psycopg.Error as error:
            raise LineageError(f"{_hidden(self.url)}: {one_line(error)}") from None


DUCKDB = """
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

POSTGRES = """
select n.nspname, c.relname, c.relkind in ('v', 'm'), a.attname, format_type(a.atttypid, a.atttypmod),
       not a.attnotnull, col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class')
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_t%'
order by n.nspname, c.relname, a.attnum
"""


def _hidden(url: str) -> str:
    """Give an address without a password."""
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", ":***@") if parts.password else url


def one_line(error: Exception) -> str:
    """Give what an error says, without its line ends."""
    return " ".join(str(error).split())
