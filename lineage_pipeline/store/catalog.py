"""Which manifests and runs a warehouse holds, read from its files."""

from collections.abc import Iterable, Sequence

from lineage_pipeline.store.files import Files
from lineage_pipeline.store.manifests import (
    Manifest,
    Written,
    decode_manifest,
    decode_written,
    encode,
    file_name,
    manifest_path,
    place,
)

HEADER = "run.json"


def published(files: Files, key: Sequence[str]) -> Manifest | None:
    """Read the published manifest of a snapshot or diff."""
    return _read_manifest(files, manifest_path(key))


def all_published(files: Files) -> list[Manifest]:
    """Read the published manifests of all snapshots and diffs, in order of their keys."""
    found = (_read_manifest(files, path) for path in files.list("_manifests") if path.endswith(".json"))
    return sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.key)


def start_run(files: Files, manifest: Manifest) -> None:
    """Write down that a run exists, and what it inherits."""
    files.replace(f"{run_folder(manifest.key, manifest.run)}/{HEADER}", encode(manifest))


def record(files: Files, key: Sequence[str], run: str, written: Written) -> None:
    """Write down one part of one table of a run; parts have records of their own, so that writers never meet."""
    name = file_name(f"{written.table}.{written.part}" if written.part else written.table)
    files.replace(f"{run_folder(key, run)}/{name}.table.json", encode(written))


def run_manifest(files: Files, key: Sequence[str], run: str) -> Manifest | None:
    """Read what a run inherited and what it has written so far."""
    folder = run_folder(key, run)
    manifest = _read_manifest(files, f"{folder}/{HEADER}")
    if manifest is None:
        return None
    for path in files.list(folder):
        content = files.read(path) if path.endswith(".table.json") else None
        if content is not None:
            written = decode_written(content, path)
            manifest = manifest.with_table(written.table, written.part, written.files)
    return manifest


def runs_of(files: Files, key: Sequence[str]) -> list[Manifest]:
    """Read all runs of a snapshot or diff, the latest last."""
    folder = f"_runs/{place(key)}"
    names = [path[len(folder) + 1 :].split("/") for path in files.list(folder)]
    runs = sorted(name[0] for name in names if name[1:] == [HEADER])
    found = (run_manifest(files, key, run) for run in runs)
    return sorted((manifest for manifest in found if manifest), key=lambda manifest: (manifest.sequence, manifest.run))


def unpublished(files: Files, key: Sequence[str]) -> Manifest | None:
    """Read the latest run of a snapshot or diff, unless it is the published one or older."""
    runs, last = runs_of(files, key), published(files, key)
    if not runs or (last is not None and last.sequence >= runs[-1].sequence):
        return None
    return runs[-1]


def all_unpublished(files: Files) -> list[Manifest]:
    """Read the current run of every snapshot and diff that has one."""
    headers = (path for path in files.list("_runs") if path.endswith(f"/{HEADER}"))
    keys = {manifest.key for manifest in (_read_manifest(files, path) for path in headers) if manifest}
    found = (unpublished(files, key) for key in sorted(keys))
    return [manifest for manifest in found if manifest]


def stored_paths(manifests: Iterable[Manifest]) -> set[str]:
    """List the files that any of the manifests names."""
    return {path for manifest in manifests for path in manifest.paths()}


def run_folder(key: Sequence[str], run: str) -> str:
    """Say where the records of a run lie."""
    return f"_runs/{place(key)}/{run}"


def _read_manifest(files: Files, path: str) -> Manifest | None:
    content = files.read(path)
    return None if content is None else decode_manifest(content, path)
