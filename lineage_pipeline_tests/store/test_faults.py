"""Faults: whatever happens to the machine, readers see a snapshot whole or not at all, and the next run recovers."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from lineage_pipeline.config.load import load_settings
from lineage_pipeline.files.fingerprints import prepend_digest, verify_digest
from lineage_pipeline.spark.column_linking import LINK_CACHE as LINKED
from lineage_pipeline.spark.column_linking import FileLink, _find_held_keys, is_linked, store_links
from lineage_pipeline.spark.workspace import Workspace, encode_parquet
from lineage_pipeline.store.compiled_scripts import (
    COMPILED_FOLDER,
    SUCCESS_MARKER,
    find_batches,
    list_finished_folders,
    load_compiled,
    save_compiled,
)
from lineage_pipeline.store.file_store import FileStore, is_intact_file
from lineage_pipeline.store.lineage_file import CachedLineage, load_cached_lineage, save_cached_lineage
from lineage_pipeline.store.packed_script import PackedScript
from lineage_pipeline.store.run import WarehouseRun, required_tables
from lineage_pipeline.store.table_schemas import SCHEMA_VERSION
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support import fault_injection, paths
from lineage_pipeline_tests.support.killed_writers import KilledWriters


@pytest.mark.slow
def test_a_killed_writer_leaves_nothing_partially_visible(tmp_path: Path) -> None:
    writers = KilledWriters(tmp_path)
    spread = range(1, writers.points, writers.points // 6)
    seen = [writers.is_published_after(point) for point in spread]
    assert seen == sorted(seen)
    shown = writers.find_publication_point()
    assert 1 < shown < writers.points
    assert [writers.is_published_after(point, alone=True) for point in (shown - 1, shown)] == [False, True]
    assert writers.killed > 15


@pytest.mark.slow
def test_runs_at_the_same_time_are_safe(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        fault_injection.write_many_files(folder)
    (other / "more.sql").write_text("create table more (a int);\n")
    running = [
        fault_injection.start_writer(tmp_path / "w", folder, run)
        for folder, run in ((one, "a"), (one, "b"), (other, "c"))
    ]
    ends = [(process.communicate(), process.returncode) for process in running]
    assert ends[2][1] == 0
    refused = [said for (_, said), code in ends[:2] if code]
    assert all("was published by the later run" in said for said in refused), refused
    assert len(refused) < 2
    alone = tmp_path / "alone"
    for folder, run in ((one, "a"), (other, "c")):
        fault_injection.run_writer(alone, folder, run)
    assert fault_injection.read_published(tmp_path / "w") == fault_injection.read_published(alone)


def test_leftovers_of_two_killed_runs_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = Warehouse(tmp_path)

    def written(run: str) -> WarehouseRun:
        begun = warehouse.begin("r@1", run, "same")
        for table in required_tables(("r@1",)):
            begun.write(table, ())
        return begun

    def left() -> set[str]:
        return {part for path in tmp_path.rglob("*") for part in path.parts if part.startswith("run=")}

    written("first").publish()
    warehouse.begin("r@1", "killed", "same").write("statements", ())  # which has inherited all other tables
    with monkeypatch.context() as dying:
        dying.setattr(WarehouseRun, "_remove_leftovers", lambda *_: None)
        written("shown").publish()
    assert left() == {"run=first", "run=killed", "run=shown"}
    written("last").publish()
    assert {path.parent.name for path in tmp_path.rglob("*.parquet")} == {"run=first", "run=shown", "run=last"}
    assert warehouse.manifest("r@1").superseded == ("first", "shown")  # type: ignore[union-attr]
    warehouse.collect()
    written("later").publish()
    assert warehouse.manifest("r@1").superseded == ("last",)  # type: ignore[union-attr]


def _limit_file_size() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))


@pytest.mark.slow
def test_a_full_disk_is_one_error_and_the_warehouse_stays_as_it_was(tmp_path: Path) -> None:
    folder, warehouse = tmp_path / "repo", tmp_path / "w"
    folder.mkdir()
    fault_injection.write_many_files(folder)
    fault_injection.run_writer(warehouse, folder, "first")
    before = fault_injection.read_published(warehouse)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "lineage_pipeline_tests.support.fault_injection",
        "write",
        str(warehouse),
        str(folder),
        "full",
    ]
    full = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, preexec_fn=_limit_file_size)
    assert full.returncode == 1
    assert "File too large" in full.stderr.splitlines()[-1]
    assert fault_injection.read_published(warehouse) == before
    fault_injection.run_writer(warehouse, folder, "after")
    assert fault_injection.read_published(warehouse) == before


@pytest.mark.parametrize("place", ["/proc/lineage.json", "/dev/full"])
def test_what_cannot_be_written_is_one_sentence(place: str, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("create view v as select a from t;\n" * 50)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "lineage_pipeline.cli",
        "scan",
        str(tmp_path),
        "--quiet",
        "--format",
        "json",
        "-o",
        place,
    ]
    done = subprocess.run(
        command, cwd=paths.ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(paths.ROOT)}
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_a_closed_warehouse_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError):
        Warehouse("/proc/lineage").begin("repo@1", "run", "key")


PACKED = {"a": PackedScript(b"script" * 500, b"face", b""), "b": PackedScript(os.urandom(5_000), b"", b"")}


@pytest.fixture
def cache(tmp_path: Path) -> FileStore:
    files = FileStore(tmp_path)
    save_compiled(files, PACKED)
    return files


@pytest.mark.parametrize("damage", ["torn", "empty", "garbage"])
def test_a_damaged_batch_of_the_cache_is_noticed_and_no_longer_counts(
    cache: FileStore, damage: str, tmp_path: Path
) -> None:
    (path,) = (tmp_path / COMPILED_FOLDER).rglob("*.parquet")
    content = path.read_bytes()
    path.write_bytes(
        {
            "torn": content[: -len(content) // 3],
            "empty": b"",
            "garbage": os.urandom(len(content)),
        }[damage]
    )
    assert not is_intact_file(cache, path.relative_to(tmp_path).as_posix())
    assert load_compiled(cache, PACKED) == {}
    assert find_batches(cache, PACKED) == {}
    assert list_finished_folders(cache, COMPILED_FOLDER) == []


def test_no_bit_that_flips_gives_another_content(cache: FileStore, tmp_path: Path) -> None:
    (path,) = (tmp_path / COMPILED_FOLDER).rglob("*.parquet")
    content = path.read_bytes()
    noticed = 0
    for at in range(4, len(content), 97):
        path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        found = load_compiled(cache, PACKED)
        assert found in ({}, PACKED)
        noticed += not found
    assert noticed > 30


def test_no_bit_that_flips_in_a_kept_lineage_gives_another_one(tmp_path: Path) -> None:
    file, tables = tmp_path / "a.kept", {"one": pa.table({"a": list(range(2_000))}), "two": pa.table({"b": ["x"]})}
    save_cached_lineage(file, CachedLineage("key", tables, b"before" * 50))
    content = file.read_bytes()
    noticed = 0
    for at in range(4, len(content), 61):
        file.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        found = load_cached_lineage(file)
        noticed += found is None
        if found is not None:
            kept = {name: next(found.open(name)) for name in tables}
            assert (found.key, kept, found.before) == (("key",), tables, b"before" * 50)
    assert noticed > 30


def test_a_lineage_that_another_version_kept_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.kept"
    save_cached_lineage(file, CachedLineage("key", {"one": pa.table({"a": [1]})}, b"before"))
    assert load_cached_lineage(file) is not None
    monkeypatch.setattr("lineage_pipeline.store.lineage_file.CACHE_FORMAT_VERSION", b"another")
    assert load_cached_lineage(file) is None


def test_an_undamaged_batch_counts(cache: FileStore) -> None:
    assert set(find_batches(cache, PACKED)) == set(PACKED)
    assert load_compiled(cache, PACKED) == PACKED


def test_a_batch_without_its_end_does_not_count(cache: FileStore, tmp_path: Path) -> None:
    next((tmp_path / COMPILED_FOLDER).rglob(SUCCESS_MARKER)).unlink()
    assert find_batches(cache, PACKED) == {}


@pytest.mark.parametrize(
    "stored", [None, b"", b"x", prepend_digest(b"content")[:-1], prepend_digest(b"content") + b"x", b"0" * 40]
)
def test_a_checksummed_content_opens_only_if_unchanged(stored: bytes | None) -> None:
    assert verify_digest(stored) is None
    assert verify_digest(prepend_digest(b"content")) == b"content"


def test_every_table_says_the_version_of_its_schema(tmp_path: Path) -> None:
    run = Warehouse(tmp_path).begin("repo@1", "run", "key")
    run.write("sql_files", [])
    assert {table.schema_version for table in run.manifest.tables.values()} == {SCHEMA_VERSION}
    assert isinstance(run.read("sql_files"), pa.Table)


def _open_work(place: Path) -> Workspace:
    """A snapshot of one file on its way, and what its stages left: one batch of linked rows, and what holds them."""
    run = Warehouse(place).begin("repo@1", "run", "key")
    run.write("sql_files", [])
    work = Workspace(run, FileStore(place), load_settings(place, {}, {}), lambda: pytest.fail("Spark is not asked"))
    for folder in (f"{LINKED}/batch/rows", work.result_path("schemas/rows")):
        work.files.replace(f"{folder}/part.parquet", encode_parquet(pa.table({"a": list(range(1_000))})))
        work.files.replace(f"{folder}/{SUCCESS_MARKER}", b"")
    store_links(work, [FileLink("a.sql", "k", "batch")], done="batch")
    work.put_bytes("plan", b"plan" * 100)
    return work


@pytest.mark.parametrize("damaged", [f"{LINKED}/batch/rows/part.parquet", f"{LINKED}/batch/keys.parquet"])
def test_damage_of_linked_rows_is_noticed_and_they_are_linked_again(damaged: str, tmp_path: Path) -> None:
    work = _open_work(tmp_path)
    assert is_linked(work)
    assert _find_held_keys(work, {"k"}) == {"k": "batch"}
    content = (tmp_path / damaged).read_bytes()
    (tmp_path / damaged).write_bytes(content[: len(content) // 2])
    assert is_linked(work) is damaged.endswith("keys.parquet")  # who reads the rows does not ask for keys
    assert _find_held_keys(work, {"k"}) == {}
    assert not is_linked(work)


def test_damage_of_data_between_stages_is_detected(tmp_path: Path) -> None:
    work = _open_work(tmp_path)
    assert work.intact_folders(work.result_path("schemas")) == [work.result_path("schemas/rows")]
    assert work.get_bytes("plan") == b"plan" * 100
    for name in (work.result_path("schemas/rows/part.parquet"), work.result_path("plan"), work.pointer_path("links")):
        file = tmp_path / name
        content = bytearray(file.read_bytes())
        content[len(content) // 3] ^= 1
        file.write_bytes(content)
    assert work.intact_folders(work.result_path("schemas")) == []
    assert work.finished_folders(work.result_path("schemas")) == []
    assert work.get_bytes("plan") is None


def test_a_batch_list_in_use_is_not_overwritten_by_another_run(tmp_path: Path) -> None:
    """Spark reads it later than it is told to: with the batches of another run, no row would fit."""
    work = _open_work(tmp_path)
    first = work.pointer_path("links")
    content = (tmp_path / first).read_bytes()
    store_links(work, [FileLink("a.sql", "k", "another")])
    assert work.pointer_path("links") != first
    assert (tmp_path / first).read_bytes() == content


def test_a_check_reads_the_rows_of_its_own_run_while_a_later_run_writes(tmp_path: Path) -> None:
    from lineage_pipeline.defs.resources import StoreResource

    settings = load_settings(tmp_path, {"warehouse": str(tmp_path)}, {})
    for run in ("early", "late"):
        Warehouse(tmp_path).begin("repo@1", run, "key")
    assert StoreResource().view(settings, "repo@1", "early").id == "early"
    assert StoreResource().view(settings, "repo@1", "neither").id == "late"
