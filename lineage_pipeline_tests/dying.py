"""A writer that kills itself at a counted point of its writing: before or after any call that the store makes.

Points are counted by a profile hook: each function that the store's files call, and each call of the system, is one. So
every moment at which the disk differs from the moment before lies between two points, and none depends on a clock.
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
from lineage_pipeline.store import file_store, parquet
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.faults import published, seen
from lineage_pipeline_tests.materialised import canonical

KEY = "repo@1"
WRITING = frozenset({file_store.__file__, parquet.__file__})
"""The files of the store that touch the disk."""


class Content(msgspec.Struct, frozen=True):
    """What is written under the key."""

    found: Discovery
    lineage: LineageTables

    @property
    def rows(self) -> dict[str, list[bytes]]:
        """What a reader must see of it."""
        return canonical(self.lineage)


def content(folder: Path, number: int) -> Content:
    """Analyse a small folder, another one for each number."""
    folder.mkdir()
    (folder / "t.sql").write_text(
        f"create table t (a int, b{number} int);\ncreate view v as select a, b{number} from t;\n"
    )
    settings = load_settings(folder, {"analysis": {"dialect": "postgres"}}, {})
    found = discover_folder(folder, settings, name="repo")
    return Content(found, pipeline.build_lineage(build_input_files(found, settings)))


def write(warehouse: Path, run: str, written: Content) -> None:
    """Write a content under the key, and publish it."""
    opened = Warehouse(warehouse).begin(KEY, run, run)
    opened.write("snapshots", [written.found.snapshot])
    opened.write("sources", written.found.sources)
    opened.write("sql_files", written.found.files)
    for table in LineageTables.__struct_fields__:
        if table in TABLES:
            opened.write(table, getattr(written.lineage, table))
    opened.publish()


def points_of(warehouse: Path, run: str, written: Content) -> int:
    """Write to the end, and count the points."""
    counted = _Counter(0)
    sys.setprofile(counted)
    try:
        write(warehouse, run, written)
    finally:
        sys.setprofile(None)
    return counted.points


def killed_at(point: int, warehouse: Path, run: str, written: Content) -> bool:
    """Write in a child that kills itself at a point, and say whether it did."""
    child = os.fork()
    if not child:
        sys.setprofile(_Counter(point))
        write(warehouse, run, written)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


class _Counter:
    """Counts the calls that the store makes, and kills the process at one of them."""

    def __init__(self, deadly: int) -> None:
        self.points, self.deadly = 0, deadly

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take note of an event of the interpreter."""
        caller = frame if event == "c_call" else frame.f_back if event == "call" else None
        if caller is not None and caller.f_code.co_filename in WRITING:
            self.points += 1
            if self.points == self.deadly:
                os.kill(os.getpid(), signal.SIGKILL)


class Mortuary:
    """A warehouse in which something is published, and whose next writers are killed, each at another point."""

    def __init__(self, place: Path) -> None:
        """Write once without being disturbed, and count the points on the way."""
        self.old, self.new = content(place / "old", 1), content(place / "new", 2)
        self.warehouse, self.killed, self.earlier = place / "warehouse", 0, set[str]()
        write(place / "calm", "old", self.old)
        self.points = points_of(place / "calm", "new", self.new)
        assert seen(place / "calm") == [self.new.rows]

    def is_seen_after(self, point: int, *, alone: bool = False) -> bool:
        """Kill a writer at a point; say whether readers see what it wrote. They see that or what was before, whole.

        Where it is not alone it may come upon what is left of others, and its points are some more.
        """
        if not self.warehouse.exists():
            write(self.warehouse, "old", self.old)
            self.earlier = published(self.warehouse)
        assert killed_at(point, self.warehouse, f"killed{point}", self.new), f"{point} of {self.points}"
        self.killed += 1
        shown = seen(self.warehouse)
        assert shown in ([self.old.rows], [self.new.rows]), f"killed at {point} of {self.points}"
        if alone or shown == [self.new.rows] or self.killed % 3 == 0:
            self._mend()
        return shown == [self.new.rows]

    def _mend(self) -> None:
        """Let a run go through: its rows are there, what readers may still hold, and nothing of those killed."""
        held = self.earlier | published(self.warehouse)
        write(self.warehouse, "again", self.new)
        assert seen(self.warehouse) == [self.new.rows]
        assert _data(self.warehouse) == held | published(self.warehouse)
        Warehouse(self.warehouse).collect()
        assert _data(self.warehouse) == published(self.warehouse)
        assert seen(self.warehouse) == [self.new.rows]
        shutil.rmtree(self.warehouse)

    def publication(self) -> int:
        """Find the point at which the new content begins to be seen: one call before, it is not."""
        if self.warehouse.exists():
            self._mend()
        before, after = 1, self.points
        while after - before > 1:
            middle = (before + after) // 2
            seen_by_then = self.is_seen_after(middle, alone=True)
            before, after = (before, middle) if seen_by_then else (middle, after)
        return after


def _data(warehouse: Path) -> set[str]:
    return {path.relative_to(warehouse).as_posix() for path in warehouse.rglob("*.parquet")}
