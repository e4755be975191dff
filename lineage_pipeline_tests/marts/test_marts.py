"""The marts: each has a grain, a key and an owner, answers its question, and is the same on DuckDB and on Spark."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineage_pipeline_tests.support.dbt_builds import DBT_PROJECT, DbtBuild, run_dbt
from lineage_pipeline_tests.support.mart_warehouses import build_marts_on_spark, publish_shop_history
from lineage_pipeline_tests.support.paths import ROOT


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DbtBuild]:
    folder = tmp_path_factory.mktemp("marts")
    built = run_dbt(folder, publish_shop_history(folder))
    assert (built.failed, built.message) == (set(), "None")
    yield built


QUESTIONS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "the newest commit of a repository is marked": (
        "select commit, is_latest, objects, columns from marts.snapshots order by commit",
        [("1", False, 2, 3), ("2", False, 2, 4), ("3", False, 2, 4), ("4", True, 2, 4)],
    ),
    "an object that reads itself is no reader": (
        "select object, producers, readers, is_leaf, owners from marts.objects where is_latest order by object",
        [("core", 1, 0, True, "web, shop"), ("raw", 0, 1, False, "")],
    ),
    "what no statement reads": (
        "select object, column_name, is_in_leaf from marts.unused_columns where is_latest order by 1, 2",
        [("core", "id", True), ("core", "name", True), ("raw", "hint", False)],
    ),
    "history goes back along first parents, up to another analysis": (
        "select commit, event, element_kind, element from marts.lineage_history"
        " where event <> 'first seen' order by event, element_kind",
        [
            ("4", "appeared", "column", "core.name"),
            ("4", "appeared", "edge", "raw.id -> core.name DIRECT"),
            ("4", "vanished", "column", "core.hash"),
            ("4", "vanished", "edge", "raw.id -> core.hash DIRECT"),
        ],
    ),
    "history begins with the first snapshot of the analysis": (
        "select distinct commit, author from marts.lineage_history where event = 'first seen'",
        [("2", "author 2")],
    ),
    "an object is as old as its last change": (
        "select object, last_commit, last_author, snapshots_since_change, snapshots_seen, changes"
        " from marts.stale_objects",
        [("core", "4", "author 4", 0, 3, 1)],
    ),
    "a tag ends where its value is masked": (
        "select from_column, to_column, is_masked, is_stopped from marts.pii_flow where commit = '2' order by 2",
        [("id", "hash", True, True), ("id", "id", False, False)],
    ),
    "only root changes that nobody waived count as breaking": (
        "select rule, changes, breaking, potentially_breaking, waived, consumers from marts.breaking_trend",
        [("COL001", 2, 1, 0, 1, 2)],
    ),
    "a waiver has an end, and counts what it covers": (
        "select waiver, owner, cast(expires_on as string), is_used, is_expired, changes, breaking, is_latest"
        " from marts.waivers order by 1",
        [
            ("agreed", "web", "2026-12-31", True, False, 1, 1, True),
            ("late", "web", "2026-12-31", False, True, 0, 0, True),
        ],
    ),
    "fragile statements, one row for each trait": (
        "select feature, object, line, owners from marts.star_usage where is_latest order by 1",
        [("positional insert", None, 1, "web"), ("star", None, 1, "web")],
    ),
    "the widest column of an object speaks for it": (
        "select object, widest_column, downstream_columns from marts.blast_radius where is_latest",
        [("raw", "id", 2)],
    ),
    "coverage is a share of statements and bytes": (
        "select dialect, statements, analysed_share, analysed_bytes_share, approximate_share"
        " from marts.lineage_coverage where is_latest",
        [("duckdb", 1, 1.0, 1.0, 0.0)],
    ),
    "health is compared with the base": (
        "select commit, errors, more_errors from marts.pipeline_health order by commit",
        [("1", 0, None), ("2", 0, 0), ("3", 0, 0), ("4", 1, 1)],
    ),
}


@pytest.mark.pipeline
@pytest.mark.parametrize("title", QUESTIONS)
def test_a_mart_answers_its_question(title: str, shop: DbtBuild) -> None:
    sql, answer = QUESTIONS[title]
    assert shop.query(sql) == answer


@pytest.mark.pipeline
def test_every_mart_has_a_contract_a_key_a_grain_and_a_reader(shop: DbtBuild) -> None:
    manifest = json.loads((shop.target / "manifest.json").read_text(encoding="utf-8"))
    models = {name: node for name, node in manifest["nodes"].items() if node["resource_type"] == "model"}
    marts = {name: node for name, node in models.items() if node["schema"] == "marts"}
    assert {node["name"] for node in marts.values()} == {
        path.stem for path in (DBT_PROJECT / "models/marts").glob("*.sql")
    }
    assert all(node["contract"]["enforced"] and node["access"] == "public" for node in marts.values())
    assert all(re.match("One row per ", node["description"]) for node in marts.values())
    assert all(column["description"] for node in models.values() for column in node["columns"].values())
    keyed = {node["attached_node"] for node in manifest["nodes"].values() if "is_key" in str(node.get("test_metadata"))}
    keyed |= {
        node["attached_node"] for node in manifest["nodes"].values() if "'unique'" in str(node.get("test_metadata"))
    }
    assert marts.keys() <= keyed
    shown = {name for exposure in manifest["exposures"].values() for name in exposure["depends_on"]["nodes"]}
    assert marts.keys() <= shown


@pytest.mark.pipeline
def test_every_relation_and_column_has_its_description_in_the_database(shop: DbtBuild) -> None:
    silent = "select table_name, column_name from duckdb_columns() where schema_name = 'marts' and comment is null"
    assert shop.query(silent) == []
    assert shop.query("select table_name from duckdb_tables() where schema_name = 'marts' and comment is null") == []


OLDEST_DUCKDB = "1.4.0"
"""The oldest release that reads the marts; tools such as Evidence and Superset bring releases of their own."""


@pytest.mark.slow
@pytest.mark.pipeline
def test_an_older_duckdb_reads_the_file(shop: DbtBuild, tmp_path: Path) -> None:
    older = tmp_path / "older"
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(older)]
    subprocess.run([*install, f"duckdb=={OLDEST_DUCKDB}"], check=True)
    program = (
        "import duckdb, sys; marts = duckdb.connect(sys.argv[1], read_only=True);"
        "print(duckdb.__version__, marts.execute('select count(*) from marts.snapshots').fetchone()[0])"
    )
    around = {**os.environ, "PYTHONPATH": str(older)}
    told = subprocess.run([sys.executable, "-c", program, str(shop.marts)], env=around, capture_output=True, text=True)
    assert (told.stdout.split(), told.stderr) == ([OLDEST_DUCKDB, "4"], "")


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("marts on spark")
    with build_marts_on_spark(folder, publish_shop_history(folder)) as running:
        yield running


@pytest.mark.spark
@pytest.mark.pipeline
def test_spark_gives_what_duckdb_gives(on_spark: Any, shop: DbtBuild) -> None:
    for sql, answer in QUESTIONS.values():
        assert [tuple(row) for row in on_spark.sql(sql).collect()] == answer, sql
    for mart in sorted(path.stem for path in (DBT_PROJECT / "models/marts").glob("*.sql")):
        count = f"select count(*) from marts.{mart}"
        assert [tuple(row) for row in on_spark.sql(count).collect()] == shop.query(count), mart


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = ROOT / "docs/bi.md"
ANSWERED = re.compile(r"(^```sql\n(.*?)^```\n)(\n\|.*?\n)?(?=\n#|\Z)", flags=re.DOTALL | re.MULTILINE)


def render_cell(value: Any) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def render_answer(connection: Any, sql: str) -> str:
    """The rows of a query as a table of the page."""
    found = connection.execute(sql)
    head = [column[0] for column in found.description]
    rows = [[render_cell(value) for value in row] for row in found.fetchall()]
    assert rows, f"a question without an answer: {sql}"
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *rows))


def render_marts_table() -> str:
    lines = []
    for path in sorted((DBT_PROJECT / "models/marts").glob("*.yml")):
        described = yaml.safe_load(path.read_text(encoding="utf-8"))["models"][0]
        about = described["description"].removeprefix("One row per ").split(". ")[0].split(": ")[0].strip().rstrip(".")
        lines.append(f"| `{described['name']}` | {about} |\n")
    return "".join(lines)


@pytest.mark.spark
@pytest.mark.pipeline
def test_the_questions_of_the_page_have_these_answers(request: pytest.FixtureRequest) -> None:
    duckdb = pytest.importorskip("duckdb")
    from lineage_pipeline_tests.support.example_run import run_example

    text = PAGE.read_text(encoding="utf-8")
    marts = run_example().settings.home / "warehouse.duckdb"
    with duckdb.connect(str(marts), read_only=True) as connection:
        wanted = ANSWERED.sub(lambda found: f"{found[1]}\n{render_answer(connection, found[2])}", text)
    wanted = re.sub(
        r"(<!-- marts -->\n).*?(<!-- /marts -->)", lambda m: m[1] + render_marts_table() + m[2], wanted, flags=re.DOTALL
    )
    if request.config.getoption("--accept"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted
    assert wanted.count("```sql") == 10
