"""What a change says of its own judgement: settings that it brings, and that are milder than those of its base."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.discover.commands import git
from lineage_pipeline.discover.gather import finding
from lineage_pipeline.settings import FILE_NAME, PROJECT_NAME, Settings, layered, own_part
from lineage_pipeline.settings.environment import environment_layer
from lineage_pipeline.settings.judging import relaxed
from lineage_pipeline.settings.reading import parse_toml
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Diagnostic


def relaxed_since(
    top: Path, commit: str, after: Settings, environ: Mapping[str, str], place: str = ""
) -> tuple[Diagnostic, ...]:
    """Give a finding for each setting that is milder than in the same folder of a repository at a commit."""
    try:
        found = list(relaxed(_settings_at(top, commit, environ, place), after))
    except LineageError:
        return ()  # what cannot be read at the base was no judge there
    written = f"{place}{after.file.name if after.file is not None else FILE_NAME}"
    return tuple(finding("SETTINGS_RELAXED", written, **one._asdict()) for one in found)


def relaxed_between(top: Path, base: str, head: str, environ: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Give a finding for each setting of a repository that is milder at one commit than at another."""
    try:
        after = _settings_at(top, head, environ)
    except LineageError:
        return ()  # whoever reads with these settings says what is wrong with them
    return relaxed_since(top, base, after, environ)


def _settings_at(top: Path, commit: str, environ: Mapping[str, str], place: str = "") -> Settings:
    """Read the settings of a folder of a repository as they were at a commit."""
    content = next(_parts(top, commit, place), {})
    return layered(content, f"{commit[:12]}:{place}{FILE_NAME}", environment_layer(Settings, environ))


def _parts(top: Path, commit: str, place: str) -> Iterator[dict[str, Any]]:
    """Read our part of the settings files of a folder at a commit, the one that counts first."""
    for name in (FILE_NAME, PROJECT_NAME):
        listed = git(top, "ls-tree", "--full-tree", "--name-only", commit, f"{place}{name}")
        if listed.strip():
            text = git(top, "cat-file", "blob", f"{commit}:{place}{name}").decode(errors="replace")
            part = own_part(parse_toml(text, name), name)
            if part or name == FILE_NAME:
                yield part
