"""The guard against regressions: ratios within one process and counted work, which do not depend on the machine.

`python -m benchmarks.regressions` prints them; `--record` writes them down as what later versions are compared with.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.generate import generate
from benchmarks.inputs import DIALECTS
from benchmarks.parse_ratio import measure
from lineage_pipeline import pipeline
from lineage_pipeline.engine.compile.grammar import parser as parsing
from lineage_pipeline.model.analysis import InputFile, Options

FILE = Path(__file__).with_name("recorded.json")
GROSS = 1.1
"""What counts as a regression of counted work: so many times what was recorded."""

STATEMENTS, ROUNDS = 400, 3


class Recorded(msgspec.Struct, frozen=True):
    """What a version did: CPU over bare parse, parses and calls a statement by dialect, and Spark for a snapshot."""

    ratios: dict[str, float]
    parses: dict[str, float]
    calls: dict[str, int]
    spark_jobs: int
    shuffled_rows_a_file: float


def recorded() -> Recorded:
    """Read what is written down."""
    return msgspec.json.decode(FILE.read_bytes(), type=Recorded)


def ratio(dialect: str) -> float:
    """Give our CPU time up to the edges over that of the bare parser."""
    return measure(dialect, repository(dialect), ROUNDS).to_edges


def parses(dialect: str) -> float:
    """Count how often the parser is called for a statement."""
    with _counted() as calls:
        lineage = pipeline.build_lineage(repository(dialect), reach=False)
    return len(calls) / len(lineage.statements)


def calls(dialect: str) -> int:
    """Count the calls of Python functions for a statement: work that no load of the machine changes."""
    files = repository(dialect)
    pipeline.build_lineage(files, reach=False)  # what is loaded and remembered once does not count
    counted = Counter[str]()
    sys.setprofile(lambda frame, event, argument: counted.update((event,)))
    try:
        lineage = pipeline.build_lineage(files, reach=False)
    finally:
        sys.setprofile(None)
    return round(counted["call"] / len(lineage.statements))


def repository(dialect: str) -> list[InputFile]:
    """Give the files that are measured."""
    made = generate(STATEMENTS, dialect=dialect)
    return [InputFile(path, text, Options(dialect)) for path, text in sorted(made.items())]


@contextmanager
def _counted() -> Iterator[list[int]]:
    calls: list[int] = []
    original: Callable[..., Any] = parsing._parse_tokens

    def counting(*arguments: Any) -> Any:
        calls.append(1)
        return original(*arguments)

    vars(parsing)["_parse_tokens"] = counting
    try:
        yield calls
    finally:
        vars(parsing)["_parse_tokens"] = original


def main(arguments: list[str]) -> int:
    """Print the figures of one process, and write them down if that is wanted; those of Spark stay."""
    before = recorded()
    ratios = {dialect: round(ratio(dialect), 2) for dialect in DIALECTS}
    parsed = {dialect: round(parses(dialect), 3) for dialect in DIALECTS}
    called = {dialect: calls(dialect) for dialect in DIALECTS}
    for dialect in DIALECTS:
        said = f"{ratios[dialect]} of bare parse, {parsed[dialect]} parses and {called[dialect]} calls a statement"
        known = f"{before.ratios[dialect]}, {before.parses[dialect]} and {before.calls[dialect]}"
        print(f"{dialect}: {said}; recorded: {known}")
    if "--record" in arguments:
        now = msgspec.structs.replace(before, ratios=ratios, parses=parsed, calls=called)
        FILE.write_bytes(msgspec.json.format(msgspec.json.encode(now), indent=2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
