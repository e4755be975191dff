"""The manifests and runs of a warehouse, read from its files."""

from collections.abc import Iterable, Sequence

from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.manifests import (
    Manifest,
    PartRecord,
    decode_manifest,
    decode_part_record,
    encode_file_name,
    encode_json,
    key_path,
    manifest_path,
)

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
