"""The checks on changes, waivers, settings and coverage, on commits that break, waive and understand less."""

from typing import Any

import pytest

from lineage_pipeline.quality.shares import Share, judge_share
from lineage_pipeline_tests.support.branch_project import collect_evaluations, run_branch_project

ERROR, WARN = "ERROR", "WARN"

VERDICTS = {
    "sound": (True, WARN, "there is nothing to compare with"),
    "breaking": (False, ERROR, "1 breaking, 0 potentially breaking, 0 waived changes"),
    "waived": (True, WARN, "0 breaking, 0 potentially breaking, 1 waived change"),
    "harmless": (True, WARN, "0 breaking, 0 potentially breaking, 0 waived changes"),
    "doubtful": (False, WARN, "0 breaking, 2 potentially breaking, 0 waived changes"),
}


def find_evaluation(name: str, check: str = "changes.no_breaking_changes") -> Any:
    return collect_evaluations(run_branch_project()[1][name])[check]


@pytest.mark.spark
@pytest.mark.parametrize("name", VERDICTS)
def test_breaking_changes_fail_and_potential_ones_warn_unless_waived(name: str) -> None:
    made, results = run_branch_project()
    passed, severity, told = VERDICTS[name]
    found = find_evaluation(name)
    assert results[name].success, "the check blocks nothing: its run goes on"
    assert (found.passed, found.severity.value) == (passed, severity)
    assert str(found.description).startswith(told)
    assert found.partition == made.keys[name]


@pytest.mark.spark
def test_the_findings_are_a_table_with_links_owners_and_a_fingerprint() -> None:
    made, _ = run_branch_project()
    metadata = find_evaluation("breaking").metadata
    table = metadata["findings"].value
    link = f"https://git.example/shop/blob/{made.keys['breaking'].rpartition('@')[2]}/raw.sql#L1"
    assert "| breaking | COL001" in table
    assert "`raw.orders.note`" in table
    assert f"[`raw.sql:1`]({link})" in table
    assert "`core.orders`" in table
    assert set(metadata["owners"].value) == {"@core-team", "sales@example.org"}
    assert (metadata["breaking"].value, metadata["waived"].value) == (1, 0)
    assert metadata["fingerprint"].value != find_evaluation("doubtful").metadata["fingerprint"].value
    assert set(find_evaluation("doubtful").metadata["owners"].value) == {"@core-team", "sales@example.org"}, (
        "by the file"
    )
    waived = find_evaluation("waived").metadata["findings"].value
    assert "nobody reads notes (sales@example.org, until 2999-12-31)" in waived


@pytest.mark.spark
def test_a_snapshot_with_lower_coverage_than_its_base_warns() -> None:
    sound, less = (
        find_evaluation("sound", "statements.parse_success"),
        find_evaluation("doubtful", "statements.parse_success"),
    )
    assert (sound.passed, sound.metadata["share"].value) == (True, 1.0)
    assert (less.passed, less.severity.value, less.metadata["share_before"].value) == (False, WARN, 1.0)
    assert less.metadata["share"].value < 1
    for name in ("lineage_coverage", "approximate_share"):
        found = find_evaluation("harmless", f"column_edges.{name}")
        assert (found.passed, found.metadata["share"].value) == (True, found.metadata["share_before"].value)


@pytest.mark.spark
def test_waivers_are_rows_with_their_end_and_use() -> None:
    from lineage_pipeline.store.warehouse import Warehouse

    made, _ = run_branch_project()
    key = (made.keys["sound"], made.keys["waived"])
    [row] = Warehouse(made.settings.warehouse).read(key, "waivers").to_pylist()
    assert (row["expires"], row["used"], row["expired"]) == ("2999-12-31", True, False)


@pytest.mark.spark
def test_settings_that_a_change_relaxes_are_a_finding_and_stand_in_its_report() -> None:
    from lineage_pipeline.defs.runs.published import read_comparison
    from lineage_pipeline.store.warehouse import Warehouse

    made, _ = run_branch_project()
    warehouse = Warehouse(made.settings.warehouse)
    relaxed = {
        name: [one.message for one in warehouse.load(made.keys[name]).diagnostics if one.code == "SETTINGS_RELAXED"]
        for name in ("breaking", "doubtful")
    }
    told = "diff.levels.SRC003 is milder than at the base: as found became info"
    assert relaxed == {"breaking": [], "doubtful": [told]}
    comparison = read_comparison(warehouse, made.keys["doubtful"])
    assert comparison is not None
    assert [(one.path, one.message) for one in comparison.relaxed_findings] == [("lineage.toml", told)]


LIMITS = (
    # share, of which it was, limit, may lose; passes, fails its limit
    (Share("parsed", 90, 100), Share("parsed", 100, 100), 0.0, 0.1, True, False),
    (Share("parsed", 89, 100), Share("parsed", 100, 100), 0.0, 0.1, False, False),
    (Share("parsed", 89, 100), None, 0.9, 0.1, False, True),
    (Share("parsed", 0, 0), None, 0.9, 0.1, True, False),
    (Share("approximate", 5, 100), Share("approximate", 5, 100), 0.05, 0.0, True, False),
    (Share("approximate", 6, 100), Share("approximate", 5, 100), 1.0, 0.001, False, False),
    (Share("approximate", 6, 100), Share("approximate", 50, 100), 0.05, 0.0, False, True),
    (Share("covered", 1, 2), Share("covered", 0, 0), 0.0, 0.0, True, False),
)


@pytest.mark.parametrize(("share", "before", "limit", "worse", "passed", "below"), LIMITS)
def test_a_share_is_compared_with_its_limit_and_its_base(
    share: Share, before: Share | None, limit: float, worse: float, passed: bool, below: bool
) -> None:
    found = judge_share(share, before, limit, worse)
    assert (found.passed, found.below_limit) == (passed, below), found.message
