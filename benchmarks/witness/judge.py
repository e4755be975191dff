"""What was seen beside what a tool says: every flow needs an edge, and most edges are seen to flow."""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

import msgspec

from benchmarks.witness.engines import Engine, Refused, Result, Results, list_tables
from benchmarks.witness.queries import Program
from benchmarks.witness.rows import PERTURBATIONS, Row, Rows, draw_rows, is_marked, list_perturbations, perturb

Column = tuple[str, str]
"""An object and a column of it; the column `*` stands for all rows of the object."""

WHOLE = "*"


class Claim(msgspec.Struct, frozen=True):
    """What a tool says of a program: inputs of each output by value and by influence, and columns without nulls."""

    direct: Mapping[Column, frozenset[Column]]
    indirect: Mapping[Column, frozenset[Column]]
    not_null: frozenset[Column] = frozenset()
    complaints: tuple[str, ...] = ()

    def has_value(self, source: Column, output: Column) -> bool:
        """Whether the value of a column is said to flow into an output."""
        return source in self.direct.get(output, ())

    def has_any(self, source: Column, output: Column) -> bool:
        """Whether a column is said to have anything to do with an output."""
        whole = (output[0], WHOLE)
        return (
            self.has_value(source, output)
            or source in self.indirect.get(output, ())
            or source in self.indirect.get(whole, ())
            or source in self.direct.get(whole, ())
        )


class Observation(msgspec.Struct):
    """What changing one column did: the outputs that changed, and those that marked values reached."""

    changed: set[Column] = msgspec.field(default_factory=set)
    marked: set[Column] = msgspec.field(default_factory=set)
    rows: set[str] = msgspec.field(default_factory=set)


class Violation(msgspec.Struct, frozen=True):
    """Something that was seen and that the tool does not say."""

    kind: str
    source: Column
    output: Column


class Verdict(msgspec.Struct):
    """The comparison of one program: `values` are flows of marked values, `missed` those that are not said."""

    violations: list[Violation] = msgspec.field(default_factory=list)
    flows: int = 0
    values: int = 0
    missed: int = 0
    direct: int = 0
    witnessed: int = 0
    unseen: list[tuple[Column, Column, str]] = msgspec.field(default_factory=list)
    runs: int = 0


def show_value(value: object) -> str:
    """A value as it is compared: SQLite shows 2 or 2.0 for a group of both, whichever row comes first."""
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def show_row(row: Row) -> tuple[str, ...]:
    """A row as it is compared."""
    return tuple(map(show_value, row))


def read_column(result: Result, at: int) -> Counter[str]:
    """The values of a column and how often each occurs."""
    return Counter(show_value(row[at]) for row in result.rows)


GROUNDS, MOST_SEEDS, MORE_SEEDS = 2, 12, 40


def has_effect(rows: Rows, target: str, result: Result) -> bool:
    """Whether an object has rows that the program put there."""
    return bool(result.rows) and (target not in rows or Counter(result.rows) != Counter(rows[target]))


def count_values(rows: Rows, results: Results) -> int:
    """How many columns of the results have more than one value; 0 if nothing happened to an object."""
    if not all(has_effect(rows, target, result) for target, result in results.items()):
        return 0
    shown = [len({repr(row[at]) for row in one.rows}) for one in results.values() for at, _ in enumerate(one.columns)]
    return 0 if 0 in shown else sum(1 for count in shown if count > 1)


class Witness:
    """Runs one program on rows, and on rows in which one column has other values."""

    def __init__(self, engine: Engine, program: Program, first: int = 1) -> None:
        """Run it on rows of some seeds, and keep those whose results say most; Refused where the engine refuses it."""
        self.engine = engine
        self.program = program
        self.tables = list_tables(engine.syntax)
        self.runs = 0
        tried: list[tuple[int, Rows, Results]] = []
        for seed in range(first, first + MOST_SEEDS):
            rows = draw_rows(self.tables, seed)
            results = self.run(rows)
            tried.append((count_values(rows, results), rows, results))
            if len(tried) >= GROUNDS and all(rated[0] for rated in sorted(tried, key=lambda one: -one[0])[:GROUNDS]):
                break
        tried.sort(key=lambda one: -one[0])
        self.grounds = [(rows, results, at) for at, (_, rows, results) in enumerate(tried[:GROUNDS])]

    def has_rows(self) -> bool:
        """Whether something comes out for every target, on the rows that say most."""
        _, results, _ = self.grounds[0]
        return bool(count_values(self.grounds[0][0], results))

    def run(self, rows: Rows) -> Results:
        """The results on some rows."""
        self.runs += 1
        return self.engine.run(self.program, rows)

    def list_sources(self) -> list[Column]:
        """The columns of all tables that the program may read."""
        return [
            (name, own)
            for name in self.program.tables(list(self.tables))
            for own in self.tables[name]
            if self.program.may_read(own)
        ]

    def list_outputs(self) -> list[Column]:
        """The columns of all targets, those of one name once."""
        _, results, _ = self.grounds[0]
        return list(dict.fromkeys((target, own) for target, result in results.items() for own in result.columns))

    def observe(self, source: Column, ways: int) -> Observation:
        """What follows from other values in a column."""
        found = Observation()
        name, own = source
        at = list(self.tables[name]).index(own)
        for rows, results, seed in self.grounds:
            chance = Random(f"{seed} {name} {own}")
            for number, way in enumerate(list_perturbations(chance)):
                if number >= ways:
                    break
                changed = perturb(rows[name], at, self.tables[name][own], own, way, chance)
                if changed == rows[name]:
                    continue
                try:
                    self.compare(results, self.run({**rows, name: changed}), found)
                except Refused:  # such as a sum that is too large
                    continue
        return found

    def search(self, source: Column, wanted: set[Column], found: Observation) -> None:
        """Look on other rows for what changing a column does to outputs of which nothing was seen so far."""
        name, own = source
        at = list(self.tables[name]).index(own)
        for seed in range(MOST_SEEDS + 1, MOST_SEEDS + 1 + MORE_SEEDS):
            if wanted <= found.changed:
                return
            rows, chance = draw_rows(self.tables, seed), Random(f"{seed} {name} {own}")
            try:
                results = self.run(rows)
                for way in ("mark", "mark some", "low", "level"):
                    changed = perturb(rows[name], at, self.tables[name][own], own, way, chance)
                    self.compare(results, self.run({**rows, name: changed}), found)
            except Refused:
                continue

    @staticmethod
    def compare(before: Results, after: Results, found: Observation) -> None:
        """Note which outputs differ, and which hold marked values now."""
        for target, old in before.items():
            new = after[target]
            if Counter(map(show_row, old.rows)) == Counter(map(show_row, new.rows)):
                continue
            found.rows.add(target)
            for at, own in enumerate(old.columns):
                if read_column(old, at) == read_column(new, at):
                    continue
                found.changed.add((target, own))
                if any(is_marked(row[at]) for row in new.rows) and not any(is_marked(row[at]) for row in old.rows):
                    found.marked.add((target, own))

    def holds_null(self, output: Column) -> bool:
        """Whether an output was seen to hold a null."""
        target, own = output
        return any(
            row[at] is None
            for _, results, _ in self.grounds
            for at, name in enumerate(results[target].columns)
            if name == own
            for row in results[target].rows
        )

    def explain_unseen(self, output: Column) -> str:
        """Why no change of an output may be seen."""
        target, own = output
        seen: set[str] = set()
        for rows, results, _ in self.grounds:
            at = results[target].columns.index(own)
            new = Counter(results[target].rows) - Counter(rows.get(target, ()))
            seen |= {repr(row[at]) for row in new}
        return "other" if len(seen) > 1 else "one value only" if seen else "no rows"


def judge(witness: Witness, claim: Claim, *, ways: int = 3, more: int = len(PERTURBATIONS)) -> Verdict:
    """Compare a tool's claim with what is seen."""
    verdict = Verdict()
    outputs = witness.list_outputs()
    for source in witness.list_sources():
        claimed = [output for output in outputs if claim.has_value(source, output)]
        seen = witness.observe(source, ways)
        if any(output not in seen.changed for output in claimed):
            seen = witness.observe(source, more)
        wanted = {output for output in claimed if output != source}
        if not wanted <= seen.changed:
            witness.search(source, wanted, seen)
        verdict.violations.extend(find_violations(source, seen, claim, witness))
        verdict.flows += len(seen.changed)
        carried = [output for output in seen.marked if output != source and output[0] != source[0]]
        verdict.values += len(carried)
        verdict.missed += sum(not claim.has_value(source, output) for output in carried)
        for output in claimed:
            if output == source:  # a table that a statement changes keeps its values
                continue
            verdict.direct += 1
            if output in seen.changed:
                verdict.witnessed += 1
            else:
                verdict.unseen.append((source, output, witness.explain_unseen(output)))
    for output in claim.not_null:
        if output in outputs and witness.holds_null(output):
            verdict.violations.append(Violation("null in a column that is said to hold none", output, output))
    verdict.runs = witness.runs
    return verdict


def find_violations(source: Column, seen: Observation, claim: Claim, witness: Witness) -> Iterator[Violation]:
    """What was seen of one column and is not said."""
    name, own = source
    for output in sorted(seen.changed):
        if output == source:
            continue
        kept = output[0] == name  # a row that is deleted takes its other columns with it
        if not claim.has_any(source, output):
            yield Violation("no edge", source, output)
        elif output in seen.marked and not claim.has_value(source, output) and not kept:
            yield Violation("a value flows where only influence is said", source, output)
    for target in sorted(seen.rows):
        outputs = [output for output in witness.list_outputs() if output[0] == target]
        if target != name and not any(claim.has_any(source, output) for output in outputs):
            yield Violation("rows change without an edge", source, (target, WHOLE))
