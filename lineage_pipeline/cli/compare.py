"""Two sides in, a comparison out, as every command that compares makes it: changes, judged, with their waivers."""

from datetime import date
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lineage_pipeline.cli.subject import Side, imports_of, lineages_of
from lineage_pipeline.export import Comparison, with_head

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineage_pipeline.discover.gather import Discovery
    from lineage_pipeline.vocabulary.analysis import Lineage
    from lineage_pipeline.vocabulary.tables import Change, Diagnostic
    from lineage_pipeline.vocabulary.waivers import Waiver


def compare(
    base: Side, head: Side, today: str, *, show_waived: bool = False, told: "Iterable[Diagnostic]" = ()
) -> Comparison:
    """Compare two sides; the head says how changes are judged, and which are waived; `told` is said of that."""
    from lineage_pipeline.engine.diff import diff
    from lineage_pipeline.engine.diff.waivers import waive
    from lineage_pipeline.settings.judging import policy_of

    policy = policy_of(head[1])
    before, after = lineages_of(base, head)
    waivers, problems = waivers_of(head[0], after)
    waived = waive(placed(diff(before, after, policy), (head, base)), waivers, today)
    found = (*told, *problems, *waived.findings)
    comparison = Comparison(base[0].key, head[0].key, waived.changes, waived.waivers, found, show_waived)
    return with_head(comparison, after, head[0].files)


def placed(changes: "tuple[Change, ...]", sides: "tuple[Side, Side]") -> "tuple[Change, ...]":
    """Give the changes of what no SQL defines a place where a file of the repository describes it, as dbt's sources."""
    if all(change.path for change in changes):
        return changes
    described: dict[str, str] = {}
    for side in sides:
        schemas = imports_of(side).schemas.values()
        described = {one.object: one.source for one in schemas if _is_near(one.source)} | described
    return tuple(one if one.path else replace(one, path=described.get(one.object)) for one in changes)


def _is_near(source: str) -> bool:
    """Say whether a schema was read from a file of the repository, and not from a catalog or from elsewhere."""
    return bool(source) and "://" not in source and not source.startswith(("/", ".."))


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
