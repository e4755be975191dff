"""The end of a run, in words for people."""

import json
import sys
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from shlex import quote
from shutil import which

from lineage_pipeline.export.reports.text import change_lines
from lineage_pipeline.vocabulary.sets import Level, Severity
from lineage_pipeline.vocabulary.summary import RunSummary

MOST_BREAKING = 10
QUESTION = "from marts.column_lineage select from_object, from_column, to_object, to_column limit 20"


def summary_text(summary: RunSummary) -> str:
    """Say what was found, what breaks, and where everything is."""
    return "".join(f"{line}\n" for line in _lines(summary))


def next_commands(summary: RunSummary, repository: Path) -> str:
    """Give the commands to type next."""
    elsewhere = f"(cd {_shown(str(repository))} && {quote(_program('lineage'))} diff HEAD~1 HEAD)"
    commands = [elsewhere, *(f"{_shown(_program('lineage'))} {verb}" for verb in ("serve", "ui"))]
    if summary.marts:
        marts, question = json.dumps(_near(summary.marts)), json.dumps(QUESTION)
        code = f"import duckdb; print(duckdb.connect({marts}, read_only=True).sql({question}))"
        commands.insert(0, f"{_shown(_program('python'))} -c {quote(code)}")
    return "\nNext:\n" + "".join(f"  {command}\n" for command in commands)


def _lines(summary: RunSummary) -> Iterator[str]:
    if summary.skipped:
        yield "Nothing had to be done: all snapshots are up to date, no Spark job ran."
    yield f"Snapshots: {', '.join(summary.snapshots) or 'none'}"
    yield "Tables:    " + ", ".join(f"{count.rows} {count.table}" for count in summary.tables)
    yield "Findings:  " + ", ".join(f"{summary.findings.get(level, 0)} {level.value}" for level in Level)
    told = (f"{summary.changes.get(severity, 0)} {_spoken(severity)}" for severity in Severity)
    yield "Changes:   " + ", ".join(told) + (f", and {summary.derived} that follow" if summary.derived else "")
    yield f"Checks:    {summary.checks_passed} passed, {summary.checks_failed} failed"
    if not summary.skipped:
        yield f"Spark:     {summary.spark_jobs} jobs"
    yield from _breaking(summary)
    yield ""
    for name, place in _places(summary):
        yield f"{name:<11}{place}"


def _breaking(summary: RunSummary) -> Iterator[str]:
    if not summary.breaking:
        return
    yield from ("", "What breaks:")
    for change in summary.breaking[:MOST_BREAKING]:
        yield from change_lines(change)
    if len(summary.breaking) > MOST_BREAKING:
        yield f"  … and {len(summary.breaking) - MOST_BREAKING} more in the report"


def _places(summary: RunSummary) -> Iterator[tuple[str, str]]:
    named = {
        "Warehouse:": summary.warehouse,
        "Marts:": summary.marts,
        "Events:": summary.events,
        "Report:": summary.report,
    }
    yield from ((name, _shown(place)) for name, place in named.items() if place)


def _spoken(severity: Severity) -> str:
    return severity.value.lower().replace("_", " ")


def _program(name: str) -> str:
    """Name a program of this installation: plainly where the shell finds it, else by its path."""
    own = Path(sys.executable).with_name(name)
    found = which(name)
    return str(own) if own.exists() and (found is None or not own.samefile(found)) else name


def _shown(place: str) -> str:
    """Write a path as one would type it here."""
    return quote(_near(place))


def _near(place: str) -> str:
    """Give a path below this folder as seen from it."""
    if "://" in place or "/" not in place:
        return place
    near = relpath(place)
    return near if not near.startswith("..") else place
