"""The marts: each has a grain, a key and an owner, answers its question, and is the same on DuckDB and on Spark."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from lineage_pipeline.model.enums import Level, ObjectKind, Role, Severity, Status
from lineage_pipeline.model.tables import (
    Change,
    Column,
    ColumnReach,
    Consumer,
    Diagnostic,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    Snapshot,
    Span,
    SqlFile,
    StatementRef,
    StatementRow,
)
from lineage_pipeline.model.waivers import Waiver
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.test_dbt import PROJECT, Built, build, edge, fill, plain

ROOT = Path(__file__).parents[1]
KEY = "engine 1"
DATABASES = ("lineage", "staging", "marts")


def commit(number: int, parent: int | None, **fields: Any) -> list[Any]:
    parents = () if parent is None else (str(parent),)
    when = f"2026-03-0{number}T09:00:00Z"
    own = {"author": f"author {number}", "base": parents[0] if parents else None, "analysis_key": KEY, **fields}
    return [plain(Snapshot, repo="shop", commit=str(number), parents=parents, committed_at=when, files=1, **own)]


def tags(name: str) -> tuple[str, ...]:
    return () if name == "hash" else ("pii",)


def revision(columns: str, fingerprint: str, **extra: list[Any]) -> dict[str, list[Any]]:
    """A view `core` over the table `raw`, with some columns of it."""
    names = columns.split()
    return {
        "sql_files": [plain(SqlFile, path="a.sql", dialect="duckdb", status=Status.ANALYSED, owners=("web",))],
        "statements": [
            plain(
                StatementRow,
                path="a.sql",
                kind="CREATE VIEW",
                fingerprint=fingerprint,
                status=Status.ANALYSED,
                bytes=80,
                features=("positional insert", "star", "dynamic"),
                span=Span(1, 1, 4, 9, 0, 80),
            )
        ],
        "objects": [
            plain(ObjectRow, object="raw", name="raw", kind=ObjectKind.TABLE),
            plain(ObjectRow, object="core", name="core", kind=ObjectKind.VIEW, owners=("web", "shop")),
        ],
        "object_statements": [plain(ObjectStatement, object="core", path="a.sql", role=Role.DEFINE)],
        "object_edges": [
            plain(ObjectEdge, from_object="raw", to_object="core", statements=(StatementRef("a.sql", 0),)),
            plain(ObjectEdge, from_object="core", to_object="core"),
        ],
        "columns": [
            plain(Column, object="raw", ordinal=1, name="id", type="INT", tags=("pii",)),
            plain(Column, object="raw", ordinal=2, name="hint", type="TEXT"),
            *(plain(Column, object="core", ordinal=n, name=name, tags=tags(name)) for n, name in enumerate(names, 1)),
        ],
        "column_edges": [edge("raw", "id", name, masking=name == "hash") for name in names],
        "column_reach": [
            plain(ColumnReach, object="raw", ordinal=1, name="id", all_downstream_columns=len(names), exact=True),
            plain(ColumnReach, object="raw", ordinal=2, name="hint", exact=True),
        ],
        **extra,
    }


def warehouse_of(folder: Path) -> Warehouse:
    """Four commits, the third of them on another analysis key than those before it, and a diff."""
    warehouse = Warehouse(folder / "warehouse")
    finding = plain(Diagnostic, id="f", code="PARSE_ERROR", severity=Level.ERROR, path="a.sql", line=3)
    fill(warehouse, "shop@1", snapshots=commit(1, None, analysis_key="engine 0"), **revision("old", "f0"))
    fill(warehouse, "shop@2", snapshots=commit(2, 1), **revision("id hash", "f1"))
    fill(warehouse, "shop@3", snapshots=commit(3, 2), **revision("id hash", "f1"))
    fill(warehouse, "shop@4", snapshots=commit(4, 3), **revision("id name", "f2", diagnostics=[finding]))
    diff = warehouse.begin(("shop@3", "shop@4"), "r1")
    readers = (Consumer("x", None, None, None, ()), Consumer("y", None, None, None, ()))
    removed = {"rule": "COL001", "object": "core", "column": "hash", "effective": Severity.BREAKING}
    rows = [
        plain(Change, id="1", root=True, consumers=readers, **removed),
        plain(Change, id="2", root=False, root_id="1", **removed),
        plain(Change, id="3", root=True, waiver="agreed", **removed),
    ]
    diff.write("changes", rows)
    said = {"rule": "COL001", "object": "core", "owner": "web", "expires": "2026-12-31"}
    waivers = [plain(Waiver, id="agreed", used=True, **said), plain(Waiver, id="late", expired=True, **said)]
    diff.write("waivers", waivers)
    diff.publish()
    _age(folder, warehouse, "shop@1", "sql_files", "position")
    return warehouse


def _age(folder: Path, warehouse: Warehouse, key: str, table: str, column: str) -> None:
    """Make the files of a table those of a version that did not know a column yet."""
    manifest = warehouse.manifest(key)
    assert manifest is not None
    for file in manifest.tables[table].files:
        path = folder / "warehouse" / file.path
        content = pq.ParquetFile(path).read()
        assert column in content.column_names
        pq.write_table(content.drop_columns([column]), path)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    folder = tmp_path_factory.mktemp("marts")
    built = build(folder, warehouse_of(folder))
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
def test_a_mart_answers_that(title: str, shop: Built) -> None:
    sql, answer = QUESTIONS[title]
    assert shop.query(sql) == answer


@pytest.mark.pipeline
def test_every_mart_has_a_contract_a_key_a_grain_and_a_reader(shop: Built) -> None:
    manifest = json.loads((shop.target / "manifest.json").read_text(encoding="utf-8"))
    models = {name: node for name, node in manifest["nodes"].items() if node["resource_type"] == "model"}
    marts = {name: node for name, node in models.items() if node["schema"] == "marts"}
    assert {node["name"] for node in marts.values()} == {path.stem for path in (PROJECT / "models/marts").glob("*.sql")}
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


@contextmanager
def marts_on_spark(folder: Path, warehouse: Warehouse) -> Iterator[Any]:
    """Build the same models as tables of the Spark session that this process shares."""
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.spark.session import get_session

    running = get_session(load_settings(folder, {}, {}).spark)
    strict = running.conf.get("spark.sql.ansi.enabled") or "true"  # dbt turns it off, and others share the session
    for database in DATABASES:
        running.sql(f"create database {database} location '{folder / database}'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINEAGE_DBT_TARGET", "spark")
        built = build(folder, warehouse)
    assert (built.failed, built.message) == (set(), "None")
    running.conf.set("spark.sql.ansi.enabled", strict)
    running.conf.unset("spark.sql.parquet.mergeSchema")  # the views remember it
    yield running
    for database in DATABASES:
        running.sql(f"drop database {database} cascade")


@pytest.fixture(scope="module")
def on_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("marts on spark")
    with marts_on_spark(folder, warehouse_of(folder)) as running:
        yield running


@pytest.mark.spark
@pytest.mark.pipeline
def test_spark_gives_what_duckdb_gives(on_spark: Any, shop: Built) -> None:
    for sql, answer in QUESTIONS.values():
        assert [tuple(row) for row in on_spark.sql(sql).collect()] == answer, sql
    for mart in sorted(path.stem for path in (PROJECT / "models/marts").glob("*.sql")):
        count = f"select count(*) from marts.{mart}"
        assert [tuple(row) for row in on_spark.sql(count).collect()] == shop.query(count), mart


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = ROOT / "docs/bi.md"
ANSWERED = re.compile(r"(^```sql\n(.*?)^```\n)(\n\|.*?\n)?(?=\n#|\Z)", flags=re.DOTALL | re.MULTILINE)


def cell(value: Any) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def answer(connection: Any, sql: str) -> str:
    """The rows of a query as a table of the page."""
    found = connection.execute(sql)
    head = [column[0] for column in found.description]
    rows = [[cell(value) for value in row] for row in found.fetchall()]
    assert rows, f"a question without an answer: {sql}"
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *rows))


def marts_table() -> str:
    lines = []
    for path in sorted((PROJECT / "models/marts").glob("*.yml")):
        described = yaml.safe_load(path.read_text(encoding="utf-8"))["models"][0]
        about = described["description"].removeprefix("One row per ").split(". ")[0].split(": ")[0].strip().rstrip(".")
        lines.append(f"| `{described['name']}` | {about} |\n")
    return "".join(lines)


@pytest.mark.spark
@pytest.mark.pipeline
def test_the_questions_of_the_page_have_these_answers(request: pytest.FixtureRequest) -> None:
    duckdb = pytest.importorskip("duckdb")
    from lineage_pipeline_tests.materialised import materialised

    text = PAGE.read_text(encoding="utf-8")
    marts = materialised().settings.home / "warehouse.duckdb"
    with duckdb.connect(str(marts), read_only=True) as connection:
        wanted = ANSWERED.sub(lambda found: f"{found[1]}\n{answer(connection, found[2])}", text)
    wanted = re.sub(
        r"(<!-- marts -->\n).*?(<!-- /marts -->)", lambda m: m[1] + marts_table() + m[2], wanted, flags=re.DOTALL
    )
    if request.config.getoption("--accept"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted
    assert wanted.count("```sql") == 10
