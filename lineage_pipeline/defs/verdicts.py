"""Checks on the analysis itself: what a change breaks, and how much of a snapshot was understood."""

import warnings
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import dagster as dg

from lineage_pipeline.defs.checks import keep
from lineage_pipeline.defs.keys import commit_of
from lineage_pipeline.defs.metadata import SHARES, share_of
from lineage_pipeline.defs.partitions import SPARK, snapshots
from lineage_pipeline.defs.published import comparison_of, is_published
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.defs.specs import asset_key
from lineage_pipeline.engine.diff.gate import stopped
from lineage_pipeline.export import REPORTERS, Comparison
from lineage_pipeline.export.report import count_changes
from lineage_pipeline.export.reports.reading import Cause, causes, count_of, owners_of
from lineage_pipeline.export.reports.table import findings_table
from lineage_pipeline.export.subject import Style
from lineage_pipeline.quality.checks import CheckResult
from lineage_pipeline.quality.shares import Share, judge
from lineage_pipeline.settings import Settings
from lineage_pipeline.store.run import Run
from lineage_pipeline.store.tables import read_columns
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.sets import Level, Severity
from lineage_pipeline.vocabulary.tables import Snapshot

BREAKING = "no_breaking_changes"

ABOUT = {
    "parsed": "The share of bytes that was analysed keeps its limit, and what it was in the snapshot compared with.",
    "covered": "Columns that something is computed into have a known source as often as they should, and as before.",
    "approximate": "No more edges are guesses than may be, and than in the snapshot compared with.",
}

NAMES = {"parsed": "parse_success", "covered": "lineage_coverage", "approximate": "approximate_share"}


def _spec(name: str, table: str, about: str) -> dg.AssetCheckSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # checks by partition are new in Dagster
        return dg.AssetCheckSpec(name, asset=asset_key(table), description=about, partitions_def=snapshots)


@dg.multi_asset_check(
    name=BREAKING,
    pool=SPARK,
    specs=[_spec(BREAKING, "changes", "No cause is breaking or potentially breaking, unless a waiver covers it.")],
)
def no_breaking_changes(
    context: dg.AssetCheckExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
) -> Iterator[dg.AssetCheckResult]:
    """Fail with ERROR on breaking causes that no waiver covers, and warn of potentially breaking ones."""
    head = context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    missing = _missing_base(warehouse, head)
    comparison = comparison_of(warehouse, head)
    if missing or comparison is None:
        yield _uncompared(missing)
        return
    yield dg.AssetCheckResult(
        passed=not stopped(comparison.changes, Severity.POTENTIALLY_BREAKING),
        check_name=BREAKING,
        asset_key=asset_key("changes"),
        severity=severity_of(comparison),
        description=_sentence(comparison),
        metadata=_metadata(comparison, project, settings, warehouse),
    )


def _missing_base(warehouse: Warehouse, head: str) -> str:
    """Give the finding that there is no base to compare a snapshot with, where there should be one."""
    found = read_columns(warehouse.tables(head), "diagnostics", ("code", "message")).to_pylist()
    return next((row["message"] for row in found if row["code"] == "BASE_MISSING"), "")


def _uncompared(missing: str) -> dg.AssetCheckResult:
    """Warn where nothing could be compared: nobody knows what breaks. Without a base there is nothing that could."""
    return dg.AssetCheckResult(
        passed=not missing,
        check_name=BREAKING,
        asset_key=asset_key("changes"),
        severity=dg.AssetCheckSeverity.WARN,
        description=missing or "there is nothing to compare with",
    )


def severity_of(comparison: Comparison) -> dg.AssetCheckSeverity:
    """Say how grave a failure is: breaking changes are errors, potentially breaking ones warnings."""
    broken = stopped(comparison.changes, Severity.BREAKING)
    return dg.AssetCheckSeverity.ERROR if broken else dg.AssetCheckSeverity.WARN


def _sentence(comparison: Comparison) -> str:
    roots = [change for change in comparison.changes if change.root]
    counts = count_changes(change for change in roots if change.waiver is None)
    waived = sum(change.waiver is not None for change in roots)
    told = f"{counts[Severity.BREAKING]} breaking, {counts[Severity.POTENTIALLY_BREAKING]} potentially breaking"
    return f"{told}, {count_of(waived, 'waived change')}, against {comparison.base}"


def _owners(warehouse: Warehouse, comparison: Comparison, found: Sequence[Cause]) -> list[str]:
    """Name those who own what feels the harmful causes, then those who own the files in which they are."""
    files = read_columns(warehouse.tables(comparison.head), "sql_files", ("path", "owners")).to_pylist()
    owners = {row["path"]: row["owners"] or () for row in files}
    written = [owner for cause in found if cause.is_harmful for owner in owners.get(cause.change.path, ())]
    return list(dict.fromkeys([*owners_of(found), *written]))


def _metadata(comparison: Comparison, project: Project, settings: Settings, warehouse: Warehouse) -> dict[str, Any]:
    found = causes(comparison)
    harmful = stopped(comparison.changes, Severity.POTENTIALLY_BREAKING)
    link = source_link(settings, comparison.head)
    report = project.home.report_of(comparison.base, comparison.head, REPORTERS["markdown"].suffix)
    counts = count_changes(harmful)
    return {
        "findings": dg.MetadataValue.md(findings_table(comparison, Style(link=link))),
        "breaking": counts[Severity.BREAKING],
        "potentially_breaking": counts[Severity.POTENTIALLY_BREAKING],
        "waived": sum(cause.waived is not None for cause in found),
        "base": comparison.base,
        "owners": dg.MetadataValue.json(_owners(warehouse, comparison, found)),
        "fingerprint": fingerprint(change.fingerprint for change in harmful),
        "report": dg.MetadataValue.path(report),
        **({"source": dg.MetadataValue.url(link)} if link else {}),
    }


def source_link(settings: Settings, snapshot: str) -> str | None:
    """Give the address below which the repository's host shows the files of a commit, where the settings name it."""
    before, found, after = settings.openlineage.source_url.partition("{path}")
    if not found or after or commit_of(snapshot).startswith("tree-"):
        return None
    return before.replace("{commit}", commit_of(snapshot)).rstrip("/")


def fingerprint(parts: Any) -> str:
    """Hash findings, whatever their order; the same findings have the same hash in every run."""
    return sha256("\0".join(sorted(parts)).encode()).hexdigest()[:16]


def share_checks(table: str, names: Sequence[str]) -> dg.AssetChecksDefinition:
    """Make the checks of the shares that are said of one table."""

    specs = [_spec(NAMES[name], table, ABOUT[name]) for name in names]

    @dg.multi_asset_check(name=f"{table}_understood", specs=specs, pool=SPARK)
    def understood(
        context: dg.AssetCheckExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
    ) -> Iterator[dg.AssetCheckResult]:
        snapshot = context.partition_key
        settings = project.settings_for(snapshot)
        warehouse, run = store.warehouse(settings), store.view(settings, snapshot, context.run.run_id)
        results = []
        for name in names:
            before = _before(warehouse, settings, run, name)
            share = share_of(run.tables, name)
            results.append(_judged(table, share, before, settings))
            yield results[-1][1]
        keep(project, snapshot, f"{table}_understood", tuple(kept for kept, _ in results))

    return understood


def _judged(
    table: str, share: Share, before: Share | None, settings: Settings
) -> tuple[CheckResult, dg.AssetCheckResult]:
    verdict = judge(share, before, getattr(settings.checks, share.name), settings.checks.worse)
    level = Level.ERROR if verdict.below_limit else Level.WARNING
    name = NAMES[share.name]
    told = dg.AssetCheckResult(
        passed=verdict.passed,
        check_name=name,
        asset_key=asset_key(table),
        severity=dg.AssetCheckSeverity.ERROR if verdict.below_limit else dg.AssetCheckSeverity.WARN,
        description=verdict.told,
        metadata={
            "share": share.value if share.value is not None else "nothing to count",
            "part": share.part,
            "whole": share.whole,
            **({"share_before": before.value} if before and before.value is not None else {}),
        },
    )
    return CheckResult(table, name, verdict.passed, level, False, verdict.told, 0, "[]"), told


def _before(warehouse: Warehouse, settings: Settings, run: Run, name: str) -> Share | None:
    """Count a share of the snapshot that this one is compared with; only the same analysis can be compared."""
    (row,) = run.rows(Snapshot)
    base = f"{row.repo}@{row.base}" if row.base else None
    return share_of(warehouse.tables(base), name) if base and is_published(warehouse, base, settings) else None


VERDICTS = [no_breaking_changes, *(share_checks(table, names) for table, names in SHARES.items())]
