"""What a question is asked about: a folder, files, a revision, a lineage file or a snapshot of a warehouse."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lineage_pipeline.cli.given import Given, with_schemas
from lineage_pipeline.cli.words import placed, variables
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.discover.gather import Discovery, Rules
    from lineage_pipeline.discover.raw import RawFile
    from lineage_pipeline.discover.schemas.model import Imports
    from lineage_pipeline.export import Subject
    from lineage_pipeline.questions.lineage import Lineage
    from lineage_pipeline.settings import Settings

HERE = "."


class Reading(NamedTuple):
    """How the SQL of a subject is read, as far as flags say so."""

    dialect: str | None = None
    schema: Sequence[str] | None = None
    allow_implied: bool | None = None
    variables: Sequence[str] | None = None
    cache: bool | None = None

    def flags(self, *, schemas: bool = True) -> "dict[str, object]":
        """Give the flags as the settings take them."""
        said: dict[str, object] = {"dialect": self.dialect, "allow_implied": self.allow_implied}
        analysis = said | ({"schemas": placed(list(self.schema or ()))} if schemas else {})
        told = {"variables": variables(list(self.variables or ()))}
        return {"analysis": analysis, "templating": told, "cache": self.cache}


class Found(NamedTuple):
    """Discovered files, and all that says how they are read."""

    discovery: "Discovery"
    rules: "Rules"
    settings: "Settings"
    imports: "Imports"


def lineage_in(places: Sequence[str] | None, reading: Reading) -> "Lineage":
    """Give what all questions are asked of; several places become one lineage."""
    from lineage_pipeline.cli.remembered import asked

    loaded: list[Lineage] = []
    to_read: list[str] = []
    for place in places or (HERE,):
        kept = stored(place)
        if kept is None:
            to_read.append(place)
        else:
            loaded.append(kept)
    if to_read:
        loaded.append(asked(to_read, reading))
    return loaded[0].merge(*loaded[1:]) if len(loaded) > 1 else loaded[0]


def analysed(found: Found, *, reach: bool = False) -> "Subject":
    """Analyse discovered files."""
    from lineage_pipeline.cli.subject import subject_of

    return subject_of(found.discovery, found.rules, found.settings, found.imports, reach=reach)


def stored(place: str) -> "Lineage | None":
    """Open a lineage file or a snapshot; None where the place has SQL that is still to be analysed."""
    from lineage_pipeline.questions.lineage import Lineage
    from lineage_pipeline.questions.loading import is_lineage_file, is_warehouse, load_snapshot

    path = Path(place)
    if is_lineage_file(path):
        return Lineage.load(path)
    if path.is_dir():
        return Lineage(load_snapshot(path)) if is_warehouse(path) else None
    if "@" not in place or path.exists() or _is_address(place):
        return None
    words = place.split("@")
    for end in range(1, len(words)):  # a key has an @ of its own
        before, behind = "@".join(words[:end]), "@".join(words[end:])
        if is_warehouse(Path(before)):
            return Lineage(load_snapshot(before, behind))
        if Path(before or HERE).is_dir():
            return None
    return Lineage(load_snapshot(_own_warehouse(place), place))


def _own_warehouse(place: str) -> str:
    """Give the warehouse of the settings, where a key of a snapshot may be found."""
    from lineage_pipeline.questions.loading import is_warehouse
    from lineage_pipeline.settings import load_settings

    warehouse = load_settings(Path.cwd(), {}, os.environ).warehouse
    if "://" not in warehouse and not is_warehouse(Path(warehouse)):
        raise LineageError(f"{place}: there is neither such a folder or file nor a warehouse at {warehouse}")
    return warehouse


def find(places: Sequence[str], reading: Reading) -> Found:
    """Discover the files of a folder, of a revision, or named ones; `-` is standard input."""
    if len(places) == 1 and _is_whole(places[0]):
        return _side(places[0], reading)
    if any(_is_revision(place) for place in places):
        return _sides(places, reading)
    return _files(places, reading)


def _is_revision(place: str) -> bool:
    return place != "-" and not Path(place).exists() and _is_whole(place)


def _sides(places: Sequence[str], reading: Reading) -> Found:
    """Discover repositories of which some are at a revision, each by its own settings."""
    from lineage_pipeline.cli.joint import joined
    from lineage_pipeline.cli.sides import side_of

    single = next((place for place in places if place == "-" or Path(place).is_file()), None)
    if single is not None:
        raise LineageError(f"{single}: beside REPO@REV, name folders and other revisions, not files")
    discovery, rules, imports = joined({place: side_of(place, reading.flags()) for place in places})
    return Found(discovery, rules, rules.settings[places[0]], imports)


def _is_whole(place: str) -> bool:
    """Say whether a place is a folder or a revision of a repository, and not a file."""
    from lineage_pipeline.discover.remotes import parted

    repo, _ = parted(place)
    if Path(place).exists() or "@" not in place:
        return Path(place).is_dir() or _is_address(place)
    if not _is_address(place) and not Path(repo or HERE).is_dir():
        raise LineageError(f"{place} is neither a folder nor a file nor REPO@REV: {repo} is not a folder")
    return True


def _is_address(place: str) -> bool:
    """Say whether a place is a remote repository, or a revision of one."""
    from lineage_pipeline.discover.remotes import is_remote, parted

    return is_remote(place) or is_remote(parted(place)[0])


def _side(place: str, reading: Reading) -> Found:
    from lineage_pipeline.cli.sides import side_of

    discovery, settings = side_of(place, reading.flags())
    return Found(discovery, settings, settings, settings.imports())


def _files(places: Sequence[str], reading: Reading) -> Found:
    from lineage_pipeline.discover.files import STDIN, library_around, only_files, read_files
    from lineage_pipeline.discover.gather import Gathering
    from lineage_pipeline.engine.graph.scopes import natural
    from lineage_pipeline.settings import load_settings
    from lineage_pipeline.vocabulary.tables import Snapshot

    named = [Path(place).resolve() for place in places if place != STDIN]
    folders = [path if path.is_dir() else path.parent for path in named]
    start = Path(os.path.commonpath(folders)) if folders else Path.cwd()
    settings = load_settings(start, reading.flags(schemas=False), os.environ)
    rules, imports = with_schemas(reading.schema or (), places[0], Given(settings, start))
    stdin = sys.stdin.buffer.read() if STDIN in places else b""
    files = [place for place in places if not Path(place).is_dir()]
    raws = [
        *read_files(files, stdin),
        *(raw for place in places if place not in files for raw in _inside(place)),
    ]
    snapshot = Snapshot("files", (), "", (), None, "none", None, None, 0, "")
    raws.sort(key=lambda raw: natural(raw.path))
    found = Gathering(snapshot, raws, rules, library_around(places)).whole()
    return Found(only_files(found, [raw.path for raw in raws]), rules, settings, imports)


def _inside(folder: str) -> "Iterator[RawFile]":
    """Give the selected files of one of several folders, under paths that tell the folders apart."""
    import msgspec

    from lineage_pipeline.discover.folder import read_folder
    from lineage_pipeline.settings import load_settings

    own = load_settings(Path(folder), {}, os.environ)
    for raw in read_folder(Path(folder), own):
        yield msgspec.structs.replace(raw, path=(Path(folder) / raw.path).as_posix())
