"""The specification of the engine: every fixture gives the columns, edges and findings that it states."""

import pytest

from lineage_pipeline_tests.cases import Case, accept, analysed, cases, render


@pytest.mark.parametrize("case", cases("link"), ids=lambda case: f"{case.file.stem}: {case.title}")
def test_fixture(case: Case, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept"):
        accept(case.file)
        return
    assert render(analysed(case)) == case.expected


def test_titles_are_unique() -> None:
    titles = [(case.file, case.title) for case in cases("link")]
    assert len(titles) == len(set(titles))
