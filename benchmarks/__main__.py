"""`python -m benchmarks`: measure synthetic repositories, or given files, and print what we owe beside it."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.generate import edit, generate, write
from benchmarks.inputs import DIALECTS
from benchmarks.parts import PARTS, Report
from benchmarks.peers import install


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = _parser().parse_args(arguments)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every process measures how modules are compiled
    if options.write is not None:
        return _write(options)
    if options.install_peers:
        install(options.peers)
        return 0
    report = Report()
    wanted = list(PARTS) if "all" in options.parts else options.parts
    for part in wanted:
        print(f"measuring: {part}", file=sys.stderr, flush=True)
        PARTS[part](options, report)
    text = report.markdown()
    print(text)
    if options.json is not None:
        options.json.write_bytes(report.json())
    if options.out is not None:
        report.write(options.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Our work over bare parsing, and what we owe.")
    add = parser.add_argument
    add("paths", nargs="*", help="folders or files to measure besides synthetic ones; PATH=DIALECT names a dialect")
    add("--parts", nargs="+", choices=[*PARTS, "all"], default=["ratios"], help="what to measure")
    add("--dialect", help=f"dialect of everything (synthetic repositories: {', '.join(DIALECTS)})")
    add("--statements", type=int, default=2000, help="size of a synthetic repository; 0: none")
    add("--seed", type=int, default=0)
    add("--rounds", type=int, default=5, help="how often to measure; the best round counts")
    add("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="statements of the growth curve")
    add("--spark-statements", type=int, default=20_000, help="statements of the runs on Spark")
    add("--edges", type=int, nargs="+", default=[1_000_000, 5_000_000], help="edges of the graphs")
    add("--peers", type=Path, default=Path(".lineage/peers"), metavar="FOLDER", help="where peers are installed")
    add("--install-peers", action="store_true", help="install the peers there, each for itself; measure nothing")
    add("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    add("--out", type=Path, metavar="FOLDER", help="write report.md, report.json and growth.svg there")
    add("--write", type=Path, metavar="FOLDER", help="write a repository there, measure nothing")
    add("--edited", type=float, metavar="PERCENT", help="with --write: change that share of the files")
    return parser


def _write(options: argparse.Namespace) -> int:
    files = generate(options.statements, options.seed, options.dialect or DIALECTS[0])
    write(edit(files, options.edited, options.seed) if options.edited else files, options.write)
    print(f"{len(files)} files are in {options.write}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
