"""Two sides in, a comparison out, as every command that compares makes it: changes, judged, with their waivers."""

from datetime import date
from typing import TYPE_CHECKING

from lineage_pipeline.cli.subject import Side, lineages_of
from lineage_pipeline.export import Comparison, with_head

if TYPE_CHECKING:
    from lineage_pipeline.discover.gather import Discovery
    from lineage_pipeline.vocabulary.analysis import Lineage
    from lineage_pipeline.vocabulary.tables import Diagnostic
    from lineage_pipeline.vocabulary.waivers import Waiver


def compare(base: Side, head: Side, today: str, *, show_waived: bool = False) -> Comparison:
    """Compare two sides; the head says how changes are judged, and which are waived."""
    from lineage_pipeline.engine.diff import diff
    from lineage_pipeline.engine.diff.waivers import waive
    from lineage_pipeline.settings.judging import policy_of

    policy = policy_of(head[1])
    before, after = lineages_of(base, head)
    waivers, problems = waivers_of(head[0], after)
    waived = waive(diff(before, after, policy), waivers, today)
    found = (*problems, *waived.findings)
    comparison = Comparison(base[0].key, head[0].key, waived.changes, waived.waivers, found, show_waived)
    return with_head(comparison, after, head[0].files)


def waivers_of(head: "Discovery", lineage: "Lineage") -> "tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]":
    """Give the waivers of the head, from its file and from comments, and what is wrong with the comments."""
    from lineage_pipeline.discover import waivers

    return waivers.waivers_of(head.waivers, head.files, head.sources, lineage.statements)


def day(today: str | None) -> str:
    """Give the day that waivers are held against: the one that is named, else this one."""
    from lineage_pipeline.vocabulary.errors import LineageError

    try:
        return date.fromisoformat(today).isoformat() if today else date.today().isoformat()
    except ValueError:
        raise LineageError(f"{today} is not a day; write it as 2026-12-31") from None
