"""Live catalogs: real engines, a plug-in from a wheel that is really built, and the schemas imported from them."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from lineage_pipeline.cli.app import app
from lineage_pipeline.discover.schemas.catalog_registry import open_catalog
from lineage_pipeline.discover.schemas.protocol import Catalog
from lineage_pipeline.discover.schemas.schema_sources import import_schemas
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.oracles.server import installed, running

PLUGIN = """
class Toy:
    dialect = "postgres"
    default_schema = "public"

    def __init__(self, url, secret):
        self.url, self.secret = url, secret

    @classmethod
    def configure(cls, url, environ, root):
        return cls(url, environ.get("TOY_SECRET", ""))

    def list(self):
        return ["public.orders", "public.totals"]

    def get_ddl(self, name):
        return self.get_ddl_batch([name])[name]

    def get_ddl_batch(self, names):
        known = {
            "public.orders": "create table orders (id bigint not null, amount numeric(10,2))",
            "public.totals": "create view totals as select cast(null as numeric) as total",
        }
        return {name: known[name] for name in names}
"""

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "toy-catalog"
version = "1.0"

[project.entry-points."lineage_pipeline.catalogs"]
toy = "toy_catalog:Toy"
"""


def _render_schemas(schemas: Any) -> list[Any]:
    """What an import says, but for where it was read."""
    return [
        (
            name,
            schema.kind,
            schema.open,
            schema.description,
            [(c.name, c.written, c.type, c.nullable, c.description) for c in schema.columns],
        )
        for name, schema in sorted(schemas.items())
    ]


def _render_column(column: Any) -> tuple[Any, ...]:
    return column.name, column.written, column.type, column.nullable, column.description


def run_command(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def assert_import_matches(url: str, dialect: str, folder: Path, environ: dict[str, str]) -> list[str]:
    """Pull a catalog in all ways; each is read as the catalog itself is. Gives the names of its tables."""
    options = Options(dialect)
    direct = import_schemas([url], options, folder, environ)
    run_command("catalog", "pull", url, "-o", str(folder / "schema.json"))
    run_command("catalog", "pull", url, "-o", str(folder / "ddl"))
    run_command("catalog", "pull", url, "-o", str(folder / "all.sql"))
    for place in ("schema.json", "ddl", "all.sql"):
        found = import_schemas([place], options, folder, environ)
        assert _render_schemas(found.schemas) == _render_schemas(direct.schemas), place
        assert found.findings == direct.findings
    return run_command("catalog", "list", url).split("\n")[:-1]


def test_schemas_imported_from_duckdb_give_the_same_lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("w.duckdb") as connection:
        connection.execute(
            """create schema shop; create schema "Odd.Schema";
            create table shop.orders (id integer not null, "Total Sum" decimal(10, 2), l integer[]);
            create table "Odd.Schema"."a b" ("select" varchar); create table "Odd.Schema"."a:b" (x date);
            comment on table shop.orders is 'it''s all'; comment on column shop.orders.id is 'the key';
            create view shop.v as select id, "Total Sum" * 2 as t from shop.orders"""
        )
    names = assert_import_matches("duckdb:///w.duckdb", "duckdb", tmp_path, {})
    assert names == ["Odd.Schema.a b", "Odd.Schema.a:b", "shop.orders", "shop.v"]
    assert run_command("catalog", "list", "duckdb:///w.duckdb", "--only", "shop.o*") == "shop.orders\n"
    assert "CREATE VIEW" in open_catalog("duckdb:///w.duckdb", {}, tmp_path).get_ddl("shop.v")


def test_any_sqlalchemy_address_is_a_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connection = sqlite3.connect("shop.db")
    connection.executescript(
        "create table orders (id integer primary key, total numeric(10,2) not null, note text);"
        "create view v as select id, total from orders"
    )
    connection.close()
    catalog = open_catalog("sqlite:///shop.db", {}, tmp_path)
    assert (catalog.dialect, catalog.default_schema, list(catalog.list())) == (
        "sqlite",
        "main",
        ["main.orders", "main.v"],
    )
    assert isinstance(catalog.catalog, Catalog)
    assert assert_import_matches("sqlite:///shop.db", "sqlite", tmp_path, {}) == ["main.orders", "main.v"]
    (tmp_path / "q.sql").write_text("create table t as select * from orders")
    found = json.loads(
        run_command("scan", "q.sql", "-d", "sqlite", "--schema", "sqlite:///shop.db", "--format", "json")
    )
    assert [column["name"] for column in found["columns"] if column["object"] == "t"] == ["id", "total", "note"]


@pytest.mark.postgres
def test_schemas_imported_from_postgres_give_the_same_lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.chdir(tmp_path)
    with running(installed()) as socket:
        with psycopg.connect(f"host={socket} user=lineage dbname=postgres", autocommit=True) as connection:
            connection.execute(
                """create schema shop; create table shop."Orders" (id bigint not null, "Total" numeric(10, 2),
                tags text[], at timestamptz, j jsonb, c char(3)); comment on column shop."Orders".id is 'the key';
                create view shop.v as select id from shop."Orders";
                create materialized view public.m as select 1 as one"""
            )
        url = f"postgresql://lineage@/postgres?host={socket}"
        names = assert_import_matches(url, "postgres", tmp_path, {})
        assert names == ["public.m", "shop.Orders", "shop.v"]
        through = f"postgresql+psycopg://lineage@/postgres?host={socket}"
        assert list(open_catalog(through, {}, tmp_path).list()) == ["shop.Orders", "shop.v"]


@pytest.mark.spark
def test_the_catalog_of_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lineage_pipeline.config.models import SparkSettings
    from lineage_pipeline.spark.session import get_session

    monkeypatch.chdir(tmp_path)
    spark = get_session(SparkSettings())
    spark.sql(f"create database if not exists pulled location '{tmp_path}/db'")
    try:
        spark.sql("create table pulled.orders (id bigint comment 'the key', total decimal(10,2)) using parquet")
        spark.sql("create view pulled.v as select id, total * 2 as t from pulled.orders")
        spark.sql("create temporary view passing as select 1 as one")
        names = assert_import_matches("spark:///pulled", "spark", tmp_path, {})
        assert names == ["pulled.orders", "pulled.v"]
        assert set(names) <= set(open_catalog("spark://", {}, tmp_path).list())
    finally:
        spark.sql("drop database pulled cascade")


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plug-in in it, installed from a wheel that was built here."""
    home = tmp_path_factory.mktemp("plugin")
    (home / "toy_catalog.py").write_text(PLUGIN)
    (home / "pyproject.toml").write_text(PROJECT)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    offline = ["--no-deps", "--no-index"]
    subprocess.run([*pip, "wheel", str(home), "--no-build-isolation", *offline, "-w", str(home / "dist")], check=True)
    (wheel,) = (home / "dist").glob("*.whl")
    subprocess.run([*pip, "install", str(wheel), *offline, "--target", str(home / "site")], check=True)
    return home / "site"


def test_a_plug_in_from_a_wheel_is_a_catalog(plugged: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(plugged), *sys.path])}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline.cli", *words]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)

    assert run("catalog", "list", "toy://here").stdout == "public.orders\npublic.totals\n"
    (tmp_path / "q.sql").write_text("create view v as select o.*, t.total from orders o, totals t")
    direct = run("scan", "q.sql", "-d", "postgres", "--schema", "toy://here", "--format", "json")
    columns = [(row["name"], row["type"]) for row in json.loads(direct.stdout)["columns"] if row["object"] == "v"]
    assert columns == [("id", "BIGINT"), ("amount", "DECIMAL(10,2)"), ("total", "DECIMAL")]
    assert run("catalog", "pull", "toy://here", "-o", "schema.json").returncode == 0
    again = run("scan", "q.sql", "-d", "postgres", "--schema", "schema.json", "--format", "json")
    edges = [json.loads(text.stdout)["column_edges"] for text in (direct, again)]
    assert edges[0] == edges[1]
    other = run("catalog", "list", "nosuch://here")
    assert other.returncode == 2
    assert "there is no catalog nosuch" in other.stderr


@pytest.mark.parametrize(
    ("module", "url", "says"),
    [
        (
            "databricks",
            "databricks://host/main",
            r"databricks:// needs databricks: pip install 'lineage-pipeline\[databricks\]'",
        ),
        ("duckdb", "duckdb:///x.duckdb", r"pip install 'lineage-pipeline\[catalog\]'"),
        ("psycopg", "postgresql://host/db", r"pip install 'lineage-pipeline\[catalog\]'"),
        ("sqlalchemy", "sqlite:///x.db", "with SQLAlchemy installed whatever it can open: pip install sqlalchemy"),
        ("MySQLdb", "mysql://host/db", "needs the Python package MySQLdb: pip install mysqlclient"),
        ("snowflake", "snowflake://host/db", "snowflake:// needs another package: pip install snowflake-sqlalchemy"),
    ],
)
def test_a_missing_extra_is_named(
    module: str, url: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x.duckdb").touch()
    for name in [
        name
        for name in sys.modules
        if name.endswith((".unity_catalog", ".sqlalchemy_catalog")) or name.startswith(f"{module}.")
    ]:
        monkeypatch.delitem(sys.modules, name)  # one that an earlier test has loaded would be found
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LineageError, match=says):
        list(open_catalog(url, {}, tmp_path).tables())


def test_an_unreachable_host_fails_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(LineageError, match=rf"databricks://127.0.0.1:{port}/main: .*refused"):
        list(open_catalog(f"databricks://127.0.0.1:{port}/main", {"DATABRICKS_TOKEN": "x"}, tmp_path).tables())


def test_passwords_are_taken_from_the_environment_alone(tmp_path: Path) -> None:
    for url in ("mysql+pymysql://me:secret@host/db", "databricks://token:secret@host/main"):
        with pytest.raises(LineageError) as error:
            open_catalog(url, {}, tmp_path)
        assert "secret" not in str(error.value)
