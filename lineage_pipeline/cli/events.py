"""OpenLineage events: into one file, a file a job, or to a consumer."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.cli.exporting import Source
from lineage_pipeline.cli.places import stored
from lineage_pipeline.cli.sides import side_of
from lineage_pipeline.cli.subject import lineages_of
from lineage_pipeline.cli.words import put, say
from lineage_pipeline.engine.diff import diff
from lineage_pipeline.export import Subject
from lineage_pipeline.export.lifecycle import Turn, turns_of
from lineage_pipeline.export.openlineage import Emission, events, line_of
from lineage_pipeline.export.sending import target_of
from lineage_pipeline.export.unsent import send_all
from lineage_pipeline.settings import Settings, load_settings
from lineage_pipeline.settings.judging import policy_of
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Indirect, Profile

KEY_VARIABLE = "OPENLINEAGE_API_KEY"
LONGEST_NAME = 120
UNSENT = "unsent"
"""The folder of what consumers have not taken, below the one for all that runs leave behind."""


def export_events(source: Source, output: Path | None, given: Mapping[str, Any]) -> None:
    """Analyse, and write or send the events."""
    url, per_job = given.get("url"), given.get("per_job")
    target = target_of(url, os.environ.get(KEY_VARIABLE, "")) if url else None
    time = _moment(given["event_time"]) if "event_time" in given else None
    subject = source.subject()
    turns = _turns(given["base"], source) if "base" in given else {}
    if time:
        naming = msgspec.structs.replace(subject.naming, event_time=time)
        subject = msgspec.structs.replace(subject, naming=naming)
    _warn(subject, source.settings())
    profile, indirect = given.get("profile", Profile.JOB), given.get("indirect", Indirect.DATASET)
    told = list(events(subject, Emission(profile, indirect, turns)))
    if per_job:
        _write_files(told, per_job)
    if target:
        taken = send_all(map(line_of, told), target, load_settings(Path.cwd(), {}, os.environ).home / UNSENT)
        say(f"lineage: {target.url} took {taken} events")
    if output or not (target or per_job):
        put(map(line_of, told), output)


def _turns(base: str, source: Source) -> dict[str, Turn]:
    """Say what became of each object since the base."""
    if stored(source.word) is not None:
        raise LineageError("--base needs SQL to compare: name a folder, a file or a revision")
    head = side_of(source.word, source.flags)
    before, after = lineages_of(side_of(base, source.flags), head)
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
