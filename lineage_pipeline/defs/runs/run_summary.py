"""The summary of a run, computed from what is published."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.defs.home import Home, locate_home
from lineage_pipeline.defs.runs.published import read_comparison
from lineage_pipeline.defs.runs.targets import SnapshotTarget
from lineage_pipeline.engine.diff.gate import list_failing_changes
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.summary import RunSummary, TableCount
from lineage_pipeline.quality.checks import CheckResult
from lineage_pipeline.store.warehouse import Warehouse


def summarize_run(settings: Settings, targets: Sequence[SnapshotTarget], jobs: int, skipped: bool) -> RunSummary:
    """Return what was found and where it is; an unpublished snapshot counts only by its checks."""
    home, warehouse = locate_home(settings), Warehouse(settings.warehouse)
    keys = [target.snapshot for target in targets]
    published = [key for key in keys if warehouse.manifest(key) is not None]
    compared = [target.snapshot for target in targets if not target.implied and target.snapshot in published]
    comparisons = [found for key in compared if (found := read_comparison(warehouse, key)) is not None]
    changes = [change for comparison in comparisons for change in comparison.changes]
    results = list(_read_check_results(home, keys))
    return RunSummary(
        snapshots=tuple(published),
        tables=tuple(_count_tables(warehouse, published)),
        findings=dict(Counter(_read_severities(warehouse, published))),
        changes=dict(Counter(change.effective.value for change in changes if change.root and change.waiver is None)),
        derived=sum(not change.root for change in changes),
        breaking=tuple(list_failing_changes(changes, Severity.BREAKING)),
        checks_passed=sum(result.passed for result in results),
        checks_failed=sum(not result.passed and result.severity is Level.ERROR for result in results),
        spark_jobs=jobs,
        skipped=skipped,
        warehouse=settings.warehouse,
        marts=str(home.marts) if home.marts.exists() else "",
        events=str(home.events) if home.events.exists() else "",
        report=_report_path(home, comparisons),
    )


def _count_tables(warehouse: Warehouse, snapshots: Sequence[str]) -> Iterator[TableCount]:
    rows: Counter[str] = Counter()
    for snapshot in snapshots:
        manifest = warehouse.manifest(snapshot)
        for table, stored in manifest.tables.items() if manifest else ():
            rows[table] += stored.rows
    rows.pop("sources", None)  # they are shared: their files hold those of other snapshots, too
    yield from (TableCount(table, count) for table, count in rows.items())


def _read_severities(warehouse: Warehouse, snapshots: Sequence[str]) -> Iterator[str]:
    for snapshot in snapshots:
        yield from warehouse.read(snapshot, "diagnostics")["severity"].to_pylist()


def _read_check_results(home: Home, snapshots: Sequence[str]) -> Iterator[CheckResult]:
    for snapshot in snapshots:
        for file in sorted(home.checks_of(snapshot, "any").parent.glob("*.json")):
            yield from msgspec.json.decode(file.read_bytes(), type=list[CheckResult])


def _report_path(home: Home, comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    last = comparisons[-1]
    return str(home.report_of(last.base, last.head, REPORTERS["markdown"].suffix))
