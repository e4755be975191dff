"""The summary of a run as text."""

import json
import sys
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from shlex import quote
from shutil import which

from lineage_pipeline.export.reports.text_report import format_change
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.summary import RunSummary

MAX_BREAKING_SHOWN = 10
EXAMPLE_QUERY = "from marts.column_lineage select from_object, from_column, to_object, to_column limit 20"


def write_run_summary(summary: RunSummary) -> str:
    """Write what was found, what breaks, and where all outputs are."""
    return "".join(f"{line}\n" for line in _summary_lines(summary))


def write_next_commands(summary: RunSummary, repository: Path) -> str:
    """Write the commands to type next."""
    elsewhere = f"(cd {_quote_path(str(repository))} && {quote(_find_program('lineage'))} diff HEAD~1 HEAD)"
    commands = [elsewhere, *(f"{_quote_path(_find_program('lineage'))} {verb}" for verb in ("serve", "ui"))]
    if summary.marts:
        marts, question = json.dumps(_shorten_path(summary.marts)), json.dumps(EXAMPLE_QUERY)
        code = f"import duckdb; print(duckdb.connect({marts}, read_only=True).sql({question}))"
        commands.insert(0, f"{_quote_path(_find_program('python'))} -c {quote(code)}")
    return "\nNext:\n" + "".join(f"  {command}\n" for command in commands)


def _summary_lines(summary: RunSummary) -> Iterator[str]:
    if summary.skipped:
        yield "Nothing had to be done: all snapshots are up to date, no Spark job ran."
    yield f"Snapshots: {', '.join(summary.snapshots) or 'none'}"
    yield "Tables:    " + ", ".join(f"{count.rows} {count.table}" for count in summary.tables)
    yield "Findings:  " + ", ".join(f"{summary.findings.get(level, 0)} {level.value}" for level in Level)
    counts = (f"{summary.changes.get(severity, 0)} {_severity_words(severity)}" for severity in Severity)
    yield "Changes:   " + ", ".join(counts) + (f", and {summary.derived} that follow" if summary.derived else "")
    yield f"Checks:    {summary.checks_passed} passed, {len(summary.failed)} failed"
    for one in summary.failed:
        yield f"  failed:  {one.check} of {one.table}, {one.snapshot}: {one.observed}"
    for snapshot in summary.withheld:
        yield f"  not published: {snapshot}"
    if not summary.skipped:
        yield f"Spark:     {summary.spark_jobs} jobs"
    yield from _breaking_lines(summary)
    yield ""
    for name, place in _output_places(summary):
        yield f"{name:<11}{place}"


def _breaking_lines(summary: RunSummary) -> Iterator[str]:
    if not summary.breaking:
        return
    yield from ("", "What breaks:")
    for change in summary.breaking[:MAX_BREAKING_SHOWN]:
        yield from format_change(change)
    if len(summary.breaking) > MAX_BREAKING_SHOWN:
        yield f"  … and {len(summary.breaking) - MAX_BREAKING_SHOWN} more in the report"


def _output_places(summary: RunSummary) -> Iterator[tuple[str, str]]:
    named = {
        "Warehouse:": summary.warehouse,
        "Marts:": summary.marts,
        "Events:": summary.events,
        "Report:": summary.report,
    }
    yield from ((name, _quote_path(place)) for name, place in named.items() if place)


def _severity_words(severity: Severity) -> str:
    return severity.value.lower().replace("_", " ")


def _find_program(name: str) -> str:
    """Return a program of this installation: by name where the shell finds it, else by path."""
    own = Path(sys.executable).with_name(name)
    found = which(name)
    return str(own) if own.exists() and (found is None or not own.samefile(found)) else name


def _quote_path(place: str) -> str:
    """Write a path as one would type it here."""
    return quote(_shorten_path(place))


def _shorten_path(place: str) -> str:
    """Return a path in the current folder relative to it."""
    if "://" in place or "/" not in place:
        return place
    near = relpath(place)
    return near if not near.startswith("..") else place
