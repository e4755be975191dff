"""The same question again: with nothing changed, and with one file in a hundred edited."""

import tempfile
import time
from pathlib import Path

from benchmarks.apart import apart
from benchmarks.clocks import cpu_seconds
from benchmarks.figures import Figure
from benchmarks.generate import edit, write
from benchmarks.inputs import Input
from lineage_pipeline import compile_cache, pipeline
from lineage_pipeline.cli import folder_stamp, revisions
from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.cli.lineage_cache import load_or_analyze
from lineage_pipeline.incremental import refresh as resumed
from lineage_pipeline.queries import lineage, loading
from lineage_pipeline.store import lineage_file, stored_facts

LOADED = (compile_cache, pipeline, revisions, folder_stamp, lineage, loading, resumed, lineage_file, stored_facts)
"""What is imported before anything is measured: starting is measured apart."""

PERCENT = 1.0

SETTLED = 0.1
"""Seconds that files lie there before somebody asks: what is younger is read twice."""


def ask(question: tuple[str, str]) -> float:
    """Read a folder and give its lineage, kept or new, as every question on the command line does; say what it took."""
    folder, dialect = question
    begun = cpu_seconds()
    load_or_analyze([folder], ReadingFlags(dialect or None, cache=True))
    return cpu_seconds() - begun


def figures(one: Input, parse: float, rounds: int) -> list[Figure]:
    """Measure a first question, the same one again, and one after an edit, each in a process of its own."""
    texts = {file.path: file.text for file in one.files}
    cold, warm, changed = [], [], []
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="lineage-again-") as folder:
            question = folder, one.dialect
            Path(folder, "lineage.toml").touch()  # whatever lies above it does not count
            write(texts, Path(folder))
            time.sleep(SETTLED)
            cold.append(apart(ask, question))
            warm.append(apart(ask, question))
            after = edit(texts, PERCENT, number)
            write({path: text for path, text in after.items() if text != texts[path]}, Path(folder))
            time.sleep(SETTLED)
            changed.append(apart(ask, question))
    note = f"{min(cold):.2f}, {min(warm):.2f} and {min(changed):.2f} s"
    return [
        Figure("warm, nothing changed ÷ bare parse (CPU)", one.name, min(warm) / parse, note=note),
        Figure("1 % of the files changed ÷ cold (CPU)", one.name, min(changed) / min(cold), note=note),
    ]
