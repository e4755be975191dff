"""Runs beside statements: the events read, the SQL analysed, and both put together or held against each other."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.cli.exporting import Source
from lineage_pipeline.cli.words import Format
from lineage_pipeline.discover.events import read_events
from lineage_pipeline.engine.diff.datasets import Datasets
from lineage_pipeline.engine.diff.runtime import compare_runs, names_of, overlay
from lineage_pipeline.export import EXPORTERS, Subject
from lineage_pipeline.export.runtime import comparison_document, comparison_text
from lineage_pipeline.vocabulary.analysis import Lineage


class Runs:
    """The jobs that a file of events tells of, and what in it is no event."""

    def __init__(self, file: Path, content: bytes) -> None:
        self.path = file.as_posix()
        self.jobs, self.findings = read_events(self.path, content)

    def datasets(self, subject: Subject) -> Datasets:
        """Find the objects of a subject that the events name."""
        names = names_of(self.jobs)
        namespaces = subject.naming.namespaces
        if not subject.lineage.objects:  # then nothing says which systems there are
            seen = sorted({namespace for namespace, _ in names})
            namespaces = {"": seen[0]} if len(seen) == 1 else {}
        return Datasets(subject.lineage, names, namespaces)


def merged(runs: Runs, word: str | None, flags: Mapping[str, Any], format: Format) -> Iterator[str]:
    """Give the lineage of the statements and of the runs, in parts."""
    subject = _subject(word, flags)
    lineage = overlay(subject.lineage, runs.jobs, runs.datasets(subject), runs.path)
    lineage = msgspec.structs.replace(lineage, diagnostics=(*lineage.diagnostics, *runs.findings))
    return EXPORTERS[format].write(msgspec.structs.replace(subject, lineage=lineage))


def compared(runs: Runs, word: str | None, flags: Mapping[str, Any], format: Format) -> str:
    """Say where statements and runs differ."""
    subject = _subject(word, flags)
    comparison = compare_runs(subject.lineage, runs.jobs, runs.datasets(subject))
    return comparison_document(comparison) if format is Format.JSON else comparison_text(comparison)


def _subject(word: str | None, flags: Mapping[str, Any]) -> Subject:
    return Subject(Lineage()) if word is None else Source(word, flags).subject()
