"""Names of bare queries: by settings, by the layout of folders, by the head of the file, else by its stem."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from lineage_pipeline.api import analyze, scan
from lineage_pipeline.cli import main
from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import AnalysisSettings
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.enums import ObjectKind
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.git_repositories import write_files

SELECT = "select id, total from raw.orders"


def read(files: Mapping[str, str], *patterns: str, dialect: str = "bigquery") -> LineageTables:
    """The lineage of texts by path."""
    options = Options(dialect, query_names=patterns)
    return build_lineage([InputFile(path, text, options) for path, text in files.items()])


def names(lineage: LineageTables) -> dict[str, str]:
    """The objects that queries make, by file."""
    found = [row for row in lineage.objects if row.path is not None]
    return {row.object: f"{row.path} {row.kind.value}" for row in found}


LAYOUT = {
    "sql/p-1/core/orders_v1/query.sql": SELECT,
    "sql/p-1/core/orders_v1/view.sql": "create view `p-1`.core.orders as select * from `p-1`.core.orders_v1",
    "sql/p-1/core/users_v1/query.sql": "select id from raw.users",
    "sql/p-1/mart/sales/view.sql": "create view `p-1.mart.sales` as select u.id from `p-1.core.users_v1` as u",
}

CASES: Mapping[str, tuple[dict[str, str], dict[str, str]]] = {
    "the stem of the file": (
        {"reports/daily.sql": SELECT},
        {"daily": "reports/daily.sql query"},
    ),
    "of one stem in two folders, as many folders as tell them apart": (
        {"a/x/daily.sql": SELECT, "b/x/daily.sql": SELECT, "b/weekly.sql": SELECT},
        {"a.x.daily": "a/x/daily.sql query", "b.x.daily": "b/x/daily.sql query", "weekly": "b/weekly.sql query"},
    ),
    "of one path but for the ending, the whole path": (
        {"a/daily.sql": SELECT, "a/daily.hql": SELECT},
        {'"a/daily.sql"': "a/daily.sql query", '"a/daily.hql"': "a/daily.hql query"},
    ),
    "several queries of a file are numbered": (
        {"daily.sql": f"{SELECT}; {SELECT}", "daily_2.sql": SELECT},
        {
            '"daily.sql"': "daily.sql query",
            '"daily.sql_2"': "daily.sql query",
            '"daily_2.sql"': "daily_2.sql query",
        },
    ),
    "a query is never merged with a table of its name": (
        {"orders.sql": "select * from orders"},
        {'"orders.sql"': "orders.sql query"},
    ),
    "the folder of a file whose stem says nothing": (
        {"daily/query.sql": SELECT, "daily/checks.sql": SELECT},
        {"daily": "daily/query.sql query", "checks": "daily/checks.sql query"},
    ),
    "the table that the folders name, where files agree that they do": (
        {**LAYOUT, "sql/p-1/core/unread_v1/query.sql": SELECT, "sql/p-1/core/unread_v1/part1.sql": SELECT},
        {
            '"p-1".core.orders': "sql/p-1/core/orders_v1/view.sql view",
            '"p-1".core.orders_v1': "sql/p-1/core/orders_v1/query.sql table",
            '"p-1".core.unread_v1': "sql/p-1/core/unread_v1/query.sql table",
            '"p-1".core.users_v1': "sql/p-1/core/users_v1/query.sql table",
            '"p-1".mart.sales': "sql/p-1/mart/sales/view.sql view",
            "part1": "sql/p-1/core/unread_v1/part1.sql query",
        },
    ),
    "a table of the folders is filled by one file alone, and by no test or program": (
        {
            **LAYOUT,
            "sql/p-1/core/users_v1/main.sql": SELECT,
            "tests/sql/p-1/core/orders_v1/query.sql": SELECT,
            "sql/p-1/core/users_v1/script.sql": "declare d date; select 1 as a from raw.x; select 2 as b from raw.x",
        },
        {
            '"p-1".core.orders': "sql/p-1/core/orders_v1/view.sql view",
            '"p-1".core.orders_v1': "sql/p-1/core/orders_v1/query.sql table",
            '"p-1".core.users_v1': "sql/p-1/core/users_v1/query.sql table",
            '"p-1".mart.sales': "sql/p-1/mart/sales/view.sql view",
            "orders_v1": "tests/sql/p-1/core/orders_v1/query.sql query",
            "users_v1": "sql/p-1/core/users_v1/main.sql query",
            "script": "sql/p-1/core/users_v1/script.sql query",
            "script_2": "sql/p-1/core/users_v1/script.sql query",
        },
    ),
    "a path that ends like a table that another file reads": (
        {"q/core/orders.sql": SELECT, "q/mart.sql": "select id from core.orders"},
        {"core.orders": "q/core/orders.sql table", "mart": "q/mart.sql query"},
    ),
    "stems are tables of one schema, where several files are read so": (
        {
            "lib/a/age.sql": "select 1 as age from raw.t",
            "lib/a/bmi.sql": "select age from d.age",
            "lib/b/sofa.sql": "select age from d.bmi",
            "lib/b/unread.sql": "select age from d.sofa",
            "notes/sofa_check.sql": "select age from d.sofa",
        },
        {
            "d.age": "lib/a/age.sql table",
            "d.bmi": "lib/a/bmi.sql table",
            "d.sofa": "lib/b/sofa.sql table",
            "d.unread": "lib/b/unread.sql table",
            "sofa_check": "notes/sofa_check.sql query",
        },
    ),
    "files about the tables they are called after fill none of them": (
        {
            f"q/{name}.sql": f"select * from shop.{name} join shop.{other} using (id)"
            for name, other in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
        },
        {name: f"q/{name}.sql query" for name in "abcd"},
    ),
    "names of sqlc, yesql and hugsql": (
        {
            "authors.sql": "-- name: GetAuthor :one\nselect id from authors;\n"
            "-- name: list-authors!\nselect * from authors",
            "books.sql": "-- :name get-book :? :1\nselect id from books;\nselect title from books",
        },
        {
            "GetAuthor": "authors.sql query",
            '"list-authors"': "authors.sql query",
            '"get-book"': "books.sql query",
            '"books.sql"': "books.sql query",
        },
    ),
    "a comment that dumps write is no name": (
        {"dump.sql": "-- Name: t; Type: TABLE; Schema: public\nselect id from t"},
        {"dump": "dump.sql query"},
    ),
    "Bruin's head names a table": (
        {
            "a.sql": "/* @bruin\nname: dash.orders\ntype: bq.sql\n@bruin */\nselect id from raw.o",
            "b.sql": "/* @bruin\nname: plain\n@bruin */\nselect id from dash.orders",
            "c.sql": "select id from plain",
        },
        {"dash.orders": "a.sql table", "plain": "b.sql table", "c": "c.sql query"},
    ),
    "a query beside the definition of its table writes it": (
        {
            "core/t/init.sql": "create table core.t (id int64, total int64)",
            "core/t/query.sql": SELECT,
            "r.sql": "select * from core.t",
        },
        {"core.t": "core/t/init.sql table", "r": "r.sql query"},
    ),
    "standard input": ({"-": f"{SELECT}; {SELECT}"}, {"query": "- query", "query_2": "- query"}),
}


@pytest.mark.parametrize("title", CASES)
def test_a_bare_query_has_a_name(title: str) -> None:
    files, expected = CASES[title]
    assert names(read(files)) == dict(sorted(expected.items()))
    shuffled = list(files.items())
    random.Random(title).shuffle(shuffled)
    assert names(read(dict(shuffled))) == dict(sorted(expected.items()))


def test_a_pattern_of_the_settings_names_a_table() -> None:
    files = {"etl/core/orders/job.sql": SELECT, "etl/x.sql": "select id from core.orders"}
    assert "core.orders" not in names(read({**files, "etl/x.sql": SELECT}))
    found = read(files, "nothing/{name}.sql", "**/{schema}/{name}/job.sql")
    assert names(found) == {"core.orders": "etl/core/orders/job.sql table", "x": "etl/x.sql query"}
    assert ("core.orders", "id", "x", "id") in {
        (edge.from_object, edge.from_column, edge.to_object, edge.to_column) for edge in found.column_edges
    }
    upper = read(files, "etl/{schema}/{name}/job.sql", dialect="snowflake")
    assert "CORE.ORDERS" in names(upper)


@pytest.mark.parametrize("pattern", ["sql/query.sql", "sql/{table}.sql", "{name}/{name}.sql", "{schema}.sql"])
def test_a_pattern_without_one_name_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="a pattern has"):
        AnalysisSettings(query_names=(pattern,))
    assert AnalysisSettings.model_validate({"query_names": "{schema}/{name}.sql"}).query_names == (
        "{schema}/{name}.sql",
    )


def test_a_table_that_a_query_fills_has_its_columns_and_readers() -> None:
    lineage = read(LAYOUT)
    columns = [(row.object, row.name) for row in lineage.columns if row.object == '"p-1".core.orders']
    assert columns == [('"p-1".core.orders', "id"), ('"p-1".core.orders', "total")]
    assert {row.object for row in lineage.diagnostics} == {"raw.orders", "raw.users"}


def test_front_matter_names_a_query_and_is_no_sql(tmp_path: Path) -> None:
    text = "---\nname: core.daily\nowner: /* me */\n---\nselect id\nfrom raw.orders\n"
    write_files(tmp_path, a_sql=text, b_sql="---\n-- ---\nselect id from core.daily\n")
    found = scan(tmp_path, dialect="postgres").lineage
    rows = {row.object: (row.kind, row.line) for row in found.objects if row.path}
    assert rows == {"b": (ObjectKind.QUERY, 3), "core.daily": (ObjectKind.TABLE, 5)}
    assert [row.code for row in found.diagnostics] == ["UNKNOWN_TABLE"]
    assert found.diagnostics[0].line == 6


def test_a_text_without_a_path_keeps_its_name() -> None:
    assert [row.object for row in analyze(SELECT).lineage.objects if row.kind is ObjectKind.QUERY] == ["query"]


def changes(base: Mapping[str, str], head: Mapping[str, str]) -> set[tuple[str, str, str | None]]:
    """The root causes of a change, as rule, object and column."""
    return {(one.rule, one.object, one.column) for one in diff(read(base), read(head)) if one.root}


def test_a_change_of_a_query_is_found() -> None:
    base = {"r/daily.sql": "select id, sum(total) as total from raw.orders where id > 0 group by id"}
    renamed = {"r/daily.sql": base["r/daily.sql"].replace("as total", "as amount")}
    assert changes(base, renamed) == {("COL002", "daily", "total")}
    assert {rule for rule, *_ in changes(base, {"r/daily.sql": base["r/daily.sql"].replace("sum(", "max(")})} == {
        "EXP003"
    }
    filtered = {"r/daily.sql": base["r/daily.sql"].replace("id > 0", "id > 1")}
    assert {rule for rule, *_ in changes(base, filtered)} == {"ROW004"}
    assert changes(base, {}) == {("OBJ001", "daily", None)}
    assert changes({}, base) == set()


def test_a_query_is_compared_with_itself_whatever_comes_and_goes_beside_it() -> None:
    texts = [f"select id + {number} as a, b from raw.t{number}" for number in range(6)]
    base = {"x/many.sql": ";\n".join(texts), "x/one.sql": SELECT}
    for at in range(6):
        fewer = {**base, "x/many.sql": ";\n".join([*texts[:at], *texts[at + 1 :]])}
        more = {**base, "x/many.sql": ";\n".join([*texts[:at], "select z from raw.z", *texts[at:]])}
        assert {rule for rule, *_ in changes(base, fewer)} == {"OBJ001"}
        assert len(changes(base, fewer)) == 1
        assert changes(base, more) == set()
    # A file of the same stem elsewhere makes the name longer, and nothing else.
    assert changes(base, {**base, "y/one.sql": "select z from raw.z"}) == set()
    assert {
        rule
        for rule, *_ in changes(
            base, {"y/one.sql": "select z from raw.z", **base, "x/one.sql": "select id from raw.orders"}
        )
    } == {"COL001"}


def test_a_renamed_query_of_a_program_is_no_rename_of_an_object() -> None:
    base = {"q.sql": "-- name: GetOrder :one\nselect id from raw.orders"}
    head = {"q.sql": "-- name: FindOrder :one\nselect id from raw.orders"}
    assert {rule for rule, *_ in changes(base, head)} == {"OBJ002"}


def test_queries_in_programs_are_not_compared() -> None:
    base = {"p.py": "select id from raw.orders"}
    assert changes(base, {"p.py": "select total from raw.orders"}) == set()


def test_a_query_of_constants_is_compared_and_nobody_misses_it() -> None:
    base = {"q.sql": "select 1 as a"}
    assert {rule for rule, *_ in changes(base, {"q.sql": "select 2 as b"})} == {"COL001", "COL003"}
    assert {rule for rule, *_ in changes(base, {"q.sql": "select 2 as a"})} == {"EXP004"}
    assert changes(base, {"r.sql": "select id from raw.orders"}) == set()


def test_settings_reach_the_names(tmp_path: Path) -> None:
    (tmp_path / "core" / "t").mkdir(parents=True)
    (tmp_path / "core" / "t" / "load.sql").write_text(SELECT)
    settings = Settings(analysis=AnalysisSettings(query_names=("{schema}/{name}/load.sql",)))
    found = scan(tmp_path, dialect="postgres", settings=settings).lineage
    assert [row.object for row in found.objects if row.path] == ["core.t"]


def test_a_query_of_a_file_is_an_output_of_its_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(tmp_path, a_sql=SELECT, b_sql="select 1 as one")
    (tmp_path / "p.py").write_text("spark.sql('select id from raw.orders')\n")
    assert main(["export", "openlineage", str(tmp_path), "--dialect", "spark"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[row["name"] for row in event.get("outputs", ())] for event in events] == [["a"]]
    assert set(events[0]["outputs"][0]["facets"]["columnLineage"]["fields"]) == {"id", "total"}
