"""Properties of the changes between any two revisions, on repositories that are edited at random."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.diff.test_rules import is_reversed
from lineage_pipeline_tests.support.diff_extent import reduce_to_extent
from lineage_pipeline_tests.support.random_repositories import Repository, as_input_files, draw_edit, draw_repository

EXAMPLES = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def revisions(draw: Any) -> tuple[Repository, Repository]:
    """Two revisions of a repository, a few edits apart."""
    before = draw_repository(draw)
    after = before
    for _ in range(draw(st.integers(1, 3))):
        after = draw_edit(draw, after)
    return before, after


def analyze_files(files: Repository) -> LineageTables:
    return build_lineage(as_input_files(files), reach=False)


@EXAMPLES
@given(revisions())
def test_nothing_changes_between_a_revision_and_itself(pair: tuple[Repository, Repository]) -> None:
    assert diff(analyze_files(pair[0]), analyze_files(pair[0])) == ()


@EXAMPLES
@given(revisions())
def test_every_change_of_an_edit_is_reported_in_reverse(pair: tuple[Repository, Repository]) -> None:
    base, head = map(analyze_files, pair)
    assert [change for change in diff(base, head) if not is_reversed(change, diff(head, base))] == []


@EXAMPLES
@given(revisions(), st.randoms())
def test_the_order_of_files_does_not_matter(pair: tuple[Repository, Repository], chance: Any) -> None:
    before, after = (dict(chance.sample(sorted(files.items()), len(files))) for files in pair)
    assert diff(analyze_files(before), analyze_files(after)) == diff(analyze_files(pair[0]), analyze_files(pair[1]))


@EXAMPLES
@given(revisions())
def test_another_layout_is_no_change(pair: tuple[Repository, Repository]) -> None:
    spread = {path: text.upper().replace(" ", "\n  ").replace(",", " /* and */ ,") for path, text in pair[1].items()}
    assert [change for change in diff(analyze_files(pair[1]), analyze_files(spread)) if change.rule != "COL006"] == []


@EXAMPLES
@given(revisions())
def test_the_diff_extent_gives_the_same_changes(pair: tuple[Repository, Repository]) -> None:
    base, head = map(analyze_files, pair)
    assert diff(*reduce_to_extent(base, head)) == diff(base, head)
