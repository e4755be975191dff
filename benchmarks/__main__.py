"""`python -m benchmarks`: measure synthetic repositories, or the files that are given, and print a table of ratios."""

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import msgspec

from benchmarks.generate import edit, generate, write
from benchmarks.parse_ratio import STAGES, Ratio, measure
from lineage_pipeline.discover.files import discover_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.gather import input_files
from lineage_pipeline.settings import load_settings
from lineage_pipeline.vocabulary.analysis import InputFile, Options

DIALECTS = ("snowflake", "tsql", "bigquery")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = _parser().parse_args(arguments)
    if options.write is not None:
        return _write(options)
    rows = []
    for name, files in _inputs(options):
        print(f"measuring {name}: {len(files)} files, best of {options.rounds}", file=sys.stderr, flush=True)
        rows.append(measure(name, files, options.rounds))
    print(table(rows))
    if options.json is not None:
        options.json.write_bytes(report(rows))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Our cold run over bare parsing, in CPU time.")
    parser.add_argument("paths", nargs="*", type=Path, help="folders or files to measure, besides synthetic ones")
    parser.add_argument("--dialect", help=f"dialect of everything (synthetic repositories: {', '.join(DIALECTS)})")
    parser.add_argument("--statements", type=int, default=2000, help="size of a synthetic repository; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5, help="how often to measure; the best round counts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write a repository there, measure nothing")
    parser.add_argument("--edited", type=float, metavar="PERCENT", help="with --write: change that share of the files")
    return parser


def _write(options: argparse.Namespace) -> int:
    files = generate(options.statements, options.seed, options.dialect or DIALECTS[0])
    write(edit(files, options.edited, options.seed) if options.edited else files, options.write)
    print(f"{len(files)} files are in {options.write}", file=sys.stderr)
    return 0


def _inputs(options: argparse.Namespace) -> Iterator[tuple[str, list[InputFile]]]:
    for dialect in (options.dialect,) if options.dialect else DIALECTS:
        if options.statements:
            files = generate(options.statements, options.seed, dialect)
            rules = Options(dialect)
            yield f"synthetic {dialect}", [InputFile(path, text, rules) for path, text in sorted(files.items())]
    for path in options.paths:
        yield path.as_posix(), discovered(path, options.dialect)


def discovered(path: Path, dialect: str | None) -> list[InputFile]:
    """The files below a folder, or one file, read as the settings there say."""
    settings = load_settings(path, {"analysis": {"dialect": dialect}}, os.environ)
    found = discover_folder(path, settings) if path.is_dir() else discover_files([str(path)], b"", settings)
    return list(input_files(found, settings))


def table(rows: Sequence[Ratio]) -> str:
    """The figures as Markdown; stages are multiples of bare parsing, too."""
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


def report(rows: Sequence[Ratio]) -> bytes:
    """The figures as JSON, with the versions that they hold for."""
    versions = {name: metadata.version(name) for name in ("lineage-pipeline", "sqlglot")}
    content = {
        "versions": {"python": platform.python_version(), **versions},
        "ratios": [msgspec.structs.asdict(row) | {"ratio": row.ratio, "to_edges": row.to_edges} for row in rows],
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


if __name__ == "__main__":
    sys.exit(main())
