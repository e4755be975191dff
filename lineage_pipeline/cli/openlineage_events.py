"""OpenLineage events: written to one file, to a file per job, or sent to a consumer; and read as runs."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.cli.inputs import open_stored_lineage
from lineage_pipeline.cli.lineage_export import ExportSource
from lineage_pipeline.cli.local_analysis import analyze_pair
from lineage_pipeline.cli.options import ResultFormat
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.revisions import discover_side
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.diff_settings import build_policy
from lineage_pipeline.discover.openlineage_events import read_openlineage_events
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.runtime import DatasetResolver, compare_runs, list_datasets, overlay_runtime
from lineage_pipeline.export.answers.comparison_answers import write_runtime_json, write_runtime_text
from lineage_pipeline.export.formats.lineage_formats import write_text_parts
from lineage_pipeline.export.openlineage.delivery import parse_target, send_with_backlog
from lineage_pipeline.export.openlineage.events import (
    EmissionOptions,
    LifecycleChange,
    build_events,
    encode_event,
    find_lifecycle_changes,
)
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import Indirect, Profile
from lineage_pipeline.model.errors import LineageError

KEY_VARIABLE = "OPENLINEAGE_API_KEY"
MAX_FILE_NAME = 120
UNSENT_FOLDER = "unsent"
"""Folder of events that consumers have not accepted, in the home folder of the project."""


def export_events(source: ExportSource, output: Path | None, given: Mapping[str, Any]) -> None:
    """Analyze, and write or send the events."""
    url, per_job = given.get("url"), given.get("per_job")
    target = parse_target(url, os.environ.get(KEY_VARIABLE, "")) if url else None
    time = _parse_event_time(given["event_time"]) if "event_time" in given else None
    subject = source.subject()
    turns = _compare_with_base(given["base"], source) if "base" in given else {}
    if time:
        naming = msgspec.structs.replace(subject.naming, event_time=time)
        subject = msgspec.structs.replace(subject, naming=naming)
    _warn_of_guessed_namespaces(subject, source.settings())
    profile, indirect = given.get("profile", Profile.JOB), given.get("indirect", Indirect.DATASET)
    built = list(build_events(subject, EmissionOptions(profile, indirect, turns)))
    if per_job:
        _write_job_files(built, per_job)
    if target:
        taken = send_with_backlog(
            map(encode_event, built), target, load_settings(Path.cwd(), {}, os.environ).home / UNSENT_FOLDER
        )
        print_note(f"lineage: {target.url} took {taken} events")
    if output or not (target or per_job):
        write_output(map(encode_event, built), output)


def _compare_with_base(base: str, source: ExportSource) -> dict[str, LifecycleChange]:
    """Return what became of each object since the base."""
    if open_stored_lineage(source.word) is not None:
        raise LineageError("--base needs SQL to compare: name a folder, a file or a revision")
    head = discover_side(source.word, source.flags)
    before, after = analyze_pair(discover_side(base, source.flags), head)
    changes = diff(before, after, build_policy(head[1]))
    return find_lifecycle_changes(
        changes, {row.object: row for row in before.objects}, {row.object: row for row in after.objects}
    )


def _parse_event_time(text: str) -> str:
    """Parse a time with its zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise LineageError(f"--event-time takes a time with its zone, such as 2026-01-31T12:00:00Z, not {text}")
    return moment.isoformat().replace("+00:00", "Z")


def _warn_of_guessed_namespaces(subject: Subject, settings: Settings) -> None:
    """Report the namespaces that are only guessed from the names of systems."""
    used = {row.system for row in subject.lineage.objects}
    for key, name in sorted(settings.unnamed_systems().items()):
        if key in used:
            print_note(
                f"lineage: the namespace of {name} is not configured, so that its datasets are in {name}; "
                f"say so in [openlineage.namespaces] of lineage.toml"
            )


def _write_job_files(built: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Write the events of each job, and of each dataset without one, to a file named after it."""
    texts: dict[str, list[str]] = {}
    for event in built:
        owner = event.get("job") or event["dataset"]
        texts.setdefault(_safe_file_name(owner["name"]), []).append(encode_event(dict(event)))
    for name, lines in texts.items():
        write_output("".join(lines), folder / (name + (".json" if len(lines) == 1 else ".ndjson")))


def _safe_file_name(name: str) -> str:
    """Make a portable file name; where that changes the name, a hash keeps it unique."""
    plain = re.sub(r"[^a-z0-9._-]", "_", name)[:MAX_FILE_NAME].strip(".")
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class RuntimeEvents:
    """The jobs in a file of events, and findings about lines that are not events."""

    def __init__(self, file: Path, content: bytes) -> None:
        self.path = file.as_posix()
        self.jobs, self.findings = read_openlineage_events(self.path, content)

    def datasets(self, subject: Subject) -> DatasetResolver:
        """Match the datasets of the events to the objects of a subject."""
        names = list_datasets(self.jobs)
        namespaces = subject.naming.namespaces
        if not subject.lineage.objects:  # then nothing says which systems there are
            seen = sorted({namespace for namespace, _ in names})
            namespaces = {"": seen[0]} if len(seen) == 1 else {}
        return DatasetResolver(subject.lineage, names, namespaces)


def merge_runs(runs: RuntimeEvents, word: str | None, flags: Mapping[str, Any], format: ResultFormat) -> Iterator[str]:
    """Yield the lineage of the statements and of the runs, in parts."""
    subject = _analyze_or_empty(word, flags)
    lineage = overlay_runtime(subject.lineage, runs.jobs, runs.datasets(subject), runs.path)
    lineage = msgspec.structs.replace(lineage, diagnostics=(*lineage.diagnostics, *runs.findings))
    return write_text_parts(format, msgspec.structs.replace(subject, lineage=lineage))


def compare_with_runs(runs: RuntimeEvents, word: str | None, flags: Mapping[str, Any], format: ResultFormat) -> str:
    """Write where statements and runs differ."""
    subject = _analyze_or_empty(word, flags)
    comparison = compare_runs(subject.lineage, runs.jobs, runs.datasets(subject))
    return write_runtime_json(comparison) if format is ResultFormat.JSON else write_runtime_text(comparison)


def _analyze_or_empty(word: str | None, flags: Mapping[str, Any]) -> Subject:
    return Subject(LineageTables()) if word is None else ExportSource(word, flags).subject()
