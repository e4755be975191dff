"""Manifest files: which files each table of a snapshot, a diff or a run has; and all manifests of a warehouse."""

import hashlib
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import msgspec

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.table_schemas import SCHEMA_VERSION

ManifestKey = str | tuple[str, str]
"""A snapshot by its key `<repo>@<commit>`, or a diff by the keys of its base and its head."""

MAX_FILE_NAME_LENGTH = 200


class StoredFile(msgspec.Struct, frozen=True, order=True):
    """One Parquet file; `part` says which of a table's writers wrote it, where there are several."""

    path: str
    rows: int
    bytes: int
    part: str = ""


class StoredTable(msgspec.Struct, frozen=True):
    """The files of one table, and the run that wrote it last."""

    files: tuple[StoredFile, ...]
    rows: int
    schema_version: int
    run: str


class Manifest(msgspec.Struct, frozen=True):
    """All tables of one snapshot (a key of one part) or one diff (base and head) as written by one run.

    In a published one, `superseded` are the earlier runs whose files still exist.
    """

    key: tuple[str, ...]
    run: str
    sequence: int
    analysis_key: str
    tables: dict[str, StoredTable]
    schema_version: int = SCHEMA_VERSION
    superseded: tuple[str, ...] = ()

    def with_table(self, name: str, part: str, files: Sequence[StoredFile]) -> "Manifest":
        """Replace the files of one part of a table."""
        old = self.tables[name].files if name in self.tables else ()
        kept = (*(file for file in old if file.part != part), *files)
        stored = StoredTable(tuple(sorted(kept)), sum(file.rows for file in kept), SCHEMA_VERSION, self.run)
        return msgspec.structs.replace(self, tables={**self.tables, name: stored})

    def paths(self) -> set[str]:
        """Return the files of all tables."""
        return {file.path for table in self.tables.values() for file in table.files}


class PartRecord(msgspec.Struct, frozen=True):
    """What a run recorded about one part of one table."""

    table: str
    part: str
    files: tuple[StoredFile, ...]


def key_parts(key: ManifestKey) -> tuple[str, ...]:
    """Return the parts of a key: one for a snapshot, two for a diff."""
    return (key,) if isinstance(key, str) else key


def manifest_path(key: Sequence[str]) -> str:
    """Return the path of the published manifest of a key."""
    return f"_manifests/{key_path(key)}.json"


def key_path(key: Sequence[str]) -> str:
    """Return a key as a relative path."""
    names = [encode_file_name(part) for part in key]
    return "/".join(names if len(names) == 1 else ["diffs", *names])


def encode_file_name(text: str) -> str:
    """Percent-encode a key, so that it is a plain file name everywhere and no pattern in any engine."""
    name = quote(text, safe="@")
    if len(name) <= MAX_FILE_NAME_LENGTH:
        return name
    return f"{name[: MAX_FILE_NAME_LENGTH // 2]}~{hashlib.sha256(text.encode()).hexdigest()}"


def encode_json(value: msgspec.Struct) -> bytes:
    """Encode a struct as canonical JSON: sorted keys, two spaces, a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2) + b"\n"


def decode_manifest(content: bytes, path: str) -> Manifest:
    """Decode a manifest, or fail with one sentence."""
    try:
        version = msgspec.json.decode(content, type=_VersionHeader).schema_version
        if version > SCHEMA_VERSION:
            raise LineageError(
                f"{path} was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION})"
            )
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise LineageError(f"{path} is not a complete manifest: {error}") from error


def decode_part_record(content: bytes, path: str) -> PartRecord:
    """Decode a run's record of one part of a table."""
    try:
        return msgspec.json.decode(content, type=PartRecord)
    except msgspec.DecodeError as error:
        raise LineageError(f"{path} is not a complete record: {error}") from error


class _VersionHeader(msgspec.Struct):
    schema_version: int


RUN_HEADER = "run.json"


def read_published(files: FileStore, key: Sequence[str]) -> Manifest | None:
    """Read the published manifest of a snapshot or diff."""
    return _read_manifest(files, manifest_path(key))


def read_all_published(files: FileStore) -> list[Manifest]:
    """Read the published manifests of all snapshots and diffs, in order of their keys."""
    found = (_read_manifest(files, path) for path in files.list("_manifests") if path.endswith(".json"))
    return sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.key)


def start_run(files: FileStore, manifest: Manifest) -> None:
    """Record that a run exists, and what it inherits."""
    files.replace(f"{run_folder(manifest.key, manifest.run)}/{RUN_HEADER}", encode_json(manifest))


def record_part(files: FileStore, key: Sequence[str], run: str, written: PartRecord) -> None:
    """Record one part of one table of a run; each part has its own file, so that writers never conflict."""
    name = encode_file_name(f"{written.table}.{written.part}" if written.part else written.table)
    files.replace(f"{run_folder(key, run)}/{name}.table.json", encode_json(written))


def read_run_manifest(files: FileStore, key: Sequence[str], run: str) -> Manifest | None:
    """Read what a run inherited and has written so far."""
    folder = run_folder(key, run)
    manifest = _read_manifest(files, f"{folder}/{RUN_HEADER}")
    if manifest is None:
        return None
    for path in files.list(folder):
        content = files.read(path) if path.endswith(".table.json") else None
        if content is not None:
            written = decode_part_record(content, path)
            manifest = manifest.with_table(written.table, written.part, written.files)
    return manifest


def read_runs(files: FileStore, key: Sequence[str]) -> list[Manifest]:
    """Read all runs of a snapshot or diff, the latest last."""
    folder = f"_runs/{key_path(key)}"
    names = [path[len(folder) + 1 :].split("/") for path in files.list(folder)]
    runs = sorted(name[0] for name in names if name[1:] == [RUN_HEADER])
    found = (read_run_manifest(files, key, run) for run in runs)
    return sorted((manifest for manifest in found if manifest), key=lambda manifest: (manifest.sequence, manifest.run))


def read_unpublished(files: FileStore, key: Sequence[str]) -> Manifest | None:
    """Read the latest run of a snapshot or diff, unless it is the published one or older."""
    runs, last = read_runs(files, key), read_published(files, key)
    if not runs or (last is not None and last.sequence >= runs[-1].sequence):
        return None
    return runs[-1]


def read_all_unpublished(files: FileStore) -> list[Manifest]:
    """Read the current run of every snapshot and diff that has one."""
    headers = (path for path in files.list("_runs") if path.endswith(f"/{RUN_HEADER}"))
    keys = {manifest.key for manifest in (_read_manifest(files, path) for path in headers) if manifest}
    found = (read_unpublished(files, key) for key in sorted(keys))
    return [manifest for manifest in found if manifest]


def list_stored_paths(manifests: Iterable[Manifest]) -> set[str]:
    """Return the files that any of the manifests names."""
    return {path for manifest in manifests for path in manifest.paths()}


def run_folder(key: Sequence[str], run: str) -> str:
    """Return the folder of a run's records."""
    return f"_runs/{key_path(key)}/{run}"


def _read_manifest(files: FileStore, path: str) -> Manifest | None:
    content = files.read(path)
    return None if content is None else decode_manifest(content, path)
