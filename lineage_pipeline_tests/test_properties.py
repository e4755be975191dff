"""What holds for any SQL: drawn by hypothesis from a grammar and from the fixtures, the same draws in every run."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage_pipeline_tests import checks
from lineage_pipeline_tests.cases import Case, analysed
from lineage_pipeline_tests.soundness import assert_sound

PROPERTIES: tuple[tuple[Callable[[checks.Draw], None], int], ...] = (
    (checks.values_come_from_where_they_are_written_to_come_from, 40),
    (checks.statements_write_what_their_query_gives, 40),
    (checks.aliases_may_have_any_name, 40),
    (checks.letter_case_of_aliases_does_not_matter, 40),
    (checks.layout_does_not_matter, 30),
    (checks.layout_of_fixtures_does_not_matter, 100),
    (checks.wrapping_changes_nothing, 40),
    (checks.common_table_expressions_may_be_views, 30),
    (checks.procedures_keep_the_edges_of_fixtures, 80),
    (checks.procedures_keep_the_edges_of_statements, 25),
    (checks.relinking_what_changed_is_enough, 20),
    (checks.going_on_from_what_is_kept_is_enough, 40),
    (checks.keys_of_edges_come_once, 150),
    (checks.damaged_fixtures_end_with_findings, 120),
    (checks.damaged_statements_end_with_findings, 50),
)
"""What holds, and how many examples say so in every run; more properties are more rows."""

SOAK = 50
"""How many times as many examples a soak takes, each time others."""


def hold(check: Callable[[checks.Draw], None], examples: int, *, same: bool) -> None:
    """Try a property on a number of examples, without regard to the clock."""

    @settings(
        max_examples=examples, derandomize=same, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        check(data.draw)

    tried()


@pytest.mark.parametrize(("check", "examples"), PROPERTIES, ids=lambda item: getattr(item, "__name__", ""))
def test_it_holds_that(check: Callable[[checks.Draw], None], examples: int) -> None:
    hold(check, examples, same=True)


@pytest.mark.soak
@pytest.mark.parametrize(("check", "examples"), PROPERTIES, ids=lambda item: getattr(item, "__name__", ""))
def test_it_goes_on_to_hold_that(check: Callable[[checks.Draw], None], examples: int) -> None:
    hold(check, examples * SOAK, same=False)


@pytest.mark.parametrize("case", checks.FIXTURES, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_the_rows_of_a_fixture_are_sound(case: Case) -> None:
    assert_sound(analysed(case), {"-": case.sql})
