"""Lineage is witnessed by running: what changes in the results of a program has an edge."""

from collections.abc import Callable

import pytest

from benchmarks.witness.engines import DuckDB, Engine, MariaDB, PostgreSQL, SQLite
from benchmarks.witness.judge import Claim, Witness, judge
from benchmarks.witness.queries import CREATE_RESULT, RESULT, Program
from benchmarks.witness.report import describe_tally
from benchmarks.witness.run import CHUNK, Tally, run_all
from benchmarks.witness.shrink import shrink_program
from benchmarks.witness.tools import OurEngine
from lineage_pipeline_tests.oracles.rewrites import mariadb
from lineage_pipeline_tests.oracles.server import installed, running

LEAST_SEEN = 0.95
"""The share of DIRECT edges that are seen to flow; others are dead branches, constants, or hidden by other values."""

FIRST = 1_000_000
"""The programs of `make witness` begin at 0; these are others."""

Recorded = Callable[[str, object], None]


def assert_witnessed(total: Tally) -> None:
    assert [(one.seed, one.violation) for one in total.examples] == []
    assert total.complaints == []
    assert total.missed == 0
    assert total.refused < 0.02 * total.programs
    assert total.witnessed > LEAST_SEEN * total.direct


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "count"), [(SQLite, 1600), (DuckDB, 200)])
def test_what_changes_in_a_result_has_an_edge(
    engine: Callable[[], Engine], count: int, record_property: Recorded
) -> None:
    made = engine()
    total = run_all(made, OurEngine(), count, FIRST, None)
    record_property("figure", describe_tally(made.syntax.dialect, "lineage_pipeline", total))
    assert_witnessed(total)


@pytest.mark.slow
@pytest.mark.postgres
def test_what_changes_in_a_result_of_postgres_has_an_edge(record_property: Recorded) -> None:
    with running(installed()) as folder:
        engine = PostgreSQL(folder)
        total = run_all(engine, OurEngine(), CHUNK, FIRST, None)
        engine.database.close()
    record_property("figure", describe_tally("postgres", "lineage_pipeline", total))
    assert_witnessed(total)


@pytest.mark.slow
@pytest.mark.mariadb
def test_what_changes_in_a_result_of_mariadb_has_an_edge(record_property: Recorded) -> None:
    with mariadb.running() as server:
        engine = MariaDB(server.socket)
        total = run_all(engine, OurEngine(), 2 * CHUNK, FIRST, None)
        engine.database.close()
    record_property("figure", describe_tally("mariadb", "lineage_pipeline", total))
    assert_witnessed(total)


QUERY = "select o.s as x, max(o.n) as y from orders as o join items as i on o.k = i.k where i.m > 0 group by o.s"


def build_program(*statements: str, targets: tuple[str, ...] = (RESULT,)) -> Program:
    return Program(statements, targets, frozenset())


def list_kinds(program: Program, claim: Claim) -> set[tuple[str, tuple[str, str], tuple[str, str]]]:
    verdict = judge(Witness(SQLite(), program), claim)
    return {(one.kind, one.source, one.output) for one in verdict.violations}


def test_an_edge_that_is_taken_away_is_noticed() -> None:
    program = build_program(f"{CREATE_RESULT}{QUERY}")
    claim = OurEngine().claim(SQLite.syntax, program)
    assert list_kinds(program, claim) == set()
    without = {output: own - {("orders", "n")} for output, own in claim.direct.items()}
    assert ("no edge", ("orders", "n"), (RESULT, "y")) in list_kinds(program, Claim(without, claim.indirect))
    decided = {output: own - {("items", "m")} for output, own in claim.indirect.items()}
    assert ("no edge", ("items", "m"), (RESULT, "y")) in list_kinds(program, Claim(claim.direct, decided))


def test_a_value_that_is_said_to_have_influence_only_is_noticed() -> None:
    program = build_program(f"{CREATE_RESULT}select upper(s) as x from orders")
    whole = frozenset({("orders", "s")})
    found = list_kinds(program, Claim({}, {(RESULT, "x"): whole}))
    assert found == {("a value flows where only influence is said", ("orders", "s"), (RESULT, "x"))}


def test_a_null_in_a_column_that_is_said_to_have_none_is_noticed() -> None:
    program = build_program(f"{CREATE_RESULT}select k as x from orders")
    claim = OurEngine().claim(SQLite.syntax, program)
    wrong = Claim(claim.direct, claim.indirect, frozenset({(RESULT, "x")}))
    assert {kind for kind, _, _ in list_kinds(program, wrong)} == {"null in a column that is said to hold none"}


def test_an_edge_that_never_flows_is_counted_with_its_reason() -> None:
    program = build_program(f"{CREATE_RESULT}select case when 1 = 0 then s else 'a' end as x from orders")
    verdict = judge(Witness(SQLite(), program), OurEngine().claim(SQLite.syntax, program))
    assert (verdict.direct, verdict.witnessed) == (1, 0)
    assert verdict.unseen == [(("orders", "s"), (RESULT, "x"), "one value only")]


def test_a_counter_example_is_shrunk_to_what_shows_it() -> None:
    long = f"{CREATE_RESULT}select a.s as x, upper(b.r) as y from (select * from orders where k > 0) as a, items as b"

    def holds(program: Program) -> bool:
        return "orders" in program.statements[0] and RESULT in program.statements[0]

    small = shrink_program(build_program(long, "delete from ledger where k = 1"), "sqlite", holds)
    assert len(small.statements) == 1
    assert len(small.statements[0]) < len(long) / 2
