"""A writer that kills itself at a counted point: before or after any call that the store makes.

Points are counted by a profile hook: each function that the store's files call, and each system call, is one. So
every moment at which the disk changes lies between two points, and none depends on a clock.
"""

import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType

import msgspec

from lineage_pipeline import pipeline
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.store import file_store, table_files
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.example_run import canonical_rows
from lineage_pipeline_tests.support.fault_injection import published_files, read_published

KEY = "repo@1"
WRITING_MODULES = frozenset({file_store.__file__, table_files.__file__})
"""The files of the store that touch the disk."""


class WrittenContent(msgspec.Struct, frozen=True):
    """The discovery and the lineage that are written under the key."""

    found: Discovery
    lineage: LineageTables

    @property
    def rows(self) -> dict[str, list[bytes]]:
        """The rows that a reader must see."""
        return canonical_rows(self.lineage)


def analyze_content(folder: Path, number: int) -> WrittenContent:
    """Analyze a small folder, a different one for each number."""
    folder.mkdir()
    (folder / "t.sql").write_text(
        f"create table t (a int, b{number} int);\ncreate view v as select a, b{number} from t;\n"
    )
    settings = load_settings(folder, {"analysis": {"dialect": "postgres"}}, {})
    found = discover_folder(folder, settings, name="repo")
    return WrittenContent(found, pipeline.build_lineage(build_input_files(found, settings)))


def write_content(warehouse: Path, run: str, written: WrittenContent) -> None:
    """Write a content under the key, and publish it."""
    opened = Warehouse(warehouse).begin(KEY, run, run)
    opened.write("snapshots", [written.found.snapshot])
    opened.write("sources", written.found.sources)
    opened.write("sql_files", written.found.files)
    for table in LineageTables.__struct_fields__:
        if table in TABLES:
            opened.write(table, getattr(written.lineage, table))
    opened.publish()


def count_points(warehouse: Path, run: str, written: WrittenContent) -> int:
    """Write to the end, and count the points."""
    counted = _PointCounter(0)
    sys.setprofile(counted)
    try:
        write_content(warehouse, run, written)
    finally:
        sys.setprofile(None)
    return counted.points


def kill_at_point(point: int, warehouse: Path, run: str, written: WrittenContent) -> bool:
    """Write in a child process that kills itself at a point, and say whether it did."""
    child = os.fork()
    if not child:
        sys.setprofile(_PointCounter(point))
        write_content(warehouse, run, written)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


class _PointCounter:
    """Counts the calls that the store makes, and kills the process at one of them."""

    def __init__(self, deadly: int) -> None:
        self.points, self.deadly = 0, deadly

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take note of an event of the interpreter."""
        caller = frame if event == "c_call" else frame.f_back if event == "call" else None
        if caller is not None and caller.f_code.co_filename in WRITING_MODULES:
            self.points += 1
            if self.points == self.deadly:
                os.kill(os.getpid(), signal.SIGKILL)


class KilledWriters:
    """A warehouse with published rows, whose next writers are killed, each at another point."""

    def __init__(self, place: Path) -> None:
        """Write once without being disturbed, and count the points on the way."""
        self.old, self.new = analyze_content(place / "old", 1), analyze_content(place / "new", 2)
        self.warehouse, self.killed, self.earlier = place / "warehouse", 0, set[str]()
        write_content(place / "calm", "old", self.old)
        self.points = count_points(place / "calm", "new", self.new)
        assert read_published(place / "calm") == [self.new.rows]

    def is_published_after(self, point: int, *, alone: bool = False) -> bool:
        """Kill a writer at a point; say whether readers see its rows. They see them or the earlier ones, complete.

        Where it is not alone, leftovers of other writers may be in its way, and it has some more points.
        """
        if not self.warehouse.exists():
            write_content(self.warehouse, "old", self.old)
            self.earlier = published_files(self.warehouse)
        assert kill_at_point(point, self.warehouse, f"killed{point}", self.new), f"{point} of {self.points}"
        self.killed += 1
        shown = read_published(self.warehouse)
        assert shown in ([self.old.rows], [self.new.rows]), f"killed at {point} of {self.points}"
        if alone or shown == [self.new.rows] or self.killed % 3 == 0:
            self._recover()
        return shown == [self.new.rows]

    def _recover(self) -> None:
        """Let a writer finish: its rows are visible, files in use are kept, leftovers of killed writers are gone."""
        held = self.earlier | published_files(self.warehouse)
        write_content(self.warehouse, "again", self.new)
        assert read_published(self.warehouse) == [self.new.rows]
        assert _list_data_files(self.warehouse) == held | published_files(self.warehouse)
        Warehouse(self.warehouse).collect()
        assert _list_data_files(self.warehouse) == published_files(self.warehouse)
        assert read_published(self.warehouse) == [self.new.rows]
        shutil.rmtree(self.warehouse)

    def find_publication_point(self) -> int:
        """Find the first point after which the new content is visible."""
        if self.warehouse.exists():
            self._recover()
        before, after = 1, self.points
        while after - before > 1:
            middle = (before + after) // 2
            seen_by_then = self.is_published_after(middle, alone=True)
            before, after = (before, middle) if seen_by_then else (middle, after)
        return after


def _list_data_files(warehouse: Path) -> set[str]:
    return {path.relative_to(warehouse).as_posix() for path in warehouse.rglob("*.parquet")}
