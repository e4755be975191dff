"""Comparison of two sides, for every command that compares: changes, judged by the policy, with their waivers."""

import os
from collections import defaultdict
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lineage_pipeline.cli.local_analysis import ComparisonSide, analyze_pair, read_side_imports
from lineage_pipeline.diff_settings import report_relaxed_since
from lineage_pipeline.discover.git.repository import find_toplevel
from lineage_pipeline.export.subject import Comparison, with_base, with_head
from lineage_pipeline.model.tables import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineage_pipeline.discover.discovery import Discovery
    from lineage_pipeline.engine.diff.file_accounts import FileSide
    from lineage_pipeline.model.analysis import LineageTables
    from lineage_pipeline.model.tables import Change, StatementRow, Waiver


def compare_sides(
    base: ComparisonSide,
    head: ComparisonSide,
    today: str,
    *,
    show_waived: bool = False,
    told: "Iterable[Diagnostic]" = (),
) -> Comparison:
    """Compare two sides with the policy and the waivers of the head; `told` are further findings."""
    from lineage_pipeline.diff_settings import build_policy
    from lineage_pipeline.engine.diff.compare import diff
    from lineage_pipeline.engine.diff.file_accounts import account_for_files, report_uncompared
    from lineage_pipeline.engine.diff.suggestions import describe_changes
    from lineage_pipeline.engine.diff.waivers import apply_waivers

    policy = build_policy(head[1])
    before, after = analyze_pair(base, head)
    sides = build_file_side(base[0], before), build_file_side(head[0], after)
    account = account_for_files(*sides)
    changes = fill_change_paths(report_uncompared(account, diff(before, after, policy), policy), (head, base))
    waivers, problems = find_waivers(head[0], after)
    waived = apply_waivers(describe_changes(*sides, changes), waivers, today)
    found = (*told, *problems, *waived.findings)
    comparison = Comparison(
        base=base[0].key,
        head=head[0].key,
        changes=waived.changes,
        waivers=waived.waivers,
        findings=found,
        show_waived=show_waived,
        account=account,
    )
    return with_base(with_head(comparison, after, head[0].files), before.diagnostics)


def narrow_to_object(comparison: Comparison, written: str) -> Comparison:
    """Keep the causes at an object and those that affect it; an object that nothing touches has none."""
    from lineage_pipeline.engine.trace.name_lookup import NameLookup
    from lineage_pipeline.engine.trace.selectors import parse_selector
    from lineage_pipeline.queries.lineage import object_not_found

    touched: dict[str, set[str]] = defaultdict(set)
    for change in comparison.changes:
        touched[change.root_id] |= {change.object, *(reader.object for reader in change.consumers)}
    names = sorted({*chain.from_iterable(touched.values()), *chain.from_iterable(comparison.edges)})
    known, selector = NameLookup(dict.fromkeys(names, ())), parse_selector(written)
    chosen = set(known.match_objects(selector.parts))
    if not chosen:
        raise object_not_found(known, selector)
    return replace(comparison, changes=tuple(one for one in comparison.changes if touched[one.root_id] & chosen))


def build_file_side(discovery: "Discovery", lineage: "LineageTables") -> "FileSide":
    """Return the files of one side with their texts and statements."""
    from lineage_pipeline.engine.diff.file_accounts import FileSide

    texts = {source.source_hash: source.text for source in discovery.sources}
    statements: dict[str, list[StatementRow]] = defaultdict(list)
    for row in lineage.statements:
        statements[row.path].append(row)
    return FileSide(
        files=discovery.files,
        lineage=lineage,
        read_text=lambda file: texts.get(file.source_hash, ""),
        find_statements=lambda path: statements.get(path, ()),
    )


def fill_change_paths(
    changes: "tuple[Change, ...]", sides: "tuple[ComparisonSide, ComparisonSide]"
) -> "tuple[Change, ...]":
    """Add the describing file (such as dbt's sources) to changes of objects that no SQL defines."""
    if all(change.path for change in changes):
        return changes
    described: dict[str, str] = {}
    for side in sides:
        schemas = read_side_imports(side).schemas.values()
        described = {one.object: one.source for one in schemas if _is_repository_file(one.source)} | described
    return tuple(one if one.path else replace(one, path=described.get(one.object)) for one in changes)


def _is_repository_file(source: str) -> bool:
    """Tell whether a schema was read from a file of the repository."""
    return bool(source) and "://" not in source and not source.startswith(("/", ".."))


def find_waivers(head: "Discovery", lineage: "LineageTables") -> "tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]":
    """Return the waivers of the head, from its file and from comments, and problems with the comments."""
    from lineage_pipeline.discover import waiver_file

    return waiver_file.collect_waivers(head.waivers, head.files, head.sources, lineage.statements)


def parse_today(today: str | None) -> str:
    """Return the day of --today, else the current one."""
    from lineage_pipeline.model.errors import LineageError

    try:
        return date.fromisoformat(today).isoformat() if today else date.today().isoformat()
    except ValueError:
        raise LineageError(f"{today} is not a day; write it as 2026-12-31") from None


def find_milder_settings(path: Path, sides: tuple[ComparisonSide, ComparisonSide]) -> tuple[Diagnostic, ...]:
    """Return a finding for each setting that is milder than at the base of the repository."""
    top, commit, settings = find_toplevel(path).resolve(), sides[0][0].snapshot.commit, sides[1][1]
    folder = settings.root if settings.file is not None else top
    if not folder.is_relative_to(top):
        return ()  # the settings are none of the repository's
    place = "".join(f"{part}/" for part in folder.relative_to(top).parts)
    return report_relaxed_since(top, commit, settings, os.environ, place)
