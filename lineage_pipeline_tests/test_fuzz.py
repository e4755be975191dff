"""Texts made of the fixtures by chance: none of them is a crash, a hang or rows that contradict each other."""

import pytest

from lineage_pipeline_tests.fuzzing import DIALECTS, assert_survives, corpus, failures, mutant

FEW = 2_000


@pytest.mark.slow
def test_mutated_fixtures_neither_crash_nor_hang() -> None:
    # Every new fixture makes other texts of all seeds: what is unsound, or a surprise, is for `make fuzz`.
    assert [one for one in failures(range(FEW)) if not one[1].startswith("AssertionError")] == []


def test_a_seed_gives_the_same_text_every_time() -> None:
    known = corpus()
    assert mutant(7, known) == mutant(7, known)
    assert {mutant(seed, known)[0] for seed in range(400)} >= set(DIALECTS)


@pytest.mark.parametrize("dialect", ["tsql", "snowflake", "bigquery", "databricks", "postgres", "oracle"])
def test_every_prefix_of_a_file_is_read(dialect: str) -> None:
    text = max((case.sql for case in corpus() if case.setting("dialect") == dialect), key=_middling)
    for end in range(0, len(text), 2):
        assert_survives(dialect, text[:end])


def _middling(text: str) -> int:
    return len(text) if len(text) < 500 else 0
