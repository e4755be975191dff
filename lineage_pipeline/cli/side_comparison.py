"""Comparison of two sides, for every command that compares: changes, judged by the policy, with their waivers."""

import os
from collections import defaultdict
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lineage_pipeline.cli.local_analysis import ComparisonSide, analyze_pair, read_side_imports
from lineage_pipeline.diff_settings import report_relaxed_since
from lineage_pipeline.discover.git.repository import find_toplevel
from lineage_pipeline.export.subject import Comparison, with_base, with_head
from lineage_pipeline.model.tables import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lineage_pipeline.cli.comparison_cache import ComparedSides
    from lineage_pipeline.config.load import Settings
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
    findings: "Iterable[Diagnostic]" = (),
) -> Comparison:
    """Compare two sides with the policy and the waivers of the head; `findings` are further findings."""
    return judge_comparison(find_differences(base, head), today, show_waived=show_waived, findings=findings)


def find_differences(base: ComparisonSide, head: ComparisonSide) -> "ComparedSides":
    """Find what two sides differ in, on whatever day."""
    from lineage_pipeline.cli.comparison_cache import ComparedSides
    from lineage_pipeline.diff_settings import build_policy
    from lineage_pipeline.engine.diff.compare import diff
    from lineage_pipeline.engine.diff.file_accounts import account_for_files, report_uncompared
    from lineage_pipeline.engine.diff.suggestions import describe_changes

    policy = build_policy(head[1])
    before, after = analyze_pair(base, head)
    sides = build_file_side(base[0], before), build_file_side(head[0], after)
    account = account_for_files(*sides)
    changes = fill_change_paths(report_uncompared(account, diff(before, after, policy), policy), (head, base))
    waivers, problems = find_waivers(head[0], after)
    comparison = Comparison(
        base=base[0].key, head=head[0].key, changes=describe_changes(*sides, changes), account=account
    )
    whole = with_base(with_head(comparison, after, head[0].files), before.diagnostics)
    return ComparedSides(whole, waivers, problems, head[0].files)


def judge_comparison(
    found: "ComparedSides", today: str, *, show_waived: bool = False, findings: "Iterable[Diagnostic]" = ()
) -> Comparison:
    """Apply the waivers that hold on a day; `findings` are further findings."""
    from lineage_pipeline.engine.diff.waivers import apply_waivers

    waived = apply_waivers(found.comparison.changes, found.waivers, today)
    return replace(
        found.comparison,
        changes=waived.changes,
        waivers=waived.waivers,
        findings=(*findings, *found.problems, *waived.findings),
        show_waived=show_waived,
    )


def compare_revisions(
    path: Path, revisions: tuple[str, str], flags: "Mapping[str, Any]", *, exact_base: bool = False
) -> "tuple[ComparedSides, tuple[Diagnostic, ...]]":
    """Compare two revisions of a repository, unless that was done; return milder settings of the head, too."""
    from lineage_pipeline.cli.comparison_cache import load_comparison, locate_comparison, save_comparison
    from lineage_pipeline.cli.inputs import discover_revisions, find_revisions, print_revisions
    from lineage_pipeline.discover.folder import name_repository
    from lineage_pipeline.discover.git.repository import WORKTREE, resolve_commit
    from lineage_pipeline.pipeline import relax_garbage_collector

    chosen = find_revisions(path, revisions, flags, exact_base=exact_base)
    place = None
    if chosen.head != WORKTREE:
        commit = resolve_commit(chosen.top, chosen.head)
        place = locate_comparison(chosen.settings, name_repository(chosen.top), chosen.base.commit, commit)
    found = load_comparison(place)
    if found is None:
        with relax_garbage_collector():  # the rows of two sides stay until the end
            found = find_differences(*discover_revisions(chosen, flags))
            save_comparison(place, found)
    else:
        print_revisions(chosen, found.files, flags)
    return found, find_milder_settings(path, chosen.base.commit, chosen.settings)


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


def find_milder_settings(path: Path, base: str, settings: "Settings") -> tuple[Diagnostic, ...]:
    """Return a finding for each setting that is milder than at the base of the repository."""
    top = find_toplevel(path).resolve()
    folder = settings.root if settings.file is not None else top
    if not folder.is_relative_to(top):
        return ()  # the settings are none of the repository's
    place = "".join(f"{part}/" for part in folder.relative_to(top).parts)
    return report_relaxed_since(top, base, settings, os.environ, place)
