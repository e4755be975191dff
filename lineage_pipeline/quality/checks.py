"""Runs a suite: Great Expectations validates it once, and again in detail only for what failed."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.model.enums import Level
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.quality.suites import (
    PREPARATIONS,
    SUITES,
    DataFrame,
    TableCheck,
    is_spark_frame,
    prepare_frames,
)

SAMPLE_ROWS = 5


BREAKING_CHECK = "no_breaking_changes"
"""The check of what a snapshot changes; all others are about the rows of its tables."""


class CheckResult(msgspec.Struct, frozen=True):
    """One property of one table: whether it holds, and if not, in how many rows and sample rows."""

    table: str
    check: str
    passed: bool
    severity: Level
    blocking: bool
    observed: str
    unexpected: int
    sample: str


def check_table(table: str, frames: Mapping[str, DataFrame]) -> tuple[CheckResult, ...]:
    """Prepare a table with its neighbors and validate it; results in suite order."""
    results: dict[str, CheckResult] = {}
    for name, frame in prepare_frames(table, frames).items():
        checks = [check for check in SUITES[table] if (check.frame or table) == name]
        key = PREPARATIONS[name].key if name in PREPARATIONS else ()
        results |= {result.check: result for result in _validate_frame(table, checks, frame, key or TABLES[table].key)}
    return tuple(results[check.name] for check in SUITES[table])


def _validate_frame(
    table: str, checks: Sequence[TableCheck], frame: DataFrame, key: tuple[str, ...]
) -> Iterator[CheckResult]:
    """Run checks on a prepared pandas or Spark frame, in one validation."""
    batch = _open_batch(frame)
    outcomes = _run_validation(batch, checks, {"result_format": "BOOLEAN_ONLY"})
    failed = [check for check in checks if not outcomes[check.name].success]
    details = {}
    if failed:
        # Samples cost a Spark job each, so only failures are looked at again.
        closer = {"result_format": "SUMMARY", "partial_unexpected_count": SAMPLE_ROWS}
        details = _run_validation(batch, failed, {**closer, "unexpected_index_column_names": list(key)})
    for check in checks:
        yield _build_result(table, check, details.get(check.name))


def _open_batch(frame: DataFrame) -> Any:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when the package is imported
    import great_expectations
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = great_expectations.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    add = context.data_sources.add_spark if is_spark_frame(frame) else context.data_sources.add_pandas
    asset = add("frames").add_dataframe_asset("frame")
    return asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})


def _run_validation(batch: Any, checks: Iterable[TableCheck], result_format: dict[str, Any]) -> dict[str, Any]:
    from great_expectations import ExpectationSuite, expectations

    suite = ExpectationSuite(name="suite")
    for check in checks:
        expectation = getattr(expectations, f"Expect{check.expectation}")
        suite.add_expectation(expectation(**check.arguments, meta={"check": check.name}))
    results = batch.validate(suite, result_format=result_format).results
    return {result.expectation_config.meta["check"]: result for result in results}


def _build_result(table: str, check: TableCheck, failure: Any) -> CheckResult:
    if failure is None:
        return CheckResult(
            table=table,
            check=check.name,
            passed=True,
            severity=check.severity,
            blocking=check.blocking,
            observed="holds in every row",
            unexpected=0,
            sample="[]",
        )
    found = failure.result
    count, total = int(found.get("unexpected_count", 0)), int(found.get("element_count", 0))
    observed = (
        f"fails in {count} of {total} rows" if count else f"cannot be checked: {_find_reason(failure.exception_info)}"
    )
    sample = _encode_rows(found.get("partial_unexpected_index_list") or [])
    return CheckResult(
        table=table,
        check=check.name,
        passed=False,
        severity=check.severity,
        blocking=check.blocking,
        observed=observed,
        unexpected=count,
        sample=sample,
    )


def _find_reason(exception: Any) -> str:
    """Return the first exception message; it is nested deeper where a metric failed."""
    if not isinstance(exception, Mapping):
        return ""
    message = exception.get("exception_message")
    deeper = (_find_reason(value) for value in exception.values())
    return str(message) if message else next((reason for reason in deeper if reason), "")


def _encode_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    plain = [{name: _plain_value(value) for name, value in row.items()} for row in rows]
    return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def _plain_value(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value
