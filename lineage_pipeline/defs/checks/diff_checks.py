"""Checks of the analysis: breaking changes, and how much of a snapshot was understood."""

import warnings
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import dagster as dg

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.assets.metadata import TABLE_SHARES, read_share
from lineage_pipeline.defs.checks.table_checks import save_results
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.defs.runs.published import is_published, read_comparison
from lineage_pipeline.defs.snapshot_keys import extract_commit
from lineage_pipeline.defs.specs import SPARK_POOL, make_asset_key, snapshot_partitions
from lineage_pipeline.engine.diff.policy import list_failing_changes
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.export.documents.changes_json import count_by_severity
from lineage_pipeline.export.reports.causes import RootCause, collect_causes, format_number_of, rank_owners
from lineage_pipeline.export.reports.findings_table import write_findings_table
from lineage_pipeline.export.subject import Comparison, ReportStyle
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.tables import Snapshot
from lineage_pipeline.quality.checks import BREAKING_CHECK, CheckResult
from lineage_pipeline.quality.shares import Share, judge_share
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.table_files import read_columns
from lineage_pipeline.store.warehouse import Warehouse

SHARE_DESCRIPTIONS = {
    "parsed": "The share of bytes that was analyzed keeps its limit, and what it was in the snapshot compared with.",
    "covered": "Columns that something is computed into have a known source as often as they should, and as before.",
    "approximate": "No more edges are guesses than may be, and than in the snapshot compared with.",
}

SHARE_CHECK_NAMES = {"parsed": "parse_success", "covered": "lineage_coverage", "approximate": "approximate_share"}


def _diff_check_spec(name: str, table: str, about: str) -> dg.AssetCheckSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # checks by partition are new in Dagster
        return dg.AssetCheckSpec(
            name, asset=make_asset_key(table), description=about, partitions_def=snapshot_partitions
        )


@dg.multi_asset_check(
    name=BREAKING_CHECK,
    pool=SPARK_POOL,
    specs=[
        _diff_check_spec(
            BREAKING_CHECK, "changes", "No cause is breaking or potentially breaking, unless a waiver covers it."
        )
    ],
)
def no_breaking_changes(
    context: dg.AssetCheckExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
) -> Iterator[dg.AssetCheckResult]:
    """Fail with ERROR on breaking causes that no waiver covers, and warn of potentially breaking ones."""
    head = context.partition_key
    settings = project.settings_for(head)
    warehouse = store.warehouse(settings)
    missing = _find_missing_base(warehouse, head)
    comparison = read_comparison(warehouse, head)
    if missing or comparison is None:
        yield _uncompared_result(missing)
        return
    result = dg.AssetCheckResult(
        passed=not list_failing_changes(comparison.changes, Severity.POTENTIALLY_BREAKING),
        check_name=BREAKING_CHECK,
        asset_key=make_asset_key("changes"),
        severity=judge_severity(comparison),
        description=_describe_comparison(comparison),
        metadata=_build_metadata(comparison, project, settings, warehouse),
    )
    yield result
    save_results(project, head, BREAKING_CHECK, (_keep_result(result),))


def _keep_result(result: dg.AssetCheckResult) -> CheckResult:
    """Keep the result of the check of changes for the summary of a run."""
    return CheckResult(
        table="changes",
        check=BREAKING_CHECK,
        passed=bool(result.passed),
        severity=Level.ERROR if result.severity is dg.AssetCheckSeverity.ERROR else Level.WARNING,
        blocking=False,
        observed=result.description or "",
        unexpected=0,
        sample="[]",
    )


def _find_missing_base(warehouse: Warehouse, head: str) -> str:
    """Return the message of the finding BASE_MISSING of a snapshot, or an empty text."""
    found = read_columns(warehouse.tables(head), "diagnostics", ("code", "message")).to_pylist()
    return next((row["message"] for row in found if row["code"] == "BASE_MISSING"), "")


def _uncompared_result(missing: str) -> dg.AssetCheckResult:
    """Warn where the base is missing; without a base to compare with, pass."""
    return dg.AssetCheckResult(
        passed=not missing,
        check_name=BREAKING_CHECK,
        asset_key=make_asset_key("changes"),
        severity=dg.AssetCheckSeverity.WARN,
        description=missing or "there is nothing to compare with",
    )


def judge_severity(comparison: Comparison) -> dg.AssetCheckSeverity:
    """Return the severity of a failure: breaking changes are errors, potentially breaking ones warnings."""
    broken = list_failing_changes(comparison.changes, Severity.BREAKING)
    return dg.AssetCheckSeverity.ERROR if broken else dg.AssetCheckSeverity.WARN


def _describe_comparison(comparison: Comparison) -> str:
    roots = [change for change in comparison.changes if change.root]
    counts = count_by_severity(change for change in roots if change.waiver is None)
    waived = sum(change.waiver is not None for change in roots)
    listed = f"{counts[Severity.BREAKING]} breaking, {counts[Severity.POTENTIALLY_BREAKING]} potentially breaking"
    return f"{listed}, {format_number_of(waived, 'waived change')}, against {comparison.base}"


def _find_owners(warehouse: Warehouse, comparison: Comparison, found: Sequence[RootCause]) -> list[str]:
    """Return the owners of what harmful causes affect, then the owners of the files they are in."""
    files = read_columns(warehouse.tables(comparison.head), "sql_files", ("path", "owners")).to_pylist()
    owners = {row["path"]: row["owners"] or () for row in files}
    written = [owner for cause in found if cause.is_harmful for owner in owners.get(cause.change.path, ())]
    return list(dict.fromkeys([*rank_owners(found), *written]))


def _build_metadata(
    comparison: Comparison, project: Project, settings: Settings, warehouse: Warehouse
) -> dict[str, Any]:
    found = collect_causes(comparison)
    harmful = list_failing_changes(comparison.changes, Severity.POTENTIALLY_BREAKING)
    link = build_source_link(settings, comparison.head)
    report = project.home.report_of(comparison.base, comparison.head, REPORTERS["markdown"].suffix)
    counts = count_by_severity(harmful)
    return {
        "findings": dg.MetadataValue.md(write_findings_table(comparison, ReportStyle(link=link))),
        "breaking": counts[Severity.BREAKING],
        "potentially_breaking": counts[Severity.POTENTIALLY_BREAKING],
        "waived": sum(cause.waived is not None for cause in found),
        "base": comparison.base,
        "owners": dg.MetadataValue.json(_find_owners(warehouse, comparison, found)),
        "fingerprint": hash_findings(change.fingerprint for change in harmful),
        "report": dg.MetadataValue.path(report),
        **({"source": dg.MetadataValue.url(link)} if link else {}),
    }


def build_source_link(settings: Settings, snapshot: str) -> str | None:
    """Return the URL of a commit's files at the repository's host, if the settings have one."""
    before, found, after = settings.openlineage.source_url.partition("{path}")
    if not found or after or extract_commit(snapshot).startswith("tree-"):
        return None
    return before.replace("{commit}", extract_commit(snapshot)).rstrip("/")


def hash_findings(parts: Any) -> str:
    """Hash findings independently of their order; the same findings have the same hash in every run."""
    return sha256("\0".join(sorted(parts)).encode()).hexdigest()[:16]


def build_share_checks(table: str, names: Sequence[str]) -> dg.AssetChecksDefinition:
    """Build the checks of the shares that belong to one table."""

    specs = [_diff_check_spec(SHARE_CHECK_NAMES[name], table, SHARE_DESCRIPTIONS[name]) for name in names]

    @dg.multi_asset_check(name=f"{table}_understood", specs=specs, pool=SPARK_POOL)
    def understood(
        context: dg.AssetCheckExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
    ) -> Iterator[dg.AssetCheckResult]:
        snapshot = context.partition_key
        settings = project.settings_for(snapshot)
        warehouse, run = store.warehouse(settings), store.view(settings, snapshot, context.run.run_id)
        results = []
        for name in names:
            before = _read_base_share(warehouse, settings, run, name)
            share = read_share(run.tables, name)
            results.append(_judge_share(table, share, before, settings))
            yield results[-1][1]
        save_results(project, snapshot, f"{table}_understood", tuple(kept for kept, _ in results))

    return understood


def _judge_share(
    table: str, share: Share, before: Share | None, settings: Settings
) -> tuple[CheckResult, dg.AssetCheckResult]:
    verdict = judge_share(share, before, getattr(settings.checks, share.name), settings.checks.worse)
    level = Level.ERROR if verdict.below_limit else Level.WARNING
    name = SHARE_CHECK_NAMES[share.name]
    result = dg.AssetCheckResult(
        passed=verdict.passed,
        check_name=name,
        asset_key=make_asset_key(table),
        severity=dg.AssetCheckSeverity.ERROR if verdict.below_limit else dg.AssetCheckSeverity.WARN,
        description=verdict.message,
        metadata={
            "share": share.value if share.value is not None else "nothing to count",
            "part": share.part,
            "whole": share.whole,
            **({"share_before": before.value} if before and before.value is not None else {}),
        },
    )
    return CheckResult(
        table=table,
        check=name,
        passed=verdict.passed,
        severity=level,
        blocking=False,
        observed=verdict.message,
        unexpected=0,
        sample="[]",
    ), result


def _read_base_share(warehouse: Warehouse, settings: Settings, run: WarehouseRun, name: str) -> Share | None:
    """Count a share of the base snapshot; None where it was made by another analysis."""
    (row,) = run.rows(Snapshot)
    base = f"{row.repo}@{row.base}" if row.base else None
    return read_share(warehouse.tables(base), name) if base and is_published(warehouse, base, settings) else None


DIFF_CHECKS = [no_breaking_changes, *(build_share_checks(table, names) for table, names in TABLE_SHARES.items())]
