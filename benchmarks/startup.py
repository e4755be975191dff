"""How long the command line takes to start."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.figures import Figure

ROUNDS = 7


def start_up() -> Iterator[Figure]:
    """Give the best of a few starts, in wall and CPU time."""
    walls, spent = [], []
    for _ in range(ROUNDS):
        before, begun = os.times(), time.perf_counter()
        subprocess.run([sys.executable, "-m", "lineage_pipeline.cli", "--version"], capture_output=True, check=True)
        after = os.times()
        walls.append(time.perf_counter() - begun)
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    yield Figure("lineage --version (wall)", "", min(walls), "s", f"best of {ROUNDS}; {min(spent):.2f} s of CPU")
