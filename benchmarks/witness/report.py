"""The figures of runs: a line for the terminal, and the page docs/truth.md from those that were recorded."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchmarks.witness.run import Tally
from benchmarks.witness.tools import OurEngine

RECORDED = Path(__file__).with_name("recorded.json")


class Recorded(msgspec.Struct, frozen=True):
    """The figures of one engine and one tool."""

    engine: str
    tool: str
    programs: int
    refused: int
    runs: int
    flows: int
    values: int
    missed: int
    direct: int
    witnessed: int
    counter_examples: int
    unseen: Mapping[str, int]
    constructs: Mapping[str, list[int]]


def describe_tally(engine: str, tool: str, total: Tally) -> str:
    """The figures of a run in a line."""
    ran = total.programs - total.refused
    share = 100 * total.witnessed / max(total.direct, 1)
    return (
        f"{engine}, {tool}: {ran} of {total.programs} programs ran ({total.runs} runs); {total.flows} flows seen, "
        f"{len(total.examples)} programs with one that is not said; {total.values} values "
        f"followed, {total.missed} missed; "
        f"{total.witnessed} of {total.direct} DIRECT edges seen ({share:.1f} %); not seen: {total.unseen}"
    )


def load_recorded() -> list[Recorded]:
    """All recorded figures."""
    return msgspec.json.decode(RECORDED.read_bytes(), type=list[Recorded]) if RECORDED.exists() else []


def record(engine: str, tool: str, total: Tally) -> None:
    """Write the figures of a run in the place of older ones."""
    made = Recorded(
        engine=engine,
        tool=tool,
        programs=total.programs,
        refused=total.refused,
        runs=total.runs,
        flows=total.flows,
        values=total.values,
        missed=total.missed,
        direct=total.direct,
        witnessed=total.witnessed,
        counter_examples=len(total.examples),
        unseen=dict(sorted(total.unseen.items())),
        constructs=dict(sorted(total.constructs.items())),
    )
    others = [one for one in load_recorded() if (one.engine, one.tool) != (engine, tool)]
    rows = sorted([*others, made], key=lambda one: (one.engine, one.tool))
    RECORDED.write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n")


def describe_share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def write_page() -> str:
    """The page docs/truth.md."""
    rows = load_recorded()
    own = [row for row in rows if row.tool == OurEngine.name]
    lines = [
        *HEAD,
        "",
        "| engine | programs | runs | flows seen | programs with a flow without an edge | DIRECT edges | seen |",
    ]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    for row in own:
        ran = row.programs - row.refused
        lines.append(
            f"| {row.engine} | {ran:,} | {row.runs:,} | {row.flows:,} | {row.counter_examples} | {row.direct:,} | "
            f"{describe_share(row.witnessed, row.direct)} |"
        )
    lines += ["", *REASONS, "", "| engine | no rows come out | one value only | other |", "|---|--:|--:|--:|"]
    for row in own:
        counts = [
            describe_share(row.unseen.get(reason, 0), row.direct) for reason in ("no rows", "one value only", "other")
        ]
        lines.append(f"| {row.engine} | {' | '.join(counts)} |")
    lines += ["", *CONSTRUCTS, "", *write_constructs(own), "", *OTHERS, "", *write_tools(rows), "", *LIMITS]
    return "\n".join(lines) + "\n"


def write_constructs(rows: list[Recorded]) -> list[str]:
    """A table: how many programs with a construct ran on each engine, and in how many a flow has no edge."""
    names = sorted({name for row in rows for name in row.constructs})
    lines = [f"| construct | {' | '.join(row.engine for row in rows)} |", f"|---|{'--:|' * len(rows)}"]
    for name in names:
        cells = []
        for row in rows:
            figures = row.constructs.get(name)
            wrong = f" ({figures[4]} wrong)" if figures and figures[4] else ""
            cells.append(f"{figures[0]:,}{wrong}" if figures else "–")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def write_tools(rows: list[Recorded]) -> list[str]:
    """A table of all tools: which of the values that were followed they say, and which of their edges were seen."""
    lines = [
        "| engine | tool | values followed | said | its DIRECT edges | of them seen |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        said = describe_share(row.values - row.missed, row.values)
        lines.append(
            f"| {row.engine} | {row.tool} | {row.values:,} | {said} | {row.direct:,} | "
            f"{describe_share(row.witnessed, row.direct)} |"
        )
    return lines


HEAD = """# How true is it

Lineage can be tested: run a query, change the values of one source column, run it again. What changes in the result
depends on that column, whatever any tool says. This page is made from such runs (`make witness`; the figures are in
`benchmarks/witness/recorded.json`).

Programs are written at random: queries, and scripts with views, temporary tables and statements that change a table.
Each runs on small tables whose keys meet, with repeated values and NULLs. For every source column, the same program
runs on rows with other values in that column: values that occur nowhere else (so that they can be followed into the
results), shuffled ones, NULLs, one other value. Then

* every output that changes must have an edge from that column, DIRECT or INDIRECT; where one of the values that occur
  nowhere else comes out, the edge must be DIRECT;
* a column that we call NOT NULL must hold no NULL;
* a DIRECT edge should be seen to flow in some run.

## What was seen
""".splitlines()

REASONS = """## DIRECT edges that were not seen

A DIRECT edge is not seen where nothing comes out of the program on any rows, where an output holds one value whatever
comes in (`coalesce` behind a constant, a branch of CASE that is never taken, a largest value that another row has), or
where an extreme value hides the others. They are shares of all DIRECT edges.
""".splitlines()

CONSTRUCTS = """## What the programs are made of

Programs with each construct that ran, by engine.
""".splitlines()

OTHERS = """## Other tools on the same programs

Any tool can be asked that speaks the protocol of `benchmarks/witness/tools.py`. Only flows of values count here, since
not every tool says what decides about rows. Tools that a table does not list were not run.
""".splitlines()

LIMITS = """## What this does not show

* Programs are as large as their generator makes them; the SQL of real repositories is tested by other means.
* Influence that only the order of rows shows is not looked at: results are compared as sets of rows with their counts.
* Dialects whose engines do not run here (Snowflake, BigQuery, T-SQL, Oracle …) have no witness.
""".splitlines()
