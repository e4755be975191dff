"""Properties of any SQL: drawn by hypothesis from a grammar and from the fixtures, the same draws in every run."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage_pipeline_tests.support import engine_properties
from lineage_pipeline_tests.support.cases import Case, analyze_case
from lineage_pipeline_tests.support.soundness import assert_sound

PROPERTIES: tuple[tuple[Callable[[engine_properties.Draw], None], int], ...] = (
    (engine_properties.value_edges_match_the_generated_query, 40),
    (engine_properties.statements_write_the_columns_of_their_query, 40),
    (engine_properties.aliases_may_have_any_name, 40),
    (engine_properties.letter_case_of_aliases_does_not_matter, 40),
    (engine_properties.layout_does_not_matter, 30),
    (engine_properties.layout_of_fixtures_does_not_matter, 100),
    (engine_properties.wrapping_a_query_keeps_its_edges, 40),
    (engine_properties.common_table_expressions_may_be_views, 30),
    (engine_properties.procedures_keep_the_edges_of_fixtures, 80),
    (engine_properties.procedures_keep_the_edges_of_statements, 25),
    (engine_properties.relinking_changed_files_gives_the_full_analysis, 20),
    (engine_properties.incremental_update_gives_the_full_analysis, 40),
    (engine_properties.edge_keys_are_unique, 150),
    (engine_properties.damaged_fixtures_end_with_findings, 120),
    (engine_properties.damaged_statements_end_with_findings, 50),
)
"""The properties, and how many examples of each every run tries."""

SOAK_FACTOR = 50
"""How many times as many examples a soak run tries, each time others."""


def check_property(check: Callable[[engine_properties.Draw], None], examples: int, *, same: bool) -> None:
    """Try a property on a number of examples, without regard to the clock."""

    @settings(
        max_examples=examples, derandomize=same, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        check(data.draw)

    tried()


@pytest.mark.parametrize(("check", "examples"), PROPERTIES, ids=lambda item: getattr(item, "__name__", ""))
def test_property(check: Callable[[engine_properties.Draw], None], examples: int) -> None:
    check_property(check, examples, same=True)


@pytest.mark.soak
@pytest.mark.parametrize(("check", "examples"), PROPERTIES, ids=lambda item: getattr(item, "__name__", ""))
def test_property_for_many_examples(check: Callable[[engine_properties.Draw], None], examples: int) -> None:
    check_property(check, examples * SOAK_FACTOR, same=False)


@pytest.mark.parametrize(
    "case", engine_properties.LAYOUT_FREE_CASES, ids=lambda case: f"{case.file.stem}: {case.title}"
)
def test_the_rows_of_a_fixture_are_sound(case: Case) -> None:
    assert_sound(analyze_case(case), {"-": case.sql})
