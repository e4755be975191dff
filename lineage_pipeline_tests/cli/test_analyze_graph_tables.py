"""`analyze`, `graph` and `tables`: flows and tables as text, JSON and CSV."""

import csv
import io
import json
import os
from pathlib import Path

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.queries.lineage import Lineage

SQL = """create table raw.orders (id int, amount int, kind text);
create view stg.orders as select id, amount * 2 as total from raw.orders where kind = 'a';
create view mart.sales as with c as (select * from stg.orders) select total as revenue from c;
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("LINEAGE_"):
            monkeypatch.delenv(name)
    (tmp_path / "a.sql").write_text(SQL)
    return tmp_path


def flows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["analyze", "a.sql", "--dialect", "postgres", *arguments, "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["flows"]
    return [
        f"{one['to_object']}.{one['to_column']} <- {one['from_object']}.{one['from_column']} {one['subtype']}"
        for one in found
    ]


@pytest.mark.usefixtures("here")
def test_forward_an_output_column_has_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert flows(capsys, "--column", "revenue") == ["mart.sales.revenue <- stg.orders.total IDENTITY"]
    assert flows(capsys, "--column", "stg.orders.TOTAL") == [
        "stg.orders.total <- raw.orders.amount TRANSFORMATION",
        "stg.orders.total <- raw.orders.kind FILTER",
    ]


@pytest.mark.usefixtures("here")
def test_reverse_a_source_has_its_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert flows(capsys, "--source-column", "raw.orders.kind") == [
        "stg.orders.id <- raw.orders.kind FILTER",
        "stg.orders.total <- raw.orders.kind FILTER",
    ]
    assert flows(capsys, "--source-table", "stg.orders") == ["mart.sales.revenue <- stg.orders.total IDENTITY"]
    assert flows(capsys, "--level", "table", "--source-table", "raw.orders") == [
        "stg.orders.None <- raw.orders.None None"
    ]
    assert flows(capsys, "--level", "table", "--table", "mart.sales") == ["mart.sales.None <- stg.orders.None None"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--column", "nothing"], 1, "no statement writes a column nothing; written are revenue, id, total"),
        (["--column", "stg.orders.nothing"], 1, "stg.orders has no column nothing; it has id, total"),
        (["--source-column", "raw.orders.amout"], 1, "did you mean amount?"),
        (["--table", "raw.order"], 1, "did you mean raw.orders?"),
        (["--column", "a", "--source-column", "b"], 2, "ask one at a time"),
        (["--column", "a", "--source-table", "b"], 2, "ask one at a time"),
        (["--level", "row"], 2, "'row' is not one of"),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_wrong_selector_is_an_error_message(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "a.sql", "--dialect", "postgres", *arguments]) == code
    shown = capsys.readouterr()
    assert (shown.out, told in shown.err) == ("", True)


def test_analyze_as_csv_has_a_row_a_flow(here: Path) -> None:
    assert main(["analyze", "a.sql", "-f", "csv", "-o", "out.csv"]) == 0
    rows = list(csv.DictReader(io.StringIO((here / "out.csv").read_text(encoding="utf-8"))))
    assert [row["to_column"] for row in rows if row["type"] == "DIRECT"] == ["id", "total", "revenue"]
    assert [row["to_column"] for row in rows if row["type"] == "INDIRECT"] == ["*"]
    assert rows[0]["line"] == "2"
    assert main(["analyze", "a.sql", "-f", "csv", "--expand", "-o", "out.csv"]) == 0
    rows = list(csv.DictReader(io.StringIO((here / "out.csv").read_text(encoding="utf-8"))))
    assert [row["to_column"] for row in rows if row["type"] == "INDIRECT"] == ["id", "total"]


@pytest.mark.parametrize(("sql", "code"), [("select * from nowhere", 1), ("select a from nowhere", 0), (SQL, 0)])
def test_no_star_is_a_gate(here: Path, sql: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.sql").write_text(sql)
    assert main(["analyze", "b.sql", "--no-star"]) == code
    assert ("APPROXIMATE_LINEAGE" in capsys.readouterr().err) == bool(code)
    assert main(["graph", "build", "b.sql", "--no-star", "-o", "b.lineage"]) == code


def test_graphs_are_built_merged_asked_and_exported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.sql").write_text("create view top.v as select revenue from mart.sales;")
    (here / "list.csv").write_text("file_path,dialect\na.sql,postgres\n")
    assert main(["graph", "build", "--manifest", "list.csv", "-o", "a.lineage", "--dump-schema", "s.json"]) == 0
    assert main(["graph", "build", "b.sql", "-o", "b.json"]) == 0
    assert main(["graph", "merge", "a.lineage", "b.json", "-o", "all.json"]) == 0
    assert "4 objects" in capsys.readouterr().err
    assert main(["graph", "query", "all.json", "--upstream", "top.v.revenue", "-f", "json"]) == 0
    reached = json.loads(capsys.readouterr().out)["reached"]
    assert {(one["object"], one["column"]) for one in reached if one["root"]} == {
        ("raw.orders", "amount"),
        ("raw.orders", "kind"),
    }
    assert main(["graph", "query", "all.json", "-d", "raw.orders", "--level", "table", "-f", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["object"], row["hops"]) for row in rows] == [("stg.orders", "1"), ("mart.sales", "2"), ("top.v", "3")]
    assert main(["graph", "export", "all.json", "--format", "json", "-o", "again.json"]) == 0
    assert Lineage.load("again.json").rows == Lineage.load("all.json").rows
    assert main(["graph", "query", "all.json"]) == 2
    assert main(["graph", "export", "all.json", "--format", "jsn"]) == 2
    assert main(["graph", "build", "a.sql", "-o", "a.txt"]) == 2
    assert "ends in .lineage or .json" in capsys.readouterr().err


def test_tables_are_listed_with_their_use(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.sql").write_text("insert into raw.orders select * from elsewhere.x;")
    assert main(["tables", "overview", "a.sql", "b.sql", "--dialect", "postgres", "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["tables"]
    assert [(one["object"], one["usage"], one["type"]) for one in found] == [
        ("c", "INPUT", "CTE"),
        ("elsewhere.x", "INPUT", "UNKNOWN"),
        ("mart.sales", "OUTPUT", "VIEW"),
        ("raw.orders", "BOTH", "TABLE"),
        ("stg.orders", "BOTH", "VIEW"),
    ]
    assert main(["tables", "overview", "a.sql", "--table", "raw.*"]) == 0
    assert capsys.readouterr().out == "BOTH    TABLE    raw.orders\n"


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_scraped_schemas_can_be_given_again(here: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "scrape", "a.sql", "--dialect", "postgres", "-f", suffix, "-o", f"s.{suffix}"]) == 0
    (here / "b.sql").write_text("create view v as select * from stg.orders")
    assert (
        main(["analyze", "b.sql", "--dialect", "postgres", "--schema", f"s.{suffix}", "--no-star", "-f", "json"]) == 0
    )
    columns = {
        one["name"]: one["type"] for one in json.loads(capsys.readouterr().out)["columns"] if one["object"] == "v"
    }
    assert columns == {"id": "INT", "total": "INT"}


def test_definitions_are_pulled_from_a_live_catalog(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(here / "shop.duckdb")) as engine:
        engine.execute("create schema raw; create table raw.people (id int not null, name varchar)")
    (here / "b.sql").write_text("create view v as select * from raw.people join raw.unknown using (id)")
    arguments = ["tables", "pull", "b.sql", "--dialect", "duckdb", "--catalog", "duckdb:///shop.duckdb"]
    assert main([*arguments, "-o", "ddl"]) == 0
    assert "raw.unknown is not in the catalog" in capsys.readouterr().err
    text = (here / "ddl" / "raw.people.sql").read_text()
    with duckdb.connect() as engine:
        engine.execute("create schema raw")
        engine.execute(text)
        assert engine.sql("describe raw.people").fetchall()[0][:3] == ("id", "INTEGER", "NO")
    assert main(["analyze", "b.sql", "--dialect", "duckdb", "--schema", "ddl", "--column", "name"]) == 0


def test_table_names_cannot_escape_the_output_folder(here: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (here / "inner").mkdir()
    with duckdb.connect(str(here / "shop.duckdb")) as engine:
        engine.execute('create table "../../evil" (id int); create table "/tmp/a/b" (id int)')
    (here / "b.sql").write_text('create view v as select * from "../../evil" cross join "/tmp/a/b"')
    catalog = "duckdb:///shop.duckdb"
    assert main(["tables", "pull", "b.sql", "-d", "postgres", "--catalog", catalog, "-o", "inner/ddl"]) == 0
    assert main(["catalog", "pull", catalog, "-o", "inner/all"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["a.sql", "b.sql", "inner", "shop.duckdb"]
    for folder in ("ddl", "all"):
        assert len(list((here / "inner" / folder).rglob("*.sql"))) == 2


@pytest.mark.parametrize(
    "arguments", [["scan"], ["scan", "-o", "x.lineage"], ["analyze", "a.sql"], ["export", "text"], ["export", "dot"]]
)
@pytest.mark.usefixtures("here")
def test_only_lists_of_edges_are_expanded(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--expand"]) == 2
    assert "--expand" in capsys.readouterr().err
    for other in (["scan", "-f", "json"], ["analyze", "a.sql", "-f", "json"], ["export", "json"]):
        assert main([*other, "--expand"]) == 0
        edges = json.loads(capsys.readouterr().out)["column_edges"]
        assert [edge["to_column"] for edge in edges if edge["wide"]] == ["id", "total"]
