"""Manifests: the files of each table of a snapshot, a diff or a run."""

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from lineage_pipeline.model.errors import LineageError
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
