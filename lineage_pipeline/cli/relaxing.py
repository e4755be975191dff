"""What a change says of its own judgement: settings at the head that are milder than those of its base."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineage_pipeline.cli.subject import Side
from lineage_pipeline.discover.commands import git
from lineage_pipeline.discover.gather import finding
from lineage_pipeline.discover.git import toplevel
from lineage_pipeline.settings import FILE_NAME, PROJECT_NAME, Settings, layered, own_part
from lineage_pipeline.settings.environment import environment_layer
from lineage_pipeline.settings.judging import relaxed
from lineage_pipeline.settings.reading import parse_toml
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Diagnostic


def relaxations(path: Path, sides: tuple[Side, Side]) -> tuple[Diagnostic, ...]:
    """Give a finding for each setting that is milder than in the same repository at its base."""
    top, commit, settings = toplevel(path).resolve(), sides[0][0].snapshot.commit, sides[1][1]
    folder = settings.root if settings.file is not None else top
    if not folder.is_relative_to(top):
        return ()  # the settings are none of the repository's
    place = "".join(f"{part}/" for part in folder.relative_to(top).parts)
    try:
        before = next(_read(top, commit, place), {})
        base = layered(before, f"{commit[:12]}:{place}{FILE_NAME}", environment_layer(Settings, os.environ))
        found = list(relaxed(base, settings))
    except LineageError:
        return ()  # what cannot be read at the base was no judge there
    written = f"{place}{settings.file.name if settings.file is not None else FILE_NAME}"
    return tuple(finding("SETTINGS_RELAXED", written, **one._asdict()) for one in found)


def _read(top: Path, commit: str, place: str) -> Iterator[dict[str, Any]]:
    """Read our part of the settings files of a folder at a commit, the one that counts first."""
    for name in (FILE_NAME, PROJECT_NAME):
        listed = git(top, "ls-tree", "--full-tree", "--name-only", commit, f"{place}{name}")
        if listed.strip():
            text = git(top, "cat-file", "blob", f"{commit}:{place}{name}").decode(errors="replace")
            part = own_part(parse_toml(text, name), name)
            if part or name == FILE_NAME:
                yield part
