"""What a snapshot, a diff or a run consists of: the files of each table."""

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from lineage_pipeline.store.schemas import SCHEMA_VERSION
from lineage_pipeline.vocabulary.errors import LineageError

Key = str | tuple[str, str]
"""A snapshot by its key `<repo>@<commit>`, or a diff by the keys of its base and its head."""

LONGEST_NAME = 200


class StoredFile(msgspec.Struct, frozen=True, order=True):
    """One Parquet file; `part` says which of a table's writers it comes from, where there are several."""

    path: str
    rows: int
    bytes: int
    part: str = ""


class StoredTable(msgspec.Struct, frozen=True):
    """The files that make up one table, and the run that wrote it last."""

    files: tuple[StoredFile, ...]
    rows: int
    schema_version: int
    run: str


class Manifest(msgspec.Struct, frozen=True):
    """All tables of one snapshot (a key of one part) or one diff (base and head) as one run left them.

    Where it is published, `superseded` are the runs that were before it, and are still there.
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
        """List the files of all tables."""
        return {file.path for table in self.tables.values() for file in table.files}


class Written(msgspec.Struct, frozen=True):
    """What a run recorded about one part of one table."""

    table: str
    part: str
    files: tuple[StoredFile, ...]


def parts(key: Key) -> tuple[str, ...]:
    """Give the parts of a key: one for a snapshot, two for a diff."""
    return (key,) if isinstance(key, str) else key


def manifest_path(key: Sequence[str]) -> str:
    """Say where the published manifest of a key lies."""
    return f"_manifests/{place(key)}.json"


def place(key: Sequence[str]) -> str:
    """Turn a key into a relative path."""
    names = [file_name(part) for part in key]
    return "/".join(names if len(names) == 1 else ["diffs", *names])


def file_name(text: str) -> str:
    """Percent-encode a key, so that it is one plain name on every file system and no pattern in any engine."""
    name = quote(text, safe="@")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME // 2]}~{hashlib.sha256(text.encode()).hexdigest()}"


def encode(value: msgspec.Struct) -> bytes:
    """Write a struct as canonical JSON: sorted keys, two spaces, a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2) + b"\n"


def decode_manifest(content: bytes, path: str) -> Manifest:
    """Read a manifest, or say in one sentence why it cannot be."""
    try:
        version = msgspec.json.decode(content, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise LineageError(
                f"{path} was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION})"
            )
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise LineageError(f"{path} is not a complete manifest: {error}") from error


def decode_written(content: bytes, path: str) -> Written:
    """Read a run's record of one part of a table."""
    try:
        return msgspec.json.decode(content, type=Written)
    except msgspec.DecodeError as error:
        raise LineageError(f"{path} is not a complete record: {error}") from error


class _Version(msgspec.Struct):
    schema_version: int
