"""How a suite is run: Great Expectations sees the whole of it once, and looks closer only at what failed."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lineage_pipeline.quality.preparations import Frame, is_spark, prepare
from lineage_pipeline.quality.suites import SUITES, Check
from lineage_pipeline.vocabulary.sets import Level
from lineage_pipeline.vocabulary.tables import TABLES

SAMPLE = 5


class CheckResult(msgspec.Struct, frozen=True):
    """One property of one table: whether it holds, and if not, in how many rows and for example where."""

    table: str
    check: str
    passed: bool
    severity: Level
    blocking: bool
    observed: str
    unexpected: int
    sample: str


def check_table(table: str, frames: Mapping[str, Frame]) -> tuple[CheckResult, ...]:
    """Prepare a table with its neighbours and validate it."""
    return validate(table, prepare(table, frames))


def validate(table: str, frame: Frame) -> tuple[CheckResult, ...]:
    """Run the suite of a table on a prepared pandas or Spark frame, in one validation; results in the suite's order."""
    checks = SUITES[table]
    batch = _batch(frame)
    outcomes = _validate(batch, checks, {"result_format": "BOOLEAN_ONLY"})
    failed = [check for check in checks if not outcomes[check.name].success]
    details = {}
    if failed:
        # Samples cost a Spark job each, so only failures are looked at again.
        closer = {"result_format": "SUMMARY", "partial_unexpected_count": SAMPLE}
        details = _validate(batch, failed, {**closer, "unexpected_index_column_names": list(TABLES[table].key)})
    return tuple(_result(table, check, details.get(check.name)) for check in checks)


def _batch(frame: Frame) -> Any:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read when the package is imported
    import great_expectations
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = great_expectations.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    add = context.data_sources.add_spark if is_spark(frame) else context.data_sources.add_pandas
    asset = add("frames").add_dataframe_asset("frame")
    return asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})


def _validate(batch: Any, checks: Iterable[Check], result_format: dict[str, Any]) -> dict[str, Any]:
    from great_expectations import ExpectationSuite, expectations

    suite = ExpectationSuite(name="suite")
    for check in checks:
        expectation = getattr(expectations, f"Expect{check.expectation}")
        suite.add_expectation(expectation(**check.arguments, meta={"check": check.name}))
    results = batch.validate(suite, result_format=result_format).results
    return {result.expectation_config.meta["check"]: result for result in results}


def _result(table: str, check: Check, failure: Any) -> CheckResult:
    if failure is None:
        return CheckResult(table, check.name, True, check.severity, check.blocking, "holds in every row", 0, "[]")
    found = failure.result
    count, total = int(found.get("unexpected_count", 0)), int(found.get("element_count", 0))
    observed = f"fails in {count} of {total} rows" if count else f"cannot be checked: {_reason(failure.exception_info)}"
    sample = _json(found.get("partial_unexpected_index_list") or [])
    return CheckResult(table, check.name, False, check.severity, check.blocking, observed, count, sample)


def _reason(exception: Any) -> str:
    """Find the first message; it lies deeper where a metric failed."""
    if not isinstance(exception, Mapping):
        return ""
    message = exception.get("exception_message")
    deeper = (_reason(value) for value in exception.values())
    return str(message) if message else next((reason for reason in deeper if reason), "")


def _json(rows: Iterable[Mapping[str, Any]]) -> str:
    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value
