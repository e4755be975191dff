"""Faults: whatever happens to the machine, a reader sees a snapshot whole or not at all, and the next run mends it."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from lineage_pipeline.settings import load_settings
from lineage_pipeline.spark.links import CACHE as LINKED
from lineage_pipeline.spark.links import Link, _held, is_linked, keep
from lineage_pipeline.spark.work import Work, parquet
from lineage_pipeline.store.compiled import CACHE, DONE, finished, held, load, save
from lineage_pipeline.store.damage import intact, opened, sealed
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.packing import Packed
from lineage_pipeline.store.run import Run, required
from lineage_pipeline.store.schemas import SCHEMA_VERSION
from lineage_pipeline.store.shelf import Shelf, put_up, take_down
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests import faults
from lineage_pipeline_tests.dying import Mortuary


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_nothing_half_seen(tmp_path: Path) -> None:
    writers = Mortuary(tmp_path)
    spread = range(1, writers.points, writers.points // 6)
    seen = [writers.is_seen_after(point) for point in spread]
    assert seen == sorted(seen)
    shown = writers.publication()
    assert 1 < shown < writers.points
    assert [writers.is_seen_after(point, alone=True) for point in (shown - 1, shown)] == [False, True]
    assert writers.killed > 15


@pytest.mark.slow
def test_runs_at_the_same_time_are_safe(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        faults.make_repository(folder)
    (other / "more.sql").write_text("create table more (a int);\n")
    running = [faults.start(tmp_path / "w", folder, run) for folder, run in ((one, "a"), (one, "b"), (other, "c"))]
    ends = [(process.communicate(), process.returncode) for process in running]
    assert ends[2][1] == 0
    refused = [said for (_, said), code in ends[:2] if code]
    assert all("was published by the later run" in said for said in refused), refused
    assert len(refused) < 2
    alone = tmp_path / "alone"
    for folder, run in ((one, "a"), (other, "c")):
        faults.finish(alone, folder, run)
    assert faults.seen(tmp_path / "w") == faults.seen(alone)


def test_what_a_killed_run_left_goes_even_if_the_one_that_was_to_collect_it_was_killed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Warehouse(tmp_path)

    def written(run: str) -> Run:
        begun = warehouse.begin("r@1", run, "same")
        for table in required(("r@1",)):
            begun.write(table, ())
        return begun

    def left() -> set[str]:
        return {part for path in tmp_path.rglob("*") for part in path.parts if part.startswith("run=")}

    written("first").publish()
    warehouse.begin("r@1", "killed", "same").write("statements", ())  # which has inherited all other tables
    with monkeypatch.context() as dying:
        dying.setattr(Run, "_collect", lambda *_: None)
        written("shown").publish()
    assert left() == {"run=first", "run=killed", "run=shown"}
    written("last").publish()
    assert {path.parent.name for path in tmp_path.rglob("*.parquet")} == {"run=first", "run=shown", "run=last"}
    assert warehouse.manifest("r@1").superseded == ("first", "shown")  # type: ignore[union-attr]
    warehouse.collect()
    written("later").publish()
    assert warehouse.manifest("r@1").superseded == ("last",)  # type: ignore[union-attr]


def _limited() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))


@pytest.mark.slow
def test_a_full_disk_is_one_error_and_the_warehouse_stays_as_it_was(tmp_path: Path) -> None:
    folder, warehouse = tmp_path / "repo", tmp_path / "w"
    folder.mkdir()
    faults.make_repository(folder)
    faults.finish(warehouse, folder, "first")
    before = faults.seen(warehouse)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "lineage_pipeline_tests.faults",
        "write",
        str(warehouse),
        str(folder),
        "full",
    ]
    full = subprocess.run(command, cwd=faults.ROOT, capture_output=True, text=True, preexec_fn=_limited)
    assert full.returncode == 1
    assert "File too large" in full.stderr.splitlines()[-1]
    assert faults.seen(warehouse) == before
    faults.finish(warehouse, folder, "after")
    assert faults.seen(warehouse) == before


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
        "--format",
        "json",
        "-o",
        place,
    ]
    done = subprocess.run(
        command, cwd=faults.ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(faults.ROOT)}
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_a_closed_warehouse_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError):
        Warehouse("/proc/lineage").begin("repo@1", "run", "key")


PACKED = {"a": Packed(b"script" * 500, b"face", b""), "b": Packed(os.urandom(5_000), b"", b"")}


@pytest.fixture
def cache(tmp_path: Path) -> Files:
    files = Files(tmp_path)
    save(files, PACKED)
    return files


@pytest.mark.parametrize("damage", ["torn", "empty", "garbage"])
def test_a_damaged_batch_of_the_cache_is_noticed_and_no_longer_counts(
    cache: Files, damage: str, tmp_path: Path
) -> None:
    (path,) = (tmp_path / CACHE).rglob("*.parquet")
    content = path.read_bytes()
    path.write_bytes(
        {
            "torn": content[: -len(content) // 3],
            "empty": b"",
            "garbage": os.urandom(len(content)),
        }[damage]
    )
    assert not intact(cache, path.relative_to(tmp_path).as_posix())
    assert load(cache, PACKED) == {}
    assert held(cache, PACKED) == {}
    assert finished(cache, CACHE) == []


def test_no_bit_that_flips_gives_another_content(cache: Files, tmp_path: Path) -> None:
    (path,) = (tmp_path / CACHE).rglob("*.parquet")
    content = path.read_bytes()
    noticed = 0
    for at in range(4, len(content), 97):
        path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        found = load(cache, PACKED)
        assert found in ({}, PACKED)
        noticed += not found
    assert noticed > 30


def test_no_bit_that_flips_in_a_kept_lineage_gives_another_one(tmp_path: Path) -> None:
    file, tables = tmp_path / "a.kept", {"one": pa.table({"a": list(range(2_000))}), "two": pa.table({"b": ["x"]})}
    put_up(file, Shelf("key", tables, b"before" * 50))
    content = file.read_bytes()
    noticed = 0
    for at in range(4, len(content), 61):
        file.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        found = take_down(file)
        noticed += found is None
        if found is not None:
            kept = {name: next(found.open(name)) for name in tables}
            assert (found.key, kept, found.before) == (("key",), tables, b"before" * 50)
    assert noticed > 30


def test_a_lineage_that_another_version_kept_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.kept"
    put_up(file, Shelf("key", {"one": pa.table({"a": [1]})}, b"before"))
    assert take_down(file) is not None
    monkeypatch.setattr("lineage_pipeline.store.shelf.VERSION", b"another")
    assert take_down(file) is None


def test_an_undamaged_batch_counts(cache: Files) -> None:
    assert set(held(cache, PACKED)) == set(PACKED)
    assert load(cache, PACKED) == PACKED


def test_a_batch_without_its_end_does_not_count(cache: Files, tmp_path: Path) -> None:
    next((tmp_path / CACHE).rglob(DONE)).unlink()
    assert held(cache, PACKED) == {}


@pytest.mark.parametrize("stored", [None, b"", b"x", sealed(b"content")[:-1], sealed(b"content") + b"x", b"0" * 40])
def test_what_is_sealed_opens_only_as_it_was_closed(stored: bytes | None) -> None:
    assert opened(stored) is None
    assert opened(sealed(b"content")) == b"content"


def test_every_table_says_the_version_of_its_schema(tmp_path: Path) -> None:
    run = Warehouse(tmp_path).begin("repo@1", "run", "key")
    run.write("sql_files", [])
    assert {table.schema_version for table in run.manifest.tables.values()} == {SCHEMA_VERSION}
    assert isinstance(run.read("sql_files"), pa.Table)


def _work(place: Path) -> Work:
    """A snapshot of one file on its way, and what its stages left: one batch of linked rows, and what holds them."""
    run = Warehouse(place).begin("repo@1", "run", "key")
    run.write("sql_files", [])
    work = Work(run, Files(place), load_settings(place, {}, {}), lambda: pytest.fail("Spark is not asked"))
    for folder in (f"{LINKED}/batch/rows", work.place("schemas/rows")):
        work.files.replace(f"{folder}/part.parquet", parquet(pa.table({"a": list(range(1_000))})))
        work.files.replace(f"{folder}/{DONE}", b"")
    keep(work, [Link("a.sql", "k", "batch")], done="batch")
    work.keep("plan", b"plan" * 100)
    return work


@pytest.mark.parametrize("damaged", [f"{LINKED}/batch/rows/part.parquet", f"{LINKED}/batch/keys.parquet"])
def test_damage_of_linked_rows_is_noticed_and_they_are_linked_again(damaged: str, tmp_path: Path) -> None:
    work = _work(tmp_path)
    assert is_linked(work)
    assert _held(work, {"k"}) == {"k": "batch"}
    content = (tmp_path / damaged).read_bytes()
    (tmp_path / damaged).write_bytes(content[: len(content) // 2])
    assert is_linked(work) is damaged.endswith("keys.parquet")  # who reads the rows does not ask for keys
    assert _held(work, {"k"}) == {}
    assert not is_linked(work)


def test_damage_of_what_stages_hand_on_is_noticed(tmp_path: Path) -> None:
    work = _work(tmp_path)
    assert work.sound(work.place("schemas")) == [work.place("schemas/rows")]
    assert work.kept("plan") == b"plan" * 100
    for name in (work.place("schemas/rows/part.parquet"), work.place("plan"), work.pointed("links")):
        file = tmp_path / name
        content = bytearray(file.read_bytes())
        content[len(content) // 3] ^= 1
        file.write_bytes(content)
    assert work.sound(work.place("schemas")) == []
    assert work.finished(work.place("schemas")) == []
    assert work.kept("plan") is None


def test_what_names_batches_stays_as_it_was_though_another_run_names_others(tmp_path: Path) -> None:
    """Spark reads it later than it is told to: with the batches of another run, no row would fit."""
    work = _work(tmp_path)
    first = work.pointed("links")
    content = (tmp_path / first).read_bytes()
    keep(work, [Link("a.sql", "k", "another")])
    assert work.pointed("links") != first
    assert (tmp_path / first).read_bytes() == content


def test_a_check_looks_at_the_rows_of_its_own_run_though_a_later_one_has_begun(tmp_path: Path) -> None:
    from lineage_pipeline.defs.resources import StoreResource

    settings = load_settings(tmp_path, {"warehouse": str(tmp_path)}, {})
    for run in ("early", "late"):
        Warehouse(tmp_path).begin("repo@1", run, "key")
    assert StoreResource().view(settings, "repo@1", "early").id == "early"
    assert StoreResource().view(settings, "repo@1", "neither").id == "late"
