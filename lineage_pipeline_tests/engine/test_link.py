"""The specification of the engine: every fixture gives the columns, edges and findings that it states."""

import pytest

from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.model.enums import Subtype
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.cases import (
    Case,
    accept_cases,
    analyze_case,
    case_repository,
    load_cases,
    render_lineage,
)


@pytest.mark.parametrize("case", load_cases("link"), ids=lambda case: f"{case.file.stem}: {case.title}")
def test_fixture(case: Case, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept"):
        accept_cases(case.file)
        return
    assert render_lineage(analyze_case(case)) == case.expected


def _render_repository(case: Case) -> tuple[str, ...]:
    return render_lineage(build_lineage(*case_repository(case), reach=False))


@pytest.mark.parametrize("case", load_cases("repository"), ids=lambda case: f"{case.file.stem}: {case.title}")
def test_repository(case: Case, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept"):
        accept_cases(case.file, _render_repository)
        return
    assert _render_repository(case) == case.expected


def test_using_keys_point_to_their_names_in_the_using_list() -> None:
    sql = "select l.a from l join r using (id, k)"
    edges = build_lineage([InputFile("-", sql, Options("postgres"))]).column_edges
    places = {(edge.from_object, edge.from_column): edge.from_span for edge in edges if edge.subtype is Subtype.JOIN}
    found = {key: sql[span.start : span.end] for key, span in places.items() if span is not None}
    assert found == {(name, key): key for name in ("l", "r") for key in ("id", "k")}


def test_titles_are_unique() -> None:
    titles = [(case.file, case.title) for case in load_cases("link")]
    assert len(titles) == len(set(titles))


def test_returning_rows_that_are_inserted_connect_both_tables() -> None:
    sql = "with d as (delete from t where x < 1 returning id) insert into archive (id) select id from d"
    edges = build_lineage([InputFile("-", sql, Options("postgres"))]).object_edges
    assert [(edge.from_object, edge.to_object) for edge in edges] == [("t", "archive")]
