"""The warehouse shows a snapshot whole or not at all, and never misreads a damaged file."""

import hashlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from lineage_pipeline.files.fingerprints import ENGINE_PACKAGES, compute_version
from lineage_pipeline.model.enums import Confidence, EdgeType, Origin, Scope, Severity, Status, Subtype
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import TABLES, Change, Column, ColumnEdge, Consumer, Hop, Source, Span, SqlFile, Use
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifest_files import encode_file_name
from lineage_pipeline.store.row_conversion import arrow_to_rows, rows_to_arrow
from lineage_pipeline.store.run import WarehouseRun, required_tables
from lineage_pipeline.store.table_files import read_columns
from lineage_pipeline.store.table_schemas import SCHEMA_VERSION, address_columns, arrow_schema
from lineage_pipeline.store.warehouse import Warehouse

KEY = "acme/shop@c0ffee"
SPAN = Span(1, 8, 1, 10, 7, 9)

ENDS = ("raw.orders", "id", "address.street", "core.orders", "id")
HOPS = (Hop("#t", "id"), Hop("cte", "id"))
USES = (Use("o.id", SPAN, None), Use("ß", None, SPAN))
FULL = ColumnEdge(
    "a.sql", 0, *ENDS, EdgeType.DIRECT, Subtype.IDENTITY, False, True, False, "id", SPAN, None, HOPS, USES
)
BARE = msgspec.structs.replace(FULL, statement=1, from_path=None, span=None, hops=(), uses=())


def make_column_row(name: str, ordinal: int) -> Column:
    return Column("raw.orders", ordinal, name, name, None, True, Origin.IMPORTED, False, None, None, (), None)


def make_sql_file(path: str, text: str) -> SqlFile:
    return SqlFile(path, "", "tsql", hash_text(text), len(text), "utf-8", "", Status.ANALYSED, ())


def make_source(text: str) -> Source:
    return Source(hash_text(text), hash_text(text), text, text, (0, 0))


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_required_tables(run: WarehouseRun, **tables: Any) -> WarehouseRun:
    """Write all tables that a snapshot needs, those that are not given without rows."""
    for table in required_tables(run.key):
        run.write(table, tables.get(table, ()))
    return run


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nested_rows_survive_the_way_through_arrow() -> None:
    content = rows_to_arrow("column_edges", (KEY,), [FULL, BARE, FULL])
    assert arrow_to_rows("column_edges", content, ColumnEdge) == (FULL, BARE, FULL)
    assert arrow_to_rows("column_edges", content.slice(1, 2), ColumnEdge) == (BARE, FULL)


def test_lists_inside_structs_survive() -> None:
    consumers = (Consumer("a", None, "a.sql", 3, ("me", "you")), Consumer("b", "x", None, None, ()))
    words = Severity.BREAKING, Severity.INFO, Confidence.CERTAIN, Scope.INTERFACE
    change = Change("1", "COL001", "a", None, *words, True, "1", consumers, None, "after", None, 7, "f", None)
    assert arrow_to_rows("changes", rows_to_arrow("changes", ("a@1", "a@2"), [change]), Change) == (change,)


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_a_schema_that_says_what_may_be_null(table: str) -> None:
    schema = arrow_schema(table)
    assert schema.names == [*address_columns(table), *TABLES[table].row.__struct_fields__]
    assert schema.metadata[b"lineage.schema_version"] == str(SCHEMA_VERSION).encode()
    assert all(not schema.field(name).nullable for name in address_columns(table))
    assert arrow_to_rows(table, schema.empty_table(), TABLES[table].row) == ()


def test_a_null_where_none_may_be_is_refused() -> None:
    with pytest.raises(LineageError, match=r"columns\.name holds null in 1 of 2 rows"):
        rows_to_arrow(
            "columns", (KEY,), [make_column_row("a", 1), msgspec.structs.replace(make_column_row("b", 2), name=None)]
        )


# ── publishing ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_invisible_until_it_is_published(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    run = write_required_tables(warehouse.begin(KEY, "r1", "engine 1"), column_edges=[BARE, FULL])
    assert warehouse.manifest(KEY) is None
    assert warehouse.snapshots() == []
    assert all(len(files) == 1 for files in warehouse.published_files().values())
    published = run.publish()
    assert warehouse.snapshots() == [published]
    assert warehouse.load(KEY).column_edges == (FULL, BARE)
    assert warehouse.read(KEY, "column_edges")["snapshot"].to_pylist() == [KEY, KEY]
    assert published.tables["column_edges"].rows == 2


def test_files_lie_under_snapshot_and_run_with_a_plain_name(tmp_path: Path) -> None:
    run = Warehouse(tmp_path).begin(KEY, "r1")
    run.write("columns", [make_column_row("a", 1)])
    (path,) = run.files("columns")
    assert Path(path).parent == tmp_path / "columns" / "snapshot=acme%2Fshop@c0ffee" / "run=r1"
    assert Path(path).match("part-*.parquet")
    assert len(encode_file_name("ü" * 1000)) < 255


def test_an_incomplete_snapshot_is_not_published(tmp_path: Path) -> None:
    run = Warehouse(tmp_path).begin(KEY, "r1")
    run.write("columns", [])
    with pytest.raises(LineageError, match="is not complete: snapshots, sources, "):
        run.publish()


def test_a_new_run_inherits_what_the_last_one_wrote(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    first = write_required_tables(
        warehouse.begin(KEY, "r1", "engine 1"), columns=[make_column_row("a", 1)], column_edges=[FULL]
    )
    first.publish()
    again = warehouse.begin(KEY, "r2")
    again.write("column_edges", [BARE])
    assert again.files("columns") == first.files("columns")
    assert again.manifest.analysis_key == "engine 1"
    assert warehouse.load(KEY).column_edges == (FULL,)
    again.publish()
    assert warehouse.load(KEY).column_edges == (BARE,)
    assert warehouse.load(KEY).columns == (make_column_row("a", 1),)


def test_another_analysis_key_inherits_nothing(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    write_required_tables(warehouse.begin(KEY, "r1", "engine 1")).publish()
    assert warehouse.begin(KEY, "r2", "engine 2").manifest.tables == {}


def test_a_run_can_be_resumed_until_it_is_published(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    assert warehouse.resume(KEY) is None
    warehouse.begin(KEY, "r1").write("columns", [make_column_row("a", 1)])
    resumed = warehouse.resume(KEY)
    assert resumed is not None
    assert resumed.rows(Column) == (make_column_row("a", 1),)
    write_required_tables(warehouse.begin(KEY, "r1")).publish()
    assert warehouse.resume(KEY) is None


def test_an_overtaken_run_is_not_published(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    slow = write_required_tables(warehouse.begin(KEY, "r1"))
    write_required_tables(warehouse.begin(KEY, "r2")).publish()
    with pytest.raises(LineageError, match="was published by the later run r2"):
        slow.publish()


def test_an_earlier_run_does_not_take_the_place_of_a_later_one_again(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    early = write_required_tables(warehouse.begin(KEY, "r1"))
    early.publish()
    write_required_tables(warehouse.begin(KEY, "r2")).publish()
    with pytest.raises(LineageError, match="was published by the later run r2"):
        early.publish()
    assert [manifest.run for manifest in warehouse.snapshots()] == ["r2"]


def test_what_a_run_that_broke_off_left_is_collected_by_the_next_one(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    broken = warehouse.begin(KEY, "r1")
    broken.write("columns", [make_column_row("a", 1)])
    assert [path for path in tmp_path.rglob("*") if "r1" in path.name]
    write_required_tables(warehouse.begin(KEY, "r2")).publish()
    assert [path for path in tmp_path.rglob("*") if "r1" in path.name] == []


def test_a_file_is_replaced_while_others_read_it(tmp_path: Path) -> None:
    files, done = FileStore(tmp_path), threading.Event()
    contents = [letter * 3_000_000 for letter in (b"a", b"b")]
    files.replace("x", contents[0])

    def read() -> int:
        seen = 0
        while not done.is_set():
            assert files.read("x") in contents
            seen += 1
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for number in range(60):
            files.replace("x", contents[number % 2], durable=False)
        done.set()
        assert min(reader.result(30) for reader in readers) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_parts_of_a_table_are_replaced_one_by_one(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    run = warehouse.begin(KEY, "r1")
    run.write("columns", [make_column_row("a", 1)], part="parsing")
    run.write("columns", [make_column_row("b", 2)], part="linking")
    again = warehouse.begin(KEY, "r2")
    again.write("columns", [make_column_row("c", 3)], part="linking")
    assert [row.name for row in again.rows(Column)] == ["a", "c"]
    assert [row.name for row in run.rows(Column)] == ["a", "b"]


def test_a_diff_has_a_manifest_of_its_own(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    run = warehouse.begin(("a@1", "a@2"), "r1")
    with pytest.raises(LineageError, match="columns is no table of a diff"):
        run.write("columns", [])
    run.write("changes", [])
    with pytest.raises(LineageError, match="waivers not written"):
        run.publish()
    run.write("waivers", [])
    run.publish()
    assert [manifest.key for manifest in warehouse.diffs()] == [("a@1", "a@2")]
    assert warehouse.snapshots() == []
    assert warehouse.read(("a@1", "a@2"), "changes").num_rows == 0


def test_a_manifest_is_canonical_json(tmp_path: Path) -> None:
    write_required_tables(Warehouse(tmp_path).begin(KEY, "r1")).publish()
    content = (tmp_path / "_manifests" / "acme%2Fshop@c0ffee.json").read_bytes()
    again = msgspec.json.format(msgspec.json.encode(msgspec.json.decode(content), order="sorted"), indent=2)
    assert content == again + b"\n"


# ── files of others, streams, sources ────────────────────────────────────────────────────────────────────────────


def test_files_that_another_engine_wrote_are_adopted(tmp_path: Path) -> None:
    run = Warehouse(tmp_path).begin(KEY, "r1")
    folder = Path(run.folder("columns"))
    folder.mkdir(parents=True)
    content = rows_to_arrow("columns", (KEY,), [make_column_row("a", 1), make_column_row("b", 2)])
    nullable = pa.schema([field.with_nullable(True) for field in content.schema])
    pq.write_table(content.cast(nullable), folder / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    run.adopt("columns", [str(folder)])
    assert [row.name for row in run.rows(Column)] == ["a", "b"]
    pq.write_table(content.drop(["nullable"]), folder / "part-1.parquet")
    with pytest.raises(LineageError, match="has no column nullable"):
        run.adopt("columns", [str(folder)])
    with pytest.raises(LineageError, match="does not lie under the warehouse"):
        run.adopt("columns", ["/elsewhere/part-0.parquet"])


def test_an_arrow_table_or_a_stream_is_written_like_rows(tmp_path: Path) -> None:
    run = Warehouse(tmp_path).begin(KEY, "r1")
    content = rows_to_arrow("columns", (KEY,), [make_column_row("a", 1), make_column_row("b", 2)]).drop(["snapshot"])
    run.write("columns", content)
    assert [row.name for row in run.rows(Column)] == ["a", "b"]
    run.write("columns", pa.RecordBatchReader.from_batches(content.schema, content.to_batches(max_chunksize=1)))
    assert [row.name for row in run.rows(Column)] == ["a", "b"]


def test_a_source_is_stored_once_for_all_snapshots(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    one = {
        "sources": [make_source("a"), make_source("b")],
        "sql_files": [make_sql_file("a", "a"), make_sql_file("b", "b")],
    }
    two = {
        "sources": [make_source("b"), make_source("c")],
        "sql_files": [make_sql_file("b", "b"), make_sql_file("c", "c")],
    }
    write_required_tables(warehouse.begin("r@1", "r1"), **one).publish()
    write_required_tables(warehouse.begin("r@2", "r2"), **two).publish()
    write_required_tables(warehouse.begin("r@3", "r3"), **two).publish()
    stored = [pq.read_metadata(path).num_rows for path in warehouse.published_files()["sources"]]
    assert sorted(stored) == [0, 1, 2]
    assert warehouse.read("r@2", "sources")["text"].to_pylist() in (["b", "c"], ["c", "b"])


def test_the_warehouse_may_lie_on_another_file_system(tmp_path: Path) -> None:
    elsewhere = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    warehouse = Warehouse("house", elsewhere)
    write_required_tables(warehouse.begin(KEY, "r1"), columns=[make_column_row("a", 1)]).publish()
    assert Warehouse(tmp_path / "house").load(KEY).columns == (make_column_row("a", 1),)
    assert Warehouse(f"file://{tmp_path}/house").load(KEY).columns == (make_column_row("a", 1),)


# ── damage and collection ────────────────────────────────────────────────────────────────────────────────────────


def test_a_torn_file_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    run = write_required_tables(warehouse.begin(KEY, "r1"), columns=[make_column_row("a", 1)])
    run.publish()
    path = Path(run.files("columns")[0])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LineageError, match=r"is torn: it has \d+ bytes instead of \d+"):
        warehouse.load(KEY)
    flipped = bytearray(whole)
    flipped[40] ^= 0xFF
    path.write_bytes(flipped)
    with pytest.raises(LineageError, match="cannot be read"):
        warehouse.load(KEY)
    path.unlink()
    with pytest.raises(LineageError, match="cannot be read: it is missing"):
        warehouse.load(KEY)
    with pytest.raises(LineageError, match="is torn or missing, so .* cannot be published"):
        run.publish()


def test_a_file_with_other_rows_than_were_written_is_not_read(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    write_required_tables(warehouse.begin(KEY, "r1"), columns=[make_column_row("a", 1)]).publish()
    (manifest,) = (tmp_path / "_manifests").glob("*.json")
    document = json.loads(manifest.read_text())
    document["tables"]["columns"]["files"][0]["rows"] = 2
    manifest.write_text(json.dumps(document))
    with pytest.raises(LineageError, match="is torn: it has 1 rows instead of 2"):
        warehouse.load(KEY)


def test_a_file_that_another_one_took_the_place_of_is_not_read(tmp_path: Path) -> None:
    run = write_required_tables(Warehouse(tmp_path).begin(KEY, "r1"), columns=[make_column_row("a", 1)])
    assert read_columns(run.tables, "columns", ["name"]).num_rows == 1
    path = Path(run.files("columns")[0])
    content = pq.read_table(path)
    pq.write_table(pa.concat_tables([content, content]), path)
    with pytest.raises(LineageError, match="is torn"):
        read_columns(run.tables, "columns", ["name"])
    with pytest.raises(LineageError, match="is torn"):
        run.read("columns")


@pytest.mark.parametrize("kept", [0, 1, 40, -2])
def test_a_torn_manifest_is_an_error_in_one_sentence(tmp_path: Path, kept: int) -> None:
    warehouse = Warehouse(tmp_path)
    write_required_tables(warehouse.begin(KEY, "r1")).publish()
    (path,) = (tmp_path / "_manifests").iterdir()
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(LineageError, match="is not a complete manifest"):
        warehouse.manifest(KEY)


def test_a_manifest_of_a_newer_version_is_not_read(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    write_required_tables(warehouse.begin(KEY, "r1")).publish()
    (path,) = (tmp_path / "_manifests").iterdir()
    path.write_text(path.read_text().replace('\n  "schema_version": 1', '\n  "schema_version": 99'))
    with pytest.raises(LineageError, match=r"was written by a newer version \(schema 99"):
        warehouse.snapshots()


def test_an_error_names_the_missing_table_or_snapshot(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    with pytest.raises(LineageError, match="a@1 is not in the warehouse"):
        warehouse.load("a@1")
    with pytest.raises(LineageError, match="a@1 has no columns yet"):
        warehouse.begin("a@1", "r1").read("columns")
    with pytest.raises(LineageError, match="nonsense is not a table"):
        warehouse.begin("a@1", "r1").write("nonsense", [])
    with pytest.raises(LineageError, match="is no id of a run"):
        warehouse.begin("a@1", "../r1")


def test_unreferenced_runs_are_collected(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    old = write_required_tables(warehouse.begin(KEY, "r1"), columns=[make_column_row("a", 1)], column_edges=[FULL])
    old.publish()
    kept, gone = old.files("columns"), old.files("column_edges")
    new = warehouse.begin(KEY, "r2")
    new.write("column_edges", [BARE])
    new.publish()
    current = warehouse.begin(KEY, "r3")
    current.write("column_edges", [FULL, BARE])
    removed = warehouse.collect()
    assert all(Path(path).exists() for path in [*kept, *new.files("column_edges"), *current.files("column_edges")])
    assert not any(Path(path).exists() for path in gone)
    assert str(Path(gone[0]).relative_to(tmp_path)) in removed
    assert warehouse.load(KEY).column_edges == (BARE,)
    assert warehouse.collect() == []
    with pytest.raises(LineageError, match="the run r1 of .* has been collected"):
        old.read("columns")


def test_the_version_of_the_engine_is_noted_and_follows_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    for room in ENGINE_PACKAGES:
        (tmp_path / room).mkdir()
    rules = tmp_path / "engine" / "rules.py"
    rules.write_text("A = 1\n")
    note = tmp_path / "noted.version"
    first = compute_version(tmp_path, "30", note)
    note.write_text(note.read_text().split()[0] + " kept")
    assert compute_version(tmp_path, "30", note) == "kept"  # nothing looks otherwise: nothing is read
    rules.write_text("A = 12\n")
    changed = compute_version(tmp_path, "30", note)
    assert changed not in ("kept", first)
    assert compute_version(tmp_path, "31", note) not in (first, changed)
    note.write_text("torn")
    assert compute_version(tmp_path, "30", note) == changed
