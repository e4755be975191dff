"""Shared by all tests: `--accept`, groups of tests that must not run side by side, and figures that tests print."""

import os
import signal

import pytest

from lineage_pipeline.engine import faults
from lineage_pipeline.model import ir
from lineage_pipeline_tests.support.network_guard import REFUSED_CONNECTIONS, refuse_remote_connections

os.environ.setdefault("LINEAGE_CACHE", "false")  # tests of one folder must not find what others left there

GROUPS = ("spark", "cluster", "browser", "postgres", "mariadb")

INTERNAL_ERRORS: list[str] = []
"""The internal errors that the test at hand met in this process."""


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--accept") and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--accept writes fixtures, one process at a time: run it with -n 0")
    refuse_remote_connections()
    _record_internal_errors()
    # Behind `&` a shell ignores SIGINT; Dagster gives SIGTERM the same fate, and then no child can be asked to end.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _record_internal_errors() -> None:
    build = faults.internal_error

    def record(error: BaseException, construct: str, start: int, end: int) -> ir.Finding:
        INTERNAL_ERRORS.append(f"{type(error).__name__} in {construct}: {error}")
        return build(error, construct, start, end)

    faults.internal_error = record


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what the engine gives into the fixtures")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in GROUPS:
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.xdist_group(name))
                break


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fail a test that tried to reach another machine or met an internal error."""
    asked = [REFUSED_CONNECTIONS.pop() for _ in list(REFUSED_CONNECTIONS)]
    assert asked == [], f"another machine was asked: {asked}"
    met = [INTERNAL_ERRORS.pop() for _ in list(INTERNAL_ERRORS)]
    assert met == [] or item.get_closest_marker("internal_error"), f"internal errors: {met}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have measured, whether they ran here or in a worker."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    figures = [
        value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "figure"
    ]
    for figure in dict.fromkeys(figures):
        terminalreporter.write_line(str(figure))
