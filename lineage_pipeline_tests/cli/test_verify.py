"""`lineage verify` compares our columns and types with the user's own database."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.dialects.duckdb import DUCKDB_TYPES
from lineage_pipeline.dialects.types.coercion import same_type
from lineage_pipeline_tests.oracles.server import installed, running

FILES = {
    "1_tables.sql": """
create table orders (id integer not null, customer varchar(20), placed date, total decimal(10, 2), paid boolean);
create table lines (order_id integer, amount integer, price decimal(8, 3));
create table gone (a integer);
""",
    "2_views.sql": """
create view daily as
select placed, sum(total) as total, count(*) as orders, max(customer) as last from orders group by placed;
create view priced as select o.*, l.amount * l.price as value from orders o join lines l on l.order_id = o.id;
create view outside as select r.code, upper(r.label) as label from raw.regions r;
""",
    "3_alter.sql": "alter table lines add column note text;\ndrop table gone;\n",
}
SOURCE = "create schema raw; create table raw.regions (code integer, label varchar(10))"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sql").mkdir()
    for name, text in FILES.items():
        (tmp_path / "sql" / name).write_text(text)
    return tmp_path / "sql"


@pytest.fixture
def database(tmp_path: Path) -> str:
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        for text in (SOURCE, *FILES.values()):
            connection.execute(text)
    return f"duckdb:///{tmp_path}/w.duckdb"


def test_a_database_made_by_the_files_has_no_difference(
    folder: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(folder), "--catalog", database]) == 0
    assert capsys.readouterr().out == f"{database}: 5 objects and 21 columns compared: no difference\n"


def test_differences_are_said_with_their_places(
    folder: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with duckdb.connect(database.removeprefix("duckdb:///")) as connection:
        connection.execute("drop view priced; drop view daily; alter table orders alter total type double")
        connection.execute("alter table orders add column late timestamp; alter table lines drop column note")
        connection.execute("alter table raw.regions rename label to caption")
        connection.execute("create or replace view priced as select 1 as value, id, customer from orders")
    assert main(["verify", str(folder), "--catalog", database]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == [
        "2_views.sql:5: r.label is not a column of r",
        "2_views.sql:2: main.daily: the engine has no such view",
        "1_tables.sql:3: main.lines: the engine has no column note (VARCHAR)",
        "1_tables.sql:2: main.orders: the engine has a column late (TIMESTAMP) that we do not know",
        "1_tables.sql:2: main.orders: total is DECIMAL(10,2) by our reading and DOUBLE in the engine",
        "2_views.sql:4: main.priced: the engine has no column paid (BOOLEAN)",
        "2_views.sql:4: main.priced: the engine has no column placed (DATE)",
        "2_views.sql:4: main.priced: the engine has no column total (DECIMAL(10,2))",
        "2_views.sql:4: main.priced: the columns stand as id, customer, value by our reading and as value, id, "
        "customer in the engine",
        "2_views.sql:4: main.priced: value is DECIMAL(18,3) by our reading and INTEGER in the engine",
    ]
    assert last.endswith(": 10 differences")
    assert main(["verify", str(folder), "--catalog", database, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["differences"][1] == {
        "object": "main.daily",
        "column": None,
        "kind": "missing object",
        "ours": "view",
        "theirs": None,
        "path": "2_views.sql",
        "line": 2,
    }


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ([], "name an engine: --catalog duckdb:///FILE"),
        (["--catalog", "duckdb:///none.duckdb"], "there is no file"),
        (["--catalog", "nosuch://host/x"], "there is no catalog nosuch"),
        (["--catalog", "{database}", "--system", "x"], "there is no system x"),
        (["--catalog", "postgresql://me@127.0.0.1:1/x"], "connection"),
    ],
)
def test_an_impossible_comparison_is_one_sentence_and_exit_2(
    flags: list[str], says: str, folder: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(folder), *(flag.format(database=database) for flag in flags)]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_a_folder_that_defines_nothing_cannot_be_compared(
    tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["verify", str(tmp_path / "empty"), "--catalog", database]) == 2
    assert "defines no table or view" in capsys.readouterr().err


@pytest.fixture
def server() -> Iterator[str]:
    import psycopg

    with running(installed()) as home:
        with psycopg.connect(host=home, user="lineage", dbname="postgres") as connection:
            for text in (SOURCE, *FILES.values()):
                connection.execute(text.encode())
        yield home


@pytest.mark.postgres
def test_postgres_is_compared_as_well(folder: Path, server: str, capsys: pytest.CaptureFixture[str]) -> None:
    import psycopg

    url = f"postgresql://lineage@/postgres?host={server}"
    assert main(["verify", str(folder), "--catalog", url]) == 0, capsys.readouterr().out
    assert "5 objects and 21 columns compared: no difference" in capsys.readouterr().out
    with psycopg.connect(host=server, user="lineage", dbname="postgres") as connection:
        connection.execute("drop view priced, daily; alter table orders alter column total type bigint")
        connection.execute("create view priced as select o.*, 1 as value from orders o")
        connection.execute("create view daily as select placed, 1::bigint as total, 2::bigint as orders from orders")
    assert main(["verify", str(folder), "--catalog", url]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "1_tables.sql:2: public.orders: total is DECIMAL(10,2) by our reading and BIGINT in the engine" in lines
    assert "2_views.sql:2: public.daily: the engine has no column last (TEXT)" in lines


@pytest.mark.postgres
def test_a_live_postgres_is_imported(server: str, tmp_path: Path) -> None:
    from lineage_pipeline.discover.schemas.schema_sources import import_schemas
    from lineage_pipeline.model.analysis import Options

    url = f"postgresql://lineage@/postgres?host={server}"
    found = import_schemas([url], Options("postgres"), tmp_path, {}).schemas
    assert [(c.name, c.type, c.nullable) for c in found["public.orders"].columns] == [
        ("id", "INT", False),
        ("customer", "VARCHAR(20)", True),
        ("placed", "DATE", True),
        ("total", "DECIMAL(10,2)", True),
        ("paid", "BOOLEAN", True),
    ]
    assert found["public.daily"].kind == "view"


def test_an_enumeration_is_the_type_that_the_user_named() -> None:
    assert same_type("MOOD", "ENUM('sad', 'happy')", DUCKDB_TYPES)
    assert same_type("ENUM('SAD','HAPPY')", "ENUM('sad', 'happy')", DUCKDB_TYPES)
    assert not same_type("VARCHAR", "ENUM('sad', 'happy')", DUCKDB_TYPES)
    assert not same_type("ENUM('sad')", "ENUM('sad', 'happy')", DUCKDB_TYPES)
