"""What this process and all that it started have used, read from /proc."""

import os
import threading
import time
from pathlib import Path

TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


class Meter:
    """Watches this process and its descendants; a process that has ended keeps what it was last seen to have used."""

    def __init__(self, every: float = 0.2) -> None:
        """Start to watch, in a thread that ends with the process."""
        self.largest: dict[str, int] = {}
        self._spent: dict[tuple[int, str], float] = {}
        self._every = every
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def seconds(self) -> float:
        """Give the CPU seconds of all processes since they began."""
        self._look()
        with self._lock:
            return sum(self._spent.values())

    def _watch(self) -> None:
        while True:
            self._look()
            time.sleep(self._every)

    def _look(self) -> None:
        with self._lock:
            for pid, fields in _tree().items():
                self._spent[pid, fields[19]] = sum(map(int, fields[11:13])) / TICKS
                name = program(pid)
                self.largest[name] = max(self.largest.get(name, 0), int(fields[21]) * PAGE)


def program(pid: int) -> str:
    """Name what a process is: the driver, the JVM, or a worker of Spark."""
    if pid == os.getpid():
        return "driver"
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "gone"
    return "worker" if b"pyspark.daemon" in line or b"pyspark/daemon" in line else "other"


def _tree() -> dict[int, list[str]]:
    """Give the fields after the name of each process of the tree, by id."""
    every = {pid: fields for pid, fields in map(_fields, _pids()) if fields}
    found = {os.getpid(): every[os.getpid()]}
    while True:
        more = {pid: fields for pid, fields in every.items() if int(fields[1]) in found and pid not in found}
        if not more:
            return found
        found |= more


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _fields(pid: int) -> tuple[int, list[str]]:
    try:
        return pid, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return pid, []
