"""OpenLineage events: into one file, a file a job, or to a consumer."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lineage_pipeline.cli.sides import side_of
from lineage_pipeline.cli.subject import Side, lineages_of, subject_of
from lineage_pipeline.cli.words import put, say
from lineage_pipeline.engine.diff import diff
from lineage_pipeline.export import Subject
from lineage_pipeline.export.lifecycle import Turn, turns_of
from lineage_pipeline.export.openlineage import Emission, events, line_of
from lineage_pipeline.export.sending import send, target_of
from lineage_pipeline.settings import Settings
from lineage_pipeline.settings.judging import policy_of
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Indirect, Profile

KEY_VARIABLE = "OPENLINEAGE_API_KEY"
LONGEST_NAME = 120


class Asked(NamedTuple):
    """How events are to be written."""

    profile: Profile = Profile.JOB
    indirect: Indirect = Indirect.DATASET
    base: str | None = None
    event_time: str | None = None


class Ways(NamedTuple):
    """Where events are to go: a file, else stdout; a folder; a consumer."""

    output: Path | None = None
    per_job: Path | None = None
    url: str | None = None


def export_events(word: str, flags: Mapping[str, Any], asked: Asked, ways: Ways) -> None:
    """Analyse what a word names and write or send its events."""
    target = target_of(ways.url, os.environ.get(KEY_VARIABLE, "")) if ways.url else None
    time = None if asked.event_time is None else _moment(asked.event_time)
    head = side_of(word, flags)
    turns = _turns(side_of(asked.base, flags), head) if asked.base else {}
    subject = subject_of(*head, head[1])
    if time:
        naming = msgspec.structs.replace(subject.naming, event_time=time)
        subject = msgspec.structs.replace(subject, naming=naming)
    _warn(subject, head[1])
    told = list(events(subject, Emission(asked.profile, asked.indirect, turns)))
    if ways.per_job:
        _write_files(told, ways.per_job)
    if target:
        say(f"lineage: {target.url} took {send(map(line_of, told), target)} events")
    if ways.output or not (target or ways.per_job):
        put("".join(map(line_of, told)), ways.output)


def _turns(base: Side, head: Side) -> dict[str, Turn]:
    """Say what became of each object since the base."""
    before, after = lineages_of(base, head)
    changes = diff(before, after, policy_of(head[1]))
    return turns_of(changes, {row.object: row for row in before.objects}, {row.object: row for row in after.objects})


def _moment(text: str) -> str:
    """Take a time with its zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise LineageError(f"--event-time takes a time with its zone, such as 2026-01-31T12:00:00Z, not {text}")
    return moment.isoformat().replace("+00:00", "Z")


def _warn(subject: Subject, settings: Settings) -> None:
    """Tell which namespaces are only guessed from the names of systems."""
    used = {row.system for row in subject.lineage.objects}
    for key, name in sorted(settings.unnamed_systems().items()):
        if key in used:
            say(
                f"lineage: the namespace of {name} is not configured, so that its datasets are in {name}; "
                f"say so in [openlineage.namespaces] of lineage.toml"
            )


def _write_files(told: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Write the events of each job, and of each dataset without one, into a file named after it."""
    texts: dict[str, list[str]] = {}
    for event in told:
        owner = event.get("job") or event["dataset"]
        texts.setdefault(_file_name(owner["name"]), []).append(line_of(dict(event)))
    for name, lines in texts.items():
        put("".join(lines), folder / (name + (".json" if len(lines) == 1 else ".ndjson")))


def _file_name(name: str) -> str:
    """Make a name that every file system takes; where that changes it, a hash keeps it apart from others."""
    plain = re.sub(r"[^a-z0-9._-]", "_", name)[:LONGEST_NAME].strip(".")
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
