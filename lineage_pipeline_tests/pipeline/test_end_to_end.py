"""From a git repository to warehouse, marts, events and report; a second run does nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lineage_pipeline.model.enums import Severity
from lineage_pipeline_tests.support.example_run import ExampleRun, run_example

pytestmark = pytest.mark.spark

AGAIN = """
import sys
from pathlib import Path
from lineage_pipeline.defs.runs.materialize import materialize_revisions
from lineage_pipeline.config.load import load_settings
folder = Path(sys.argv[1])
settings = load_settings(folder, {}, {}).for_repository(folder / ".lineage/example", {}, {})
summary = materialize_revisions(settings, folder / ".lineage/example", sys.argv[2:], print)
assert summary.skipped and summary.spark_jobs == 0, summary
assert not {"pyspark", "dagster", "dbt", "great_expectations"} & set(sys.modules)
"""


def file_states(made: ExampleRun) -> dict[str, tuple[int, int]]:
    """Give size and time of every file that a run writes."""
    files = [path for path in made.settings.home.rglob("*") if path.is_file() and "dagster" not in path.parts]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def test_the_example_is_analyzed_completely_and_two_changes_break_readers() -> None:
    made = run_example()
    rows = {count.table: count.rows for count in made.summary.tables}
    assert made.summary.snapshots == made.snapshots
    assert rows["objects"] > 40
    assert all(rows[table] > 0 for table in ("statements", "columns", "column_edges", "column_reach"))
    assert made.summary.changes[Severity.BREAKING.value] >= 2
    assert len(made.summary.breaking) >= 2
    assert made.summary.checks_passed > 100
    assert [(one.check, one.snapshot) for one in made.summary.failed] == [("no_breaking_changes", made.snapshots[1])]
    assert made.summary.withheld == ()


def test_two_snapshots_take_a_counted_number_of_spark_jobs() -> None:
    # Fifteen each, and five to pick what the second takes from the first: a small table goes to all tasks.
    assert 0 < run_example().summary.spark_jobs <= 35


def test_a_revision_brings_its_base_with_it() -> None:
    from lineage_pipeline.defs.runs.targets import plan_targets
    from lineage_pipeline.defs.runs.watched_repositories import ensure_watched

    made = run_example()
    base, head = made.snapshots
    settings, row = ensure_watched(made.settings, made.example.path)
    found = plan_targets(settings, made.example.path, row, ["HEAD"])
    assert [(one.snapshot, one.base, one.implied, one.past) for one in found] == [
        (base, None, True, True),
        (head, base, False, False),
    ]


def test_progress_is_reported_by_stage() -> None:
    told = "\n".join(run_example().told)
    for word in ("discovery", "parsing", "object_graph", "schema_registry", "column_graph", "published", "marts"):
        assert word in told


def test_the_marts_say_what_feeds_a_column() -> None:
    duckdb = pytest.importorskip("duckdb")
    made = run_example()
    with duckdb.connect(made.summary.marts, read_only=True) as connection:
        rows = connection.execute(
            "select distinct from_object, from_column from marts.column_lineage where snapshot = ? and type = 'DIRECT'"
            " and to_object = 'mssql.retail.core.customer_contact' and to_column = 'phone'",
            [made.snapshots[0]],
        ).fetchall()
    assert rows == [("mssql.retail.staging.customers", "phone")]


def test_events_and_reports_are_beside_the_warehouse() -> None:
    made = run_example()
    for snapshot in made.snapshots:
        events = Path(made.summary.events, f"{snapshot}.ndjson").read_text(encoding="utf-8").splitlines()
        assert events
        assert {json.loads(event)["schemaURL"].rpartition("/")[2] for event in events} == {"JobEvent"}
    report = Path(made.summary.report)
    assert "## Lineage changes: " in report.read_text(encoding="utf-8")
    assert json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))["head"] == made.snapshots[1]


def test_a_second_run_starts_nothing_and_touches_nothing() -> None:
    made = run_example()
    before = file_states(made)
    command = [sys.executable, "-c", AGAIN, str(made.settings.root), made.example.base, made.example.head]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert file_states(made) == before


def test_the_summary_of_a_second_run_says_what_the_first_one_said() -> None:
    from msgspec.structs import replace

    from lineage_pipeline.defs.runs.materialize import materialize_revisions

    made = run_example()
    again = materialize_revisions(made.settings, made.example.path, [made.example.base, made.example.head], print)
    assert replace(again, skipped=False, spark_jobs=made.summary.spark_jobs) == made.summary


def test_a_lost_report_is_written_again_without_spark() -> None:
    from lineage_pipeline.defs.runs.materialize import materialize_revisions
    from lineage_pipeline.spark.session import count_jobs

    made = run_example()
    report = Path(made.summary.report)
    text = report.read_text(encoding="utf-8")
    report.unlink()
    before = count_jobs()
    materialize_revisions(made.settings, made.example.path, [made.example.base, made.example.head], lambda line: None)
    assert (report.read_text(encoding="utf-8"), count_jobs()) == (text, before)
