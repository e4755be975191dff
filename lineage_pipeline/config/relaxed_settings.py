"""Findings about a change that relaxes the settings by which it is judged."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lineage_pipeline.config.diff_policy import find_relaxed_settings
from lineage_pipeline.config.environment import read_environment_layer
from lineage_pipeline.config.load import FILE_NAME, PROJECT_NAME, Settings, merge_and_validate, select_own_table
from lineage_pipeline.config.toml_files import parse_toml_text
from lineage_pipeline.discover.discovery import build_file_finding
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Diagnostic


def report_relaxed_since(
    top: Path, commit: str, after: Settings, environ: Mapping[str, str], place: str = ""
) -> tuple[Diagnostic, ...]:
    """Return a finding for each setting that is milder than in the same folder at a commit."""
    try:
        found = list(find_relaxed_settings(_load_settings_at(top, commit, environ, place), after))
    except LineageError:
        return ()  # what cannot be read at the base was no judge there
    written = f"{place}{after.file.name if after.file is not None else FILE_NAME}"
    return tuple(build_file_finding("SETTINGS_RELAXED", written, **one._asdict()) for one in found)


def report_relaxed_between(top: Path, base: str, head: str, environ: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Return a finding for each setting of a repository that is milder at one commit than at another."""
    try:
        after = _load_settings_at(top, head, environ)
    except LineageError:
        return ()  # whoever reads with these settings says what is wrong with them
    return report_relaxed_since(top, base, after, environ)


def _load_settings_at(top: Path, commit: str, environ: Mapping[str, str], place: str = "") -> Settings:
    """Load the settings of a folder of a repository at a commit."""
    content = next(_read_settings_layers(top, commit, place), {})
    return merge_and_validate(content, f"{commit[:12]}:{place}{FILE_NAME}", read_environment_layer(Settings, environ))


def _read_settings_layers(top: Path, commit: str, place: str) -> Iterator[dict[str, Any]]:
    """Yield the layers of the settings files of a folder at a commit, the effective one first."""
    for name in (FILE_NAME, PROJECT_NAME):
        listed = run_git(top, "ls-tree", "--full-tree", "--name-only", commit, f"{place}{name}")
        if listed.strip():
            text = run_git(top, "cat-file", "blob", f"{commit}:{place}{name}").decode(errors="replace")
            part = select_own_table(parse_toml_text(text, name), name)
            if part or name == FILE_NAME:
                yield part
