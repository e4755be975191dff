"""Inputs of commands: a folder, files, a revision, a lineage file or a snapshot of a warehouse; also named files."""

import csv
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lineage_pipeline.cli.options import parse_variables, resolve_schema_places
from lineage_pipeline.cli.output import print_note
from lineage_pipeline.cli.read_files import list_read_files
from lineage_pipeline.files.bounded_files import explain_csv_errors
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.cli.local_analysis import ComparisonSide
    from lineage_pipeline.config.load import Settings
    from lineage_pipeline.discover.dialect_vote import AgreedDialects
    from lineage_pipeline.discover.discovery import Discovery, DiscoveryRules, RawFile
    from lineage_pipeline.discover.file_selection import UnreadFolder
    from lineage_pipeline.discover.git.base_commit import BaseCommit
    from lineage_pipeline.discover.schemas.imported_tables import SchemaMetadata
    from lineage_pipeline.export.subject import Subject
    from lineage_pipeline.files.sql_endings import FileChoice
    from lineage_pipeline.model.analysis import Options, SchemaImports
    from lineage_pipeline.model.tables import SqlFile
    from lineage_pipeline.model.templating import Templating
    from lineage_pipeline.queries.lineage import Lineage

CURRENT_FOLDER = "."


class ReadingFlags(NamedTuple):
    """The flags that affect how SQL is read."""

    dialect: str | None = None
    schema: Sequence[str] | None = None
    allow_implied: bool | None = None
    variables: Sequence[str] | None = None
    cache: bool | None = None

    def flags(self, *, schemas: bool = True) -> "dict[str, object]":
        """Return the flags as a layer of settings."""
        from lineage_pipeline.discover.file_options import require_known_dialect

        require_known_dialect(self.dialect or "")
        said: dict[str, object] = {"dialect": self.dialect, "allow_implied": self.allow_implied}
        analysis = said | ({"schemas": resolve_schema_places(list(self.schema or ()))} if schemas else {})
        given = {"variables": parse_variables(list(self.variables or ()))}
        return {"analysis": analysis, "templating": given, "cache": self.cache}


class DiscoveredInputs(NamedTuple):
    """Discovered files, with the rules, settings and imported schemas they are read with."""

    discovery: "Discovery"
    rules: "DiscoveryRules"
    settings: "Settings"
    imports: "SchemaImports"


def load_inputs(places: Sequence[str] | None, reading: ReadingFlags) -> "Lineage":
    """Load or analyze the inputs of a query; several inputs are merged into one lineage."""
    from lineage_pipeline.cli.lineage_cache import load_or_analyze

    loaded: list[Lineage] = []
    to_read: list[str] = []
    for place in places or (CURRENT_FOLDER,):
        kept = open_stored_lineage(place)
        if kept is None:
            to_read.append(place)
        else:
            loaded.append(kept)
    if to_read:
        loaded.append(load_or_analyze(to_read, reading))
    return loaded[0].merge(*loaded[1:]) if len(loaded) > 1 else loaded[0]


def analyze_inputs(found: DiscoveredInputs, *, reach: bool = False) -> "Subject":
    """Analyze discovered files."""
    from lineage_pipeline.cli.local_analysis import analyze_subject

    return analyze_subject(found.discovery, found.rules, found.settings, found.imports, reach=reach)


def open_stored_lineage(place: str) -> "Lineage | None":
    """Open a lineage file or a snapshot; None where the input is SQL that must be analyzed."""
    from lineage_pipeline.queries.lineage import Lineage
    from lineage_pipeline.queries.loading import is_lineage_file, is_warehouse, load_snapshot

    path = Path(place)
    if is_lineage_file(path):
        return Lineage.load(path)
    if path.is_dir():
        return Lineage(load_snapshot(path)) if is_warehouse(path) else None
    if "@" not in place or path.exists() or _is_remote_place(place):
        return None
    words = place.split("@")
    for end in range(1, len(words)):  # a key has an @ of its own
        before, behind = "@".join(words[:end]), "@".join(words[end:])
        if is_warehouse(Path(before)):
            return Lineage(load_snapshot(before, behind))
        if Path(before or CURRENT_FOLDER).is_dir():
            return None
    return Lineage(load_snapshot(_configured_warehouse(place), place))


def _configured_warehouse(place: str) -> str:
    """Return the warehouse of the settings, in which to look up the key of a snapshot."""
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.queries.loading import is_warehouse

    warehouse = load_settings(Path.cwd(), {}, os.environ).warehouse
    if "://" not in warehouse and not is_warehouse(Path(warehouse)):
        raise LineageError(f"{place}: there is neither such a folder or file nor a warehouse at {warehouse}")
    return warehouse


def discover_inputs(places: Sequence[str], reading: ReadingFlags) -> DiscoveredInputs:
    """Discover the files of a folder or a revision, or named files; `-` is standard input."""
    if len(places) == 1 and _is_folder_or_revision(places[0]):
        return _discover_single_side(places[0], reading)
    if any(_is_revision_place(place) for place in places):
        return _discover_several_sides(places, reading)
    found = _discover_named_files(places, reading)
    list_read_files(found.discovery)
    return found


def _is_revision_place(place: str) -> bool:
    return place != "-" and not Path(place).exists() and _is_folder_or_revision(place)


def _discover_several_sides(places: Sequence[str], reading: ReadingFlags) -> DiscoveredInputs:
    """Discover several repositories, some of them at a revision, each with its own settings."""
    from lineage_pipeline.cli.revisions import discover_side, merge_sides

    single = next((place for place in places if place == "-" or Path(place).is_file()), None)
    if single is not None:
        raise LineageError(f"{single}: beside REPO@REV, name folders and other revisions, not files")
    discovery, rules, imports = merge_sides({place: discover_side(place, reading.flags()) for place in places})
    return DiscoveredInputs(discovery, rules, rules.settings[places[0]], imports)


def _is_folder_or_revision(place: str) -> bool:
    """Tell whether an input is a folder or a revision of a repository, and not a file."""
    from lineage_pipeline.discover.git.mirror import split_revision

    repo, _ = split_revision(place)
    if Path(place).exists() or "@" not in place:
        return Path(place).is_dir() or _is_remote_place(place)
    if not _is_remote_place(place) and not Path(repo or CURRENT_FOLDER).is_dir():
        raise LineageError(f"{place} is neither a folder nor a file nor REPO@REV: {repo} is not a folder")
    return True


def _is_remote_place(place: str) -> bool:
    """Tell whether an input is a remote repository, or a revision of one."""
    from lineage_pipeline.discover.git.mirror import is_remote_address, split_revision

    return is_remote_address(place) or is_remote_address(split_revision(place)[0])


def _discover_single_side(place: str, reading: ReadingFlags) -> DiscoveredInputs:
    from lineage_pipeline.cli.revisions import discover_side
    from lineage_pipeline.configured_schemas import import_configured_schemas

    discovery, settings = discover_side(place, reading.flags())
    return DiscoveredInputs(discovery, settings, settings, import_configured_schemas(settings))


def _discover_named_files(places: Sequence[str], reading: ReadingFlags) -> DiscoveredInputs:
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.discover.discovery import DiscoveryReader, add_unread_folders
    from lineage_pipeline.discover.folder import STDIN, find_surrounding_library, keep_named_files, read_single_files
    from lineage_pipeline.engine.graph.script_scopes import natural_path_key
    from lineage_pipeline.model.tables import Snapshot

    named = [Path(place).resolve() for place in places if place != STDIN]
    folders = [path if path.is_dir() else path.parent for path in named]
    start = Path(os.path.commonpath(folders)) if folders else Path.cwd()
    settings = load_settings(start, reading.flags(schemas=False), os.environ)
    rules, imports = read_flag_schemas(reading.schema or (), places[0], NamedFileRules(settings, start))
    stdin = sys.stdin.buffer.read() if STDIN in places else b""
    files = [place for place in places if not Path(place).is_dir()]
    raws = [*read_single_files(files, stdin)]
    unread: list[UnreadFolder] = []
    for place in places:
        if place not in files:
            raws += _read_folder_files(place, unread)
    snapshot = Snapshot("files", (), "", (), None, "none", None, None, 0, compute_analysis_key(settings))
    raws.sort(key=lambda raw: natural_path_key(raw.path))
    found = DiscoveryReader(snapshot, raws, rules, find_surrounding_library(places), detect=True).whole()
    kept = add_unread_folders(keep_named_files(found, [raw.path for raw in raws]), unread)
    return DiscoveredInputs(kept, rules, settings, imports)


def _read_folder_files(folder: str, unread: "list[UnreadFolder]") -> "Iterator[RawFile]":
    """Yield the selected files of one of several folders, with the folder in their paths; `unread` collects others."""
    import msgspec

    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.discover.file_selection import FileSelection
    from lineage_pipeline.discover.folder import FolderExtras, read_folder

    own = load_settings(Path(folder), {}, os.environ)
    beside = FolderExtras([], [], FileSelection(own))
    for raw in read_folder(Path(folder), own, beside):
        yield msgspec.structs.replace(raw, path=(Path(folder) / raw.path).as_posix())
    unread += [found.move_below(folder) for found in beside.selection.unread_folders()]


class ChosenRevisions(NamedTuple):
    """Two revisions of a repository that are compared, with the settings here."""

    path: Path
    top: Path
    settings: "Settings"
    base: "BaseCommit"
    head: str


def discover_base_and_head(
    path: Path, revisions: tuple[str, str], flags: Mapping[str, Any], *, exact_base: bool = False
) -> "tuple[ComparisonSide, ComparisonSide]":
    """Discover base and head of a repository, both with the settings here, and report the base commit."""
    return discover_revisions(find_revisions(path, revisions, flags, exact_base=exact_base), flags)


def find_revisions(
    path: Path, revisions: tuple[str, str], flags: Mapping[str, Any], *, exact_base: bool = False
) -> ChosenRevisions:
    """Find the commit to compare with, and the settings to compare by."""
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.discover.git.base_commit import find_base_commit
    from lineage_pipeline.discover.git.repository import find_toplevel

    top = find_toplevel(path)
    settings = load_settings(top, flags, os.environ)
    found = find_base_commit(top, *revisions, os.environ, exact=exact_base)
    return ChosenRevisions(path, top, settings, found, revisions[1])


def discover_revisions(chosen: ChosenRevisions, flags: Mapping[str, Any]) -> "tuple[ComparisonSide, ComparisonSide]":
    """Discover two revisions, unless their files are kept, and report what they are."""
    from lineage_pipeline.cli.revisions import settle_dialects
    from lineage_pipeline.cli.side_cache import load_commit, locate_commit, save_commit
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.configured_schemas import compute_analysis_key, import_schemas_of_revision
    from lineage_pipeline.discover.folder import name_repository
    from lineage_pipeline.discover.git.repository import WORKTREE, open_revision, resolve_commit

    def discover(revision: str, agreed: "AgreedDialects") -> "ComparisonSide":
        settings = load_settings(chosen.top, flags, os.environ)
        place = None
        if revision != WORKTREE:
            import_schemas_of_revision(settings, chosen.top, revision)
            commit = resolve_commit(chosen.top, revision)
            place = locate_commit(settings, name_repository(chosen.top), commit, agreed)
        found = load_commit(place)
        if found is None:
            key = compute_analysis_key(settings)
            found = open_revision(chosen.top, revision, settings, analysis_key=key).follow(agreed).whole()
            save_commit(place, found)
        return found, settings

    before, after = settle_dialects(partial(discover, chosen.base.commit), partial(discover, chosen.head))
    print_revisions(chosen, after[0].files, flags)
    for side, _ in (before, after):
        list_read_files(side)
    return before, after


def print_revisions(chosen: ChosenRevisions, files: "Sequence[SqlFile]", flags: Mapping[str, Any]) -> None:
    """Report the dialects of head, the base commit, and settings that are not read."""
    from lineage_pipeline.cli.dialect_lines import print_dialects
    from lineage_pipeline.config.load import find_settings_file

    print_dialects(files, flags)
    print_note(f"lineage: the base is {chosen.base.commit[:12]}: {chosen.base.why}")
    nearer, top = find_settings_file(chosen.path.resolve()), chosen.top.resolve()
    if nearer is not None and nearer.is_relative_to(top) and chosen.settings.file != nearer:
        print_note(f"lineage: the whole repository is compared, and {nearer} is not read: its settings lie at the top")


class NamedFileRules(NamedTuple):
    """Settings that are looked up with paths as typed, not relative to the folder of the settings."""

    settings: "Settings"
    start: Path
    hints: "SchemaMetadata | None" = None

    def selects(self, path: str) -> bool:
        """Select every named file."""
        return bool(path)

    def choose(self, path: str) -> "FileChoice":
        """Select every named file."""
        from lineage_pipeline.files.sql_endings import FileChoice

        return FileChoice.READ if path else FileChoice.LEFT_OUT

    def leaves_out(self, path: str) -> bool:
        """Exclude nothing."""
        return not path

    def options_for(self, path: str) -> "Options":
        """Return the options of a file by its location, completed by hints of an imported schema."""
        from lineage_pipeline.discover.schemas.imported_tables import apply_hints

        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        options = self.settings.options_for(full.relative_to(self.start).as_posix() if inside else path)
        return options if self.hints is None else apply_hints(options, self.hints)

    def list_required_files(self) -> tuple[str, ...]:
        """Return no required files: a named file that is missing is an error anyway."""
        return ()

    def templating_for(self, path: str) -> "Templating":
        """Return how a file is rendered, by its location."""
        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        return self.settings.templating_for(full.relative_to(self.start).as_posix() if inside else path)


def read_flag_schemas(
    schemas: Sequence[str], file: str, rules: NamedFileRules
) -> "tuple[NamedFileRules, SchemaImports]":
    """Read the schemas of --schema instead of those of the settings; their hints affect name resolution."""
    from lineage_pipeline.configured_schemas import SnapshotReader, import_configured_schemas
    from lineage_pipeline.discover.schemas.normalize import normalize_tables
    from lineage_pipeline.discover.schemas.schema_sources import read_schemas

    if not schemas:
        return rules, import_configured_schemas(rules.settings)
    metadata = read_schemas(
        schemas, rules.options_for(file), Path(), os.environ, SnapshotReader(Path(), rules.settings.warehouse)
    )
    hinted = rules._replace(hints=metadata)
    folded = normalize_tables(metadata.tables, hinted.options_for(file))
    return hinted, msgspec.structs.replace(folded, findings=(*metadata.findings, *folded.findings))


def read_file_list(manifest: Path) -> list[str]:
    """Return the files in the column file_path of a CSV file, relative to that file."""
    try:
        with manifest.open(encoding="utf-8-sig", newline="") as stream, explain_csv_errors(manifest):
            rows = list(csv.DictReader(stream))
    except OSError as error:
        raise LineageError(f"{manifest}: {error.strerror}") from None
    if rows and "file_path" not in rows[0]:
        raise LineageError(f"{manifest} has no column file_path")
    return [str(manifest.parent / place) for row in rows if (place := (row["file_path"] or "").strip())]
