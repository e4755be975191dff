"""`python -m benchmarks.witness`: run programs on real engines, and print what was seen that a tool does not say."""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.witness.engines import DuckDB, Engine, MariaDB, PostgreSQL, Spark, SQLite
from benchmarks.witness.report import describe_tally, record
from benchmarks.witness.run import run_all, shrink_example
from benchmarks.witness.tools import OtherTool, OurEngine, Tool

SHOWN = 10
COUNTS = {"duckdb": 100_000, "sqlite": 100_000, "postgres": 10_000, "mariadb": 10_000, "spark": 1_000}


@contextmanager
def start_postgres() -> Iterator[Engine]:
    """A server of its own."""
    from lineage_pipeline_tests.oracles.server import MISSING, binaries, running

    programs = binaries()
    if programs is None:
        raise SystemExit(MISSING)
    with running(programs) as folder:
        yield PostgreSQL(folder)


@contextmanager
def start_mariadb() -> Iterator[Engine]:
    """A server of its own."""
    from lineage_pipeline_tests.oracles.rewrites.mariadb import MISSING, find_programs, running

    if find_programs() is None:
        raise SystemExit(MISSING)
    with running() as server:
        yield MariaDB(server.socket)


@contextmanager
def start_spark() -> Iterator[Engine]:
    """A local session."""
    from lineage_pipeline_tests.oracles.spark import start_session

    yield Spark(start_session())


def start_engine(name: str, stack: ExitStack) -> Engine:
    """The engine of a name, for as long as the stack is open."""
    match name:
        case "duckdb":
            return DuckDB()
        case "sqlite":
            return SQLite()
        case "postgres":
            return stack.enter_context(start_postgres())
        case "mariadb":
            return stack.enter_context(start_mariadb())
        case _:
            return stack.enter_context(start_spark())


def start_tool(options: argparse.Namespace, stack: ExitStack) -> Tool:
    """Our engine, or another tool by its command."""
    if not options.tool:
        return OurEngine()
    name, _, command = options.tool.partition("=")
    tool = OtherTool(name, shlex.split(command))
    stack.callback(tool.close)
    return tool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run programs on the engines; 1 if there is a counter-example for our engine."""
    options = parse_arguments(arguments)
    failed = False
    for name in options.engines:
        with ExitStack() as stack:
            engine, tool = start_engine(name, stack), start_tool(options, stack)
            kept = options.keep / f"{name}-{tool.name}.jsonl" if options.keep else None
            total = run_all(engine, tool, options.count or COUNTS[name], options.first, kept)
            print(describe_tally(name, tool.name, total))
            if options.record:
                record(name, tool.name, total)
            if isinstance(tool, OurEngine):
                failed |= bool(total.examples or total.complaints)
                for example in total.examples[:SHOWN]:
                    violation = example.violation
                    print(f"\n-- seed {example.seed}: {violation.kind}: {violation.source} -> {violation.output}")
                    print(";\n".join(shrink_example(engine, tool, example).statements) + ";")
                for complaint in total.complaints[:SHOWN]:
                    print(f"-- seed {complaint}")
            sys.stdout.flush()
    return int(failed)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser("python -m benchmarks.witness", description=__doc__)
    add = parser.add_argument
    add("--engines", nargs="+", choices=list(COUNTS), default=["duckdb", "sqlite"], help="where programs run")
    add("--count", type=int, default=0, help="how many programs an engine (0: what `make witness` runs)")
    add("--first", type=int, default=0, help="the number of the first program")
    add("--keep", type=Path, metavar="FOLDER", help="keep finished chunks there, and go on from those that are there")
    add("--record", action="store_true", help="write the figures to recorded.json, from which docs/truth.md is made")
    add("--tool", metavar="NAME=COMMAND", help="ask another tool, a command that speaks the protocol")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
