"""Our cold run over bare parsing: both in one run, on the same files, in CPU seconds of one process."""

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from sqlglot import parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from benchmarks.apart import apart
from benchmarks.clocks import cpu_seconds
from lineage_pipeline import pipeline
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.model.analysis import InputFile

STAGES = {
    "compile": "compile_file",
    "graph": "build_plan",
    "schemas": "resolve_schemas",
    "edges": "link_files",
    "reach": "build_column_reach",
    "assemble": "assemble_tables",
}
"""The stages of a run, and the function of the pipeline that each of them is."""

SEPARATOR = re.compile(r"^\s*GO\s*$", re.IGNORECASE | re.MULTILINE)
"""What cuts batches; sqlglot would leave everything behind it unparsed, and look fast."""


class Parsed(msgspec.Struct, frozen=True):
    """Bare parsing: its CPU seconds, and the batches that it gave up."""

    seconds: float
    failed: int


class Analyzed(msgspec.Struct, frozen=True):
    """A cold run: its CPU seconds in all and by stage, and how much came out."""

    seconds: float
    stages: dict[str, float]
    statements: int
    edges: int


class Ratio(msgspec.Struct, frozen=True):
    """One input measured: the best of all rounds of each side."""

    name: str
    dialect: str
    files: int
    characters: int
    parse: Parsed
    analysis: Analyzed

    @property
    def ratio(self) -> float:
        """Our time over that of the parser."""
        return self.analysis.seconds / self.parse.seconds

    @property
    def to_edges(self) -> float:
        """The same up to the column edges: without measuring how far each column reaches."""
        return (self.analysis.seconds - self.analysis.stages["reach"]) / self.parse.seconds


def measure(name: str, files: Sequence[InputFile], rounds: int) -> Ratio:
    """The ratio of one input. Every round has a process of its own, so that none finds what another left behind."""
    dialects = sorted({_dialect(file) for file in files})
    for dialect in dialects:
        Dialect.get_or_raise(dialect or None)  # importing it is no part of parsing
    pairs = [(apart(parse_files, files), apart(analyze_files, files)) for _ in range(rounds)]
    return Ratio(
        name,
        ", ".join(dialect or "generic" for dialect in dialects),
        len(files),
        sum(len(file.text) for file in files),
        min((parsed for parsed, _ in pairs), key=lambda parsed: parsed.seconds),
        min((analyzed for _, analyzed in pairs), key=lambda analyzed: analyzed.seconds),
    )


def _dialect(file: InputFile) -> str:
    return (find_traits(file.options.dialect) or GENERIC).name


def _batches(file: InputFile) -> list[str]:
    return SEPARATOR.split(file.text) if (find_traits(file.options.dialect) or GENERIC).transact_sql else [file.text]


def parse_files(files: Sequence[InputFile]) -> Parsed:
    """Tokens and trees of all files, with sqlglot alone and the collector as Python sets it."""
    batches = [(_dialect(file), batch) for file in files for batch in _batches(file)]
    parser.logger.disabled = True
    failed = 0
    gc.collect()
    begun = cpu_seconds()
    for name, text in batches:
        dialect = Dialect.get_or_raise(name or None)
        try:
            dialect.parser().parse(dialect.tokenize(text), text)
        except (SqlglotError, RecursionError):
            failed += 1
    return Parsed(cpu_seconds() - begun, failed)


def analyze_files(files: Sequence[InputFile]) -> Analyzed:
    """The whole lineage of all files."""
    spent = dict.fromkeys(STAGES, 0.0)
    gc.collect()
    with _timed(spent):
        begun = cpu_seconds()
        lineage = pipeline.build_lineage(files)
        seconds = cpu_seconds() - begun
    return Analyzed(seconds, spent, len(lineage.statements), len(lineage.column_edges))


@contextmanager
def _timed(spent: dict[str, float]) -> Iterator[None]:
    """Let the functions of the stages note the time that they take themselves."""
    originals = {stage: getattr(pipeline, function) for stage, function in STAGES.items()}
    inside: list[float] = []
    for stage, original in originals.items():
        setattr(pipeline, STAGES[stage], _noting(original, stage, spent, inside))
    try:
        yield
    finally:
        for stage, original in originals.items():
            setattr(pipeline, STAGES[stage], original)


def _noting(original: Callable[..., Any], stage: str, spent: dict[str, float], inside: list[float]) -> Any:
    def noting(*args: Any) -> Any:
        inside.append(0.0)
        begun = cpu_seconds()
        try:
            return original(*args)
        finally:
            taken = cpu_seconds() - begun
            spent[stage] += taken - inside.pop()
            if inside:
                inside[-1] += taken

    return noting
