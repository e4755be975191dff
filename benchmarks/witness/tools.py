"""Tools that say what the lineage of a program is: ours, and others behind a small JSON protocol.

A tool is a program that reads one JSON object a line, `{"dialect": …, "script": […], "tables": {table: {column: type}},
"targets": […]}`, and answers each with one, `{"edges": [[from_table, from_column, to_table, to_column, "DIRECT" or
"INDIRECT"], …]}`. `*` as the last column means all rows of the target. `adapters.py` has some.
"""

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from benchmarks.witness.engines import define_tables, list_tables
from benchmarks.witness.judge import WHOLE, Claim, Column
from benchmarks.witness.queries import Program
from benchmarks.witness.syntax import Syntax
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.pipeline import build_lineage

Edge = tuple[str, str, str, str, str]

ERRORS = frozenset({"PARSE_ERROR", "UNSUPPORTED_SYNTAX", "INTERNAL_ERROR", "UNACCOUNTED_REFERENCE", "UNKNOWN_COLUMN"})
"""Findings that a program which the engine runs must not have."""


class Tool(Protocol):
    """Says what the lineage of a program is."""

    name: str

    def claim(self, syntax: Syntax, program: Program) -> Claim:
        """The lineage of a program over the source tables."""


class Inputs(msgspec.Struct):
    """What flows into one output: columns of the source tables, by value and by influence."""

    direct: set[Column] = msgspec.field(default_factory=set)
    indirect: set[Column] = msgspec.field(default_factory=set)


def close_edges(edges: Iterable[Edge], bases: frozenset[str], targets: Sequence[str]) -> dict[Column, Inputs]:
    """The inputs of each output among the source tables, through all objects between."""
    steps: dict[Column, set[tuple[Column, str]]] = defaultdict(set)
    for from_table, from_column, to_table, to_column, kind in edges:
        steps[to_table, to_column].add(((from_table, from_column), kind))
    return {output: walk_back(output, steps, bases) for output in steps if output[0] in targets}


def walk_back(output: Column, steps: Mapping[Column, set[tuple[Column, str]]], bases: frozenset[str]) -> Inputs:
    """All inputs of an output; what decides about the rows of an object on the way has influence."""
    found = Inputs()
    pending, seen = [(output, "DIRECT")], {(output, "DIRECT")}
    while pending:
        column, kind = pending.pop()
        sources = [(source, kind if own == "DIRECT" else own) for source, own in steps.get(column, ())]
        if column[1] != WHOLE:
            sources += [(source, "INDIRECT") for source, _ in steps.get((column[0], WHOLE), ())]
        for source, own in sources:
            if source[0] in bases:
                (found.direct if own == "DIRECT" else found.indirect).add(source)
            if (source, own) not in seen:
                seen.add((source, own))
                pending.append((source, own))
    return found


def build_claim(
    edges: Iterable[Edge],
    syntax: Syntax,
    program: Program,
    not_null: Iterable[Column] = (),
    complaints: Iterable[str] = (),
) -> Claim:
    """A claim from the edges of all statements."""
    inputs = close_edges(edges, frozenset(list_tables(syntax)), program.targets)
    return Claim(
        direct={output: frozenset(own.direct) for output, own in inputs.items()},
        indirect={output: frozenset(own.indirect) for output, own in inputs.items()},
        not_null=frozenset(not_null),
        complaints=tuple(complaints),
    )


class OurEngine:
    """This project's engine."""

    name = "lineage_pipeline"

    def claim(self, syntax: Syntax, program: Program) -> Claim:
        """The lineage of a program, read with the definitions of the source tables."""
        script = ";\n".join([*define_tables(syntax), *program.statements]) + ";\n"
        made = build_lineage([InputFile("program.sql", script, Options(syntax.dialect))], reach=False)
        edges: list[Edge] = [
            (
                shorten_name(edge.from_object),
                edge.from_column.lower(),
                shorten_name(edge.to_object),
                edge.to_column.lower(),
                "DIRECT" if edge.type is EdgeType.DIRECT else "INDIRECT",
            )
            for edge in made.column_edges
        ]
        # A statement that reads no column of an object still depends on how many rows it has.
        edges += [
            (shorten_name(edge.from_object), WHOLE, shorten_name(edge.to_object), WHOLE, "INDIRECT")
            for edge in made.object_edges
            if edge.kind in ("read", "write")
        ]
        not_null = [(shorten_name(row.object), row.name.lower()) for row in made.columns if not row.nullable]
        complaints = [f"{row.code}: {row.message}" for row in made.diagnostics if row.code in ERRORS]
        return build_claim(edges, syntax, program, not_null, complaints)


class OtherTool:
    """A tool in a process of its own."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        """Start it."""
        self.name = name
        self.process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def claim(self, syntax: Syntax, program: Program) -> Claim:
        """What it answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        tables = {
            name: {own: syntax.types[kind] for own, kind in columns.items()}
            for name, columns in list_tables(syntax).items()
        }
        asked = {
            "dialect": syntax.dialect,
            "script": list(program.statements),
            "tables": tables,
            "targets": list(program.targets),
        }
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"edges": []}')
        return build_claim([tuple(map(str.lower, edge[:4])) + (edge[4],) for edge in answer["edges"]], syntax, program)

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()


def shorten_name(name: str) -> str:
    """The last part of an object's name."""
    return name.rpartition(".")[2].lower()
