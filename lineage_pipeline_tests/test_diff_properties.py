"""What holds for the changes between any two revisions: of repositories that are edited at random."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.narrowing import narrowed
from lineage_pipeline_tests.repositories import Repository, edited, inputs, repository
from lineage_pipeline_tests.test_diff import is_told_back

EXAMPLES = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def revisions(draw: Any) -> tuple[Repository, Repository]:
    """Two revisions of a repository, a few edits apart."""
    before = repository(draw)
    after = before
    for _ in range(draw(st.integers(1, 3))):
        after = edited(draw, after)
    return before, after


def lineage(files: Repository) -> LineageTables:
    return build_lineage(inputs(files), reach=False)


@EXAMPLES
@given(revisions())
def test_nothing_changes_between_a_revision_and_itself(pair: tuple[Repository, Repository]) -> None:
    assert diff(lineage(pair[0]), lineage(pair[0])) == ()


@EXAMPLES
@given(revisions())
def test_an_edit_that_is_taken_back_is_told_both_ways(pair: tuple[Repository, Repository]) -> None:
    base, head = map(lineage, pair)
    assert [change for change in diff(base, head) if not is_told_back(change, diff(head, base))] == []


@EXAMPLES
@given(revisions(), st.randoms())
def test_the_order_of_files_does_not_matter(pair: tuple[Repository, Repository], chance: Any) -> None:
    before, after = (dict(chance.sample(sorted(files.items()), len(files))) for files in pair)
    assert diff(lineage(before), lineage(after)) == diff(lineage(pair[0]), lineage(pair[1]))


@EXAMPLES
@given(revisions())
def test_another_layout_is_no_change(pair: tuple[Repository, Repository]) -> None:
    spread = {path: text.upper().replace(" ", "\n  ").replace(",", " /* and */ ,") for path, text in pair[1].items()}
    assert [change for change in diff(lineage(pair[1]), lineage(spread)) if change.rule != "COL006"] == []


@EXAMPLES
@given(revisions())
def test_only_what_differs_and_what_hangs_on_it_has_to_be_looked_at(pair: tuple[Repository, Repository]) -> None:
    base, head = map(lineage, pair)
    assert diff(*narrowed(base, head)) == diff(base, head)
