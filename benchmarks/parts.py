"""The parts of the benchmark, each a function that adds what it measured to the report."""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks import again, graphs, growth, spark_runs
from benchmarks.figures import Figure, machine, markdown, unmeasured
from benchmarks.generate import write
from benchmarks.growth import Cost
from benchmarks.inputs import inputs
from benchmarks.parse_ratio import STAGES, Ratio, measure
from benchmarks.peers import compare
from benchmarks.plot import plot
from benchmarks.spark_runs import Local, SparkRun
from benchmarks.startup import start_up


class Report(msgspec.Struct):
    """All that one run of the benchmark has measured."""

    figures: list[Figure] = []
    ratios: list[Ratio] = []
    costs: list[Cost] = []
    local: Local | None = None
    spark: list[SparkRun] = []

    def markdown(self) -> str:
        """Write the ratios in detail, then every promise with what was measured."""
        own = [f"{name} {value}" for name, value in machine().items()]
        tables = [table(self.ratios)] if self.ratios else []
        return "\n\n".join([*tables, markdown([*self.figures, *unmeasured(self.figures)]), ", ".join(own)])

    def json(self) -> bytes:
        """Write everything for programs."""
        ratios = [msgspec.structs.asdict(row) | {"ratio": row.ratio, "to_edges": row.to_edges} for row in self.ratios]
        content = {
            "machine": machine(),
            "figures": self.figures,
            "ratios": ratios,
            "growth": self.costs,
            "in_process": self.local,
            "spark": self.spark,
        }
        return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"

    def write(self, folder: Path) -> None:
        """Leave the report, and the plot where growth was measured."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.md").write_text(self.markdown() + "\n", encoding="utf-8")
        (folder / "report.json").write_bytes(self.json())
        if self.costs:
            (folder / "growth.svg").write_text(growth_plot(self.costs), encoding="utf-8")


def growth_plot(costs: Sequence[Cost]) -> str:
    """Draw time and memory over size."""
    lines = {
        "to edges, s": [(cost.statements, cost.seconds) for cost in costs],
        "reach, s": [(cost.statements, cost.reach) for cost in costs],
        "memory, GB": [(cost.statements, cost.memory / 1000) for cost in costs],
    }
    return plot("One process, cold: CPU seconds and memory", "statements", "", lines)


def table(rows: Sequence[Ratio]) -> str:
    """The ratios as Markdown; stages are multiples of bare parsing, too."""
    header = ["input", "files", "statements", "kB", "edges", "parse s", "ours s", "ratio", "to edges", *STAGES]
    lines = [header, ["---"] + ["--:"] * (len(header) - 1)]
    for row in rows:
        ours, parse = row.analysis, row.parse
        stages = [f"{ours.stages[stage] / parse.seconds:.2f}" for stage in STAGES]
        gave_up = f" ({parse.failed} batches not parsed)" if parse.failed else ""
        counts = [row.files, ours.statements, row.characters // 1000, ours.edges]
        times = [f"{parse.seconds:.3f}{gave_up}", f"{ours.seconds:.3f}", f"{row.ratio:.2f}", f"**{row.to_edges:.2f}**"]
        lines.append([row.name, *(f"{count:,}" for count in counts), *times, *stages])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def measure_ratios(options: argparse.Namespace, report: Report) -> None:
    """Measure our cold run over bare parsing, and those that find a cache."""
    for one in inputs(options):
        row = measure(one.name, one.files, options.rounds)
        report.ratios.append(row)
        times = f"{row.analysis.seconds - row.analysis.stages['reach']:.2f} s against {row.parse.seconds:.2f} s"
        gave_up = f"; the parser gave up {row.parse.failed} batches" if row.parse.failed else ""
        report.figures.append(Figure("cold, to edges ÷ bare parse (CPU)", one.name, row.to_edges, note=times + gave_up))
        report.figures += again.figures(one, row.parse.seconds, min(options.rounds, 3))


def measure_peers(options: argparse.Namespace, report: Report) -> None:
    """Ask the peers that are installed for the same files."""
    for one in inputs(options):
        analyzed = measure(one.name, one.files, min(options.rounds, 3)).analysis
        with tempfile.TemporaryDirectory(prefix="lineage-peers-") as folder:
            write({file.path: file.text for file in one.files if file.path.endswith(".sql")}, Path(folder))
            ours = analyzed.seconds - analyzed.stages["reach"]
            report.figures += compare(one.name, Path(folder), one.dialect, ours, options.peers)


def measure_growth(options: argparse.Namespace, report: Report) -> None:
    """Measure repositories of growing size."""
    report.costs += growth.measure_sizes(options.sizes)
    report.figures += growth.figures(report.costs)


def measure_spark(options: argparse.Namespace, report: Report) -> None:
    """Measure Spark on one core and on two."""
    report.local, runs = spark_runs.measure(options.spark_statements)
    report.spark += runs
    report.figures += spark_runs.figures(options.spark_statements, report.local, runs)


def measure_graphs(options: argparse.Namespace, report: Report) -> None:
    """Ask large graphs."""
    for edges in options.edges:
        report.figures += graphs.questions(edges)


def measure_start(options: argparse.Namespace, report: Report) -> None:
    """Start the command line."""
    report.figures += start_up()


PARTS: dict[str, Callable[[argparse.Namespace, Report], None]] = {
    "ratios": measure_ratios,
    "startup": measure_start,
    "graphs": measure_graphs,
    "growth": measure_growth,
    "spark": measure_spark,
    "peers": measure_peers,
}
"""What can be measured, in order."""
