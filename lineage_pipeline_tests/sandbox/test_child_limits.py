"""A statement over its time or memory is stopped, is a finding, and affects no other statement."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lineage_pipeline.api import analyze
from lineage_pipeline.model.analysis import Limits
from lineage_pipeline.sandbox import compiling
from lineage_pipeline.sandbox.child_process import ReportStep, StepLimits, run_in_child
from lineage_pipeline_tests.support.paths import ROOT

BOUNDS = StepLimits(0.3, 300_000_000)
SLOW = "select a" + "[0]" * 20_000 + " from slow"  # each bracket costs as much as all before it
GOOD = "create view {0} as select a from {0}_source;\n"


def _upper(item: str, step: ReportStep) -> bytes:
    step(7)
    match item:
        case "hang":
            while True:
                pass
        case "wait":
            threading.Event().wait()
        case "eat":
            return b"x" * 10**12
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise ValueError(item)
    return item.upper().encode()


def test_results_come_back_in_order_however_large() -> None:
    made, stopped = run_in_child(["a", "b" * 3_000_000, "c"], _upper, BOUNDS)
    assert [len(item) for item in made] == [1, 3_000_000, 1]
    assert stopped is None


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("hang", "0.3 seconds"),
        ("wait", "6 seconds of waiting"),
        ("eat", "300 MB of memory"),
        ("crash", "what can be followed"),
        ("killed", "the memory of the machine"),
        ("raise", "what can be followed"),
    ],
)
def test_a_stopped_child_reports_the_reason_and_the_step(bad: str, reason: str) -> None:
    made, stopped = run_in_child(["a", bad, "c"], _upper, BOUNDS)
    assert made == [b"A"]
    assert stopped is not None
    assert (stopped.item, stopped.step, stopped.reason) == (1, 7, reason)


def test_time_counts_for_each_step_and_only_while_it_computes() -> None:
    def rest(item: int, step: ReportStep) -> bytes:
        for number in range(4):
            step(number)
            time.sleep(0.15)
            end = time.process_time() + 0.12
            while time.process_time() < end:
                pass
        return b"done"

    assert run_in_child([1], rest, BOUNDS) == ([b"done"], None)


def test_the_child_is_the_first_victim_of_the_oom_killer() -> None:
    def score(item: int, step: ReportStep) -> bytes:
        return Path("/proc/self/oom_score_adj").read_bytes().strip()

    assert run_in_child([1], score, BOUNDS) == ([b"1000"], None)
    assert Path("/proc/self/oom_score_adj").read_bytes().strip() != b"1000"


ORPHANED = """
import os, sys, time
from lineage_pipeline.sandbox.child_process import StepLimits, run_in_child

def work(item, step):
    print(os.getpid(), flush=True)
    time.sleep(60)
    return b""

run_in_child([1], work, StepLimits(60, 300_000_000))
"""


def test_a_child_does_not_outlive_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHANED], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = Path(f"/proc/{int(parent.stdout.readline())}")
        assert child.exists()
        parent.kill()
    end = time.monotonic() + 10
    while _is_running(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _is_running(child)


def _is_running(process: Path) -> bool:
    """Say whether a process runs; one that ended may stay until somebody asks for its end."""
    try:
        return process.joinpath("stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_no_child_is_left_behind() -> None:
    run_in_child(["a", "hang"], _upper, BOUNDS)
    try:
        left, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:  # no child at all
        left = 0
    assert left == 0


def test_a_statement_over_its_time_is_stopped_and_its_neighbours_are_analysed() -> None:
    limits = Limits(seconds=2.0, depth=100_000)
    text = f"{GOOD.format('one')}{SLOW};\n{GOOD.format('two')}"
    document = analyze(text, dialect="postgres", limits=limits).to_dict()
    assert [row["status"] for row in document["statements"]] == ["analysed", "partial", "analysed"]
    assert document["statements"][1]["reads"] == ("slow",)
    assert "the statement is over the limit of 2 seconds" in {row["message"] for row in document["diagnostics"]}
    assert {edge["to_object"] for edge in document["column_edges"]} == {"one", "two"}


@pytest.mark.parametrize(
    "doubling",
    [
        "select k.n from t" + " cross join (values (1)) as" * 40 + " k (n);\n",
        "select from from o.id, (" * 40 + "select 1;\n",
    ],
    ids=["rows without a name", "broken queries in each other"],
)
def test_a_short_statement_that_the_parser_reads_again_and_again_is_stopped_too(doubling: str) -> None:
    found = analyze(doubling + GOOD.format("v"), limits=Limits(seconds=2)).to_dict()
    assert [row["code"] for row in found["diagnostics"] if row["severity"] == "error"] == ["LIMIT_EXCEEDED"]
    assert [edge["to_object"] for edge in found["column_edges"]] == ["v"]


def test_a_statement_over_its_memory_is_stopped_and_its_neighbours_are_analysed(tmp_path: Path) -> None:
    heavy = "create view v as select " + ", ".join(f"c{n} + d{n} as e{n}" for n in range(50_000)) + " from heavy;\n"
    (tmp_path / "a.sql").write_text(GOOD.format("one") + heavy + GOOD.format("two"))
    limits = "[analysis]\ndialect = 'postgres'\n[analysis.limits]\nmemory = 150_000_000\n"
    (tmp_path / "lineage.toml").write_text(f"cache = false\n{limits}")
    # A process of its own: one that has worked before has memory at hand, which does not count.
    command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline.cli", "scan", str(tmp_path), "--format", "json"]
    done = subprocess.run(command, capture_output=True, cwd=ROOT)
    document = json.loads(done.stdout)
    assert [row["status"] for row in document["statements"]] == ["analysed", "partial", "analysed"]
    assert document["statements"][1]["reads"] == ["heavy"]
    # A library in C that gets no memory may end the process before Python can say why.
    said = ("150 MB of memory", "what can be followed")
    assert any(limit in row["message"] for row in document["diagnostics"] for limit in said)
    assert {edge["to_object"] for edge in document["column_edges"]} == {"one", "two"}


def test_the_sandbox_gives_what_is_compiled_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "".join(
        f"create view v{n} as select a, b + 1 as c, sum(d) over (partition by e) as f from t{n} where g > {n};\n"
        for n in range(1_000)
    )
    assert len(sql) > compiling.LARGE
    guarded = analyze(sql, dialect="snowflake")
    monkeypatch.setattr(compiling, "LARGE", 10**9)
    assert analyze(sql, dialect="snowflake").lineage == guarded.lineage
