"""A figure: what was measured beside what we owe, as a row of Markdown and of JSON."""

import os
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata

import msgspec


class Owed(msgspec.Struct, frozen=True):
    """What we promise: the limit, whether it is the most or the least, and what we aim for."""

    limit: float
    aim: float | None = None
    least: bool = False

    def text(self) -> str:
        """Say the promise in two words."""
        return f"{'≥' if self.least else '≤'} {self.limit:g}"

    def met(self, value: float) -> bool:
        """Tell whether a value keeps the promise."""
        return value >= self.limit if self.least else value <= self.limit


class Figure(msgspec.Struct, frozen=True):
    """One measurement; without a value, the note says why there is none."""

    what: str
    input: str
    value: float | None
    unit: str = "×"
    note: str = ""

    @property
    def owed(self) -> Owed | None:
        """Give the promise that this is about."""
        return OWED.get(self.what)


OWED = {
    "cold, to edges ÷ bare parse (CPU)": Owed(1.6, 1.0),
    "warm, nothing changed ÷ bare parse (CPU)": Owed(0.10, 0.03),
    "1 % of the files changed ÷ cold (CPU)": Owed(0.15, 0.05),
    "sqlglot lineage ÷ ours (CPU)": Owed(2, 3, least=True),
    "polyglot-sql ÷ ours (CPU)": Owed(2, 3, least=True),
    "flowscope ÷ ours (CPU)": Owed(2, 4, least=True),
    "acryl-datahub ÷ ours (CPU)": Owed(15, 30, least=True),
    "sql-glider ÷ ours (CPU)": Owed(30, 60, least=True),
    "sqllineage ÷ ours (CPU)": Owed(60, 120, least=True),
    "infotracker ÷ ours (CPU)": Owed(10, 20, least=True),
    "10 × the statements, time (CPU)": Owed(11),
    "10 × the statements, memory": Owed(11),
    "Spark, compile stage, 1 core ÷ 2 cores (wall)": Owed(1.6, 1.8, least=True),
    "Spark, whole snapshot ÷ (in process ÷ cores) (wall)": Owed(1.5, 1.2),
    "impact question, 1M edges, loaded, p95": Owed(50, 5),
    "lineage --version (wall)": Owed(0.4, 0.15),
}
"""What we owe; a figure with another name is for information."""


def unmeasured(figures: Sequence[Figure]) -> list[Figure]:
    """Give a row for every promise that no figure is about: none is left out in silence."""
    seen = {figure.what for figure in figures}
    return [Figure(what, "", None, note="not measured in this run") for what in OWED if what not in seen]


def markdown(figures: Iterable[Figure]) -> str:
    """Write figures as a table."""
    lines = ["| what | input | measured | owe | aim | met | note |", "|---|---|--:|--:|--:|---|---|"]
    for figure in figures:
        owed, value = figure.owed, figure.value
        shown = "–" if value is None else f"{_short(value)} {figure.unit}"
        promise = [owed.text(), "" if owed.aim is None else f"{owed.aim:g}"] if owed else ["", ""]
        met = "" if owed is None or value is None else ("yes" if owed.met(value) else "**no**")
        lines.append(f"| {' | '.join([figure.what, figure.input, shown, *promise, met, figure.note])} |")
    return "\n".join(lines)


def _short(value: float) -> str:
    if value == 0 or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def machine() -> dict[str, str]:
    """Say what the figures hold for."""
    names = ("lineage-pipeline", "sqlglot", "pyspark", "pyarrow", "duckdb")
    versions = {name: metadata.version(name) for name in names}
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return {
        "python": platform.python_version(),
        **versions,
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load average": load,
    }
