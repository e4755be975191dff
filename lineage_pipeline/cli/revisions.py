"""Sides of a comparison: a folder, a file or a revision; and several repositories merged into one input."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lineage_pipeline.cli.local_analysis import ComparisonSide
from lineage_pipeline.cli.output import print_note
from lineage_pipeline.cli.read_files import list_read_files
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import (
    compute_analysis_key,
    import_configured_schemas,
    import_schemas_of_revision,
)
from lineage_pipeline.discover.dialect_vote import AgreedDialects, agree_on_dialects
from lineage_pipeline.discover.discovery import Discovery
from lineage_pipeline.discover.folder import discover_single_files, open_folder
from lineage_pipeline.discover.git.mirror import is_remote_address, local_repository, split_revision
from lineage_pipeline.discover.git.repository import WORKTREE, find_toplevel, has_commit, is_repository, open_revision
from lineage_pipeline.model.analysis import SchemaImports
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Diagnostic, Snapshot
from lineage_pipeline.queries.loading import is_lineage_file

if TYPE_CHECKING:
    from lineage_pipeline.config.load import Settings
    from lineage_pipeline.files.sql_endings import FileChoice
    from lineage_pipeline.model.analysis import Options
    from lineage_pipeline.model.templating import Templating


def discover_sides(base: str, head: str, flags: Mapping[str, Any]) -> tuple[ComparisonSide, ComparisonSide]:
    """Discover both sides of a comparison, in the same dialect where one of them is in doubt."""
    return settle_dialects(
        lambda agreed: discover_side(base, flags, agreed), lambda agreed: discover_side(head, flags, agreed)
    )


def settle_dialects(
    base: Callable[[AgreedDialects], ComparisonSide], head: Callable[[AgreedDialects], ComparisonSide]
) -> tuple[ComparisonSide, ComparisonSide]:
    """Discover both sides; one whose dialect is in doubt is discovered again in the dialect of the other."""
    before, after = base({}), head({})
    for_base, for_head = agree_on_dialects(before[0].votes, after[0].votes)
    return (
        base(for_base) if _has_files(before[0], for_base) else before,
        head(for_head) if _has_files(after[0], for_head) else after,
    )


def _has_files(found: Discovery, agreed: AgreedDialects) -> bool:
    """Tell whether a side has files in one of the folders."""
    folders = tuple(f"{folder}/" for _, folder in agreed if folder)
    return any(not folder for _, folder in agreed) or any(file.path.startswith(folders) for file in found.files)


def discover_side(word: str, flags: Mapping[str, Any], agreed: AgreedDialects | None = None) -> ComparisonSide:
    """Discover a folder or file of that name, else REPO@REVISION, else a revision of the repository here."""
    found, settings = _discover_word(word, flags, agreed or {})
    list_read_files(found)
    return found, settings


def _discover_word(word: str, flags: Mapping[str, Any], agreed: AgreedDialects) -> ComparisonSide:
    path = Path(word)
    if path.is_file() and is_lineage_file(path):
        raise LineageError(f"{word} is the result of an analysis; sources are compared: name a folder or a revision")
    if path.is_dir() or path.is_file():
        settings = load_settings(path, flags, os.environ)
        key = compute_analysis_key(settings)
        if path.is_dir():
            return open_folder(path, settings, analysis_key=key).follow(agreed).whole(), settings
        return discover_single_files([word], b"", settings, analysis_key=key), settings
    repo, revision = _find_repository(word, flags)
    top = find_toplevel(repo)
    if repo.resolve() != top.resolve():
        print_note(f"lineage: {word} is all of {top}; name a folder without @ to read that alone")
    settings = load_settings(top, flags, os.environ)
    if revision != WORKTREE:
        import_schemas_of_revision(settings, top, revision)
    opened = open_revision(top, revision, settings, analysis_key=compute_analysis_key(settings))
    return opened.follow(agreed).whole(), settings


def _find_repository(word: str, flags: Mapping[str, Any]) -> tuple[Path, str]:
    """Parse REPO@REVISION, with an address or a folder as REPO, or a revision of the repository here."""
    repo, revision = split_revision(word)
    if is_remote_address(repo) or is_remote_address(word):
        home = load_settings(Path.cwd(), flags, os.environ).home
        address, wanted = (repo, revision) if is_remote_address(repo) else (word, "HEAD")
        return local_repository(address, home), wanted
    if "@" in word and Path(repo).is_dir():
        if not is_repository(Path(repo)):
            raise LineageError(f"{repo} is not in a git repository, so that it has no {revision}")
        return Path(repo), revision
    if is_repository(Path()) and (word == WORKTREE or has_commit(Path(), word)):
        return Path(), word
    raise LineageError(f"{word} is neither a folder nor a file, nor a revision of a git repository here")


class MergedRules(NamedTuple):
    """Settings of several repositories, looked up with paths that begin with a repository's name."""

    settings: "Mapping[str, Settings]"

    def _find_settings(self, path: str) -> "tuple[Settings, str]":
        """Return the settings of the repository that a path is in, and the path inside it."""
        name = max((name for name in self.settings if path.startswith(f"{name}/")), key=len)
        return self.settings[name], path.removeprefix(f"{name}/")

    def selects(self, path: str) -> bool:
        """Tell whether a file is selected."""
        settings, inner = self._find_settings(path)
        return settings.selects(inner)

    def choose(self, path: str) -> "FileChoice":
        """Return what becomes of a file."""
        settings, inner = self._find_settings(path)
        return settings.choose(inner)

    def leaves_out(self, path: str) -> bool:
        """Tell whether a file is excluded."""
        settings, inner = self._find_settings(path)
        return settings.leaves_out(inner)

    def options_for(self, path: str) -> "Options":
        """Return the options of the system that a file belongs to."""
        settings, inner = self._find_settings(path)
        return settings.options_for(inner)

    def templating_for(self, path: str) -> "Templating":
        """Return how a file is rendered."""
        settings, inner = self._find_settings(path)
        return settings.templating_for(inner)

    def list_required_files(self) -> tuple[str, ...]:
        """Return no required files: each repository has checked its own."""
        return ()


def merge_sides(sides: "Mapping[str, ComparisonSide]") -> tuple[Discovery, MergedRules, SchemaImports]:
    """Merge the files of several repositories into one discovery, with the repository's name in each path."""
    files, findings, unread = [], [], []
    for name, (found, _) in sides.items():
        files += [msgspec.structs.replace(file, path=f"{name}/{file.path}") for file in found.files]
        unread += [msgspec.structs.replace(file, path=f"{name}/{file.path}") for file in found.unread]
        findings += [_prefix_finding(name, finding) for finding in found.diagnostics]
    sources = {source.source_hash: source for found, _ in sides.values() for source in found.sources}
    rules = MergedRules({name: settings for name, (_, settings) in sides.items()})
    commit = hashlib.sha256("\0".join(found.key for found, _ in sides.values()).encode()).hexdigest()[:40]
    snapshot = Snapshot(
        repo="files",
        refs=(),
        commit=f"tree-{commit}",
        parents=(),
        base=None,
        base_rule="none",
        committed_at=None,
        author=None,
        files=len(files),
        analysis_key="\0".join(f"{name}={compute_analysis_key(own)}" for name, own in rules.settings.items()),
    )
    imports = _merge_imports([import_configured_schemas(settings) for _, settings in sides.values()])
    merged = Discovery(
        snapshot, tuple(files), tuple(sources.values()), tuple(findings), waivers="", unread=tuple(unread)
    )
    return merged, rules, imports


def _prefix_finding(name: str, finding: Diagnostic) -> Diagnostic:
    identity = hashlib.sha256(f"{name}\0{finding.id}".encode()).hexdigest()[:16]
    path = f"{name}/{finding.path}".removesuffix("/.") if finding.path is not None else None
    return msgspec.structs.replace(finding, id=identity, path=path)


def _merge_imports(given: Sequence[SchemaImports]) -> SchemaImports:
    """Merge imported schemas; the first that defines an object wins."""
    schemas = {name: schema for one in reversed(given) for name, schema in one.schemas.items()}
    return SchemaImports(schemas, tuple(dict.fromkeys(finding for one in given for finding in one.findings)))
