"""Runs numbered programs on an engine, in chunks that are kept, so that a run that was ended goes on where it was."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from benchmarks.witness.engines import Engine, Refused
from benchmarks.witness.judge import Violation, Witness, judge
from benchmarks.witness.queries import Program, write_program
from benchmarks.witness.shrink import shrink_program
from benchmarks.witness.tools import Tool

CHUNK = 100


class CounterExample(msgspec.Struct, frozen=True):
    """A program that shows something the tool does not say; `seed` writes it again."""

    seed: int
    violation: Violation
    statements: tuple[str, ...]


class Tally(msgspec.Struct):
    """What a number of programs showed."""

    programs: int = 0
    refused: int = 0
    runs: int = 0
    flows: int = 0
    values: int = 0
    missed: int = 0
    direct: int = 0
    witnessed: int = 0
    unseen: dict[str, int] = msgspec.field(default_factory=dict)
    constructs: dict[str, list[int]] = msgspec.field(default_factory=dict)
    complaints: list[str] = msgspec.field(default_factory=list)
    examples: list[CounterExample] = msgspec.field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count another tally in."""
        for name in ("programs", "refused", "runs", "flows", "values", "missed", "direct", "witnessed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.unseen = dict(Counter(self.unseen) + Counter(other.unseen))
        for construct, figures in other.constructs.items():
            known = self.constructs.setdefault(construct, [0] * len(figures))
            self.constructs[construct] = [one + more for one, more in zip(known, figures, strict=True)]
        self.complaints += other.complaints
        self.examples += other.examples


DRAWS = 12
"""How often a program is drawn again that the engine refuses or from which nothing comes out on any rows."""


def draw_witness(engine: Engine, seed: int) -> Witness | None:
    """The program of a seed on its rows: the first one drawn from which something comes out, always the same."""
    last = None
    for draw in range(DRAWS):
        with suppress(Refused):
            last = Witness(engine, write_program(engine.syntax, seed * DRAWS + draw))
            if last.has_rows():
                break
    return last


def run_program(engine: Engine, tool: Tool, seed: int) -> Tally:
    """One program."""
    witness = draw_witness(engine, seed)
    if witness is None:
        return Tally(programs=1, refused=1)
    program = witness.program
    claim = tool.claim(engine.syntax, program)
    verdict = judge(witness, claim)
    figures = [1, verdict.flows, verdict.direct, verdict.witnessed, len(verdict.violations)]
    return Tally(
        programs=1,
        runs=verdict.runs,
        flows=verdict.flows,
        values=verdict.values,
        missed=verdict.missed,
        direct=verdict.direct,
        witnessed=verdict.witnessed,
        unseen=dict(Counter(reason for _, _, reason in verdict.unseen)),
        constructs=dict.fromkeys(sorted(program.constructs), figures),
        complaints=[f"{seed}: {text}" for text in claim.complaints],
        examples=[CounterExample(seed, one, program.statements) for one in verdict.violations[:1]],
    )


def run_chunk(engine: Engine, tool: Tool, first: int) -> Tally:
    """A hundred programs."""
    found = Tally()
    for seed in range(first, first + CHUNK):
        found.add(run_program(engine, tool, seed))
    return found


def run_all(engine: Engine, tool: Tool, count: int, first: int, kept: Path | None) -> Tally:
    """All programs; chunks that are in the file are not run again."""
    total, done = Tally(), dict(read_chunks(kept))
    for start in range(first, first + count, CHUNK):
        chunk = done.get(start)
        if chunk is None:
            chunk = run_chunk(engine, tool, start)
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                with kept.open("ab") as file:
                    file.write(msgspec.json.encode((start, chunk)) + b"\n")
        total.add(chunk)
        print(f"{total.programs} programs, {len(total.examples)} counter-examples", end="\r", file=sys.stderr)
    return total


def read_chunks(kept: Path | None) -> Iterator[tuple[int, Tally]]:
    """The chunks of a file; a line that was cut off is run again."""
    lines = kept.read_bytes().splitlines() if kept is not None and kept.exists() else []
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=tuple[int, Tally])
        except msgspec.DecodeError:
            continue


def shrink_example(engine: Engine, tool: Tool, example: CounterExample) -> Program:
    """The smallest program found that shows the same kind of violation without other complaints."""

    def holds(program: Program) -> bool:
        try:
            claim = tool.claim(engine.syntax, program)
            verdict = judge(Witness(engine, program), claim)
        except Refused:
            return False
        kinds = {one.kind for one in verdict.violations}
        return example.violation.kind in kinds and not claim.complaints

    witness = draw_witness(engine, example.seed)
    assert witness is not None
    return shrink_program(witness.program, engine.syntax.dialect, holds)
