"""What commands say about the dialect of their input: which it is, why, and what else is possible."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lineage_pipeline.cli.output import print_note
from lineage_pipeline.export.dialect_use import format_dialects, list_dialects
from lineage_pipeline.model.enums import Level
from lineage_pipeline.model.tables import SqlFile

if TYPE_CHECKING:
    from lineage_pipeline.cli.inputs import DiscoveredInputs, ReadingFlags
    from lineage_pipeline.export.subject import Subject

MAX_COMPARED_FILES = 300
"""Up to how many files both dialects are tried where there is doubt."""

DOUBT_CODE = "DIALECT_UNCERTAIN"


def print_dialects(files: Sequence[SqlFile], flags: Mapping[str, Any] | None = None) -> None:
    """Print the dialects of discovered files; `flags` are those of the command, as a layer of settings."""
    by_flag = bool(flags and flags.get("analysis", {}).get("dialect"))
    for line in format_dialects(list_dialects(files), by_flag=by_flag):
        print_note(line)


def print_doubts(found: "DiscoveredInputs", subject: "Subject", places: Sequence[str], reading: "ReadingFlags") -> None:
    """Print which other dialect is possible, and for a small tree how many findings each of the two has."""
    doubts = [vote for vote in found.discovery.votes if vote.other]
    for vote in doubts:
        where = f" of {vote.folder}" if vote.folder else ""
        counts = ""
        if len(doubts) == 1 and len(found.discovery.files) <= MAX_COMPARED_FILES:
            first, second = _count_findings(subject), _count_findings(_analyze_as(vote.other, places, reading))
            chosen = vote.dialect or "generic SQL"
            counts = f" As {chosen} there are {first} errors and warnings, as {vote.other} {second}."
        print_note(
            f"lineage: the dialect{where} may also be {vote.other}.{counts} To read it so: --dialect {vote.other}"
        )


def _analyze_as(dialect: str, places: Sequence[str], reading: "ReadingFlags") -> "Subject":
    from lineage_pipeline.cli.inputs import analyze_inputs, discover_inputs

    return analyze_inputs(discover_inputs(places, reading._replace(dialect=dialect)))


def _count_findings(subject: "Subject") -> int:
    findings = (row for row in subject.lineage.diagnostics if row.code != DOUBT_CODE)
    return sum(row.severity in (Level.ERROR, Level.WARNING) for row in findings)
