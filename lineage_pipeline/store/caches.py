"""What snapshots share, or left behind on their way: collected when it is old and no snapshot that is left needs it."""

from collections.abc import Collection, Iterator
from itertools import groupby

import pyarrow.parquet as pq

from lineage_pipeline.store.compiled import CACHE
from lineage_pipeline.store.files import Files

PASSING = ("_work", "_cache/linked", "_cache/lineages")
"""What goes by its age alone: it is made again when somebody needs it."""


def collect_caches(files: Files, needed: Collection[str], before: float) -> list[str]:
    """Remove what was worked out before a second and is no longer needed, and give the paths removed."""
    passing = [paths for root in PASSING for paths in _groups(files, root, before)]
    compiled = [paths for paths in _groups(files, CACHE, before) if _keys(files, paths).isdisjoint(needed)]
    removed = [path for paths in (*passing, *compiled) for path in paths]
    for path in removed:
        files.remove(path)
    return removed


def _groups(files: Files, root: str, before: float) -> Iterator[list[str]]:
    """Give the files of each folder, or each file, right below a root in which nothing has changed since a second."""
    depth = root.count("/") + 2
    changed = files.changed(root)
    for _, paths in groupby(changed, lambda path: path.split("/")[:depth]):
        listed = list(paths)
        if max(changed[path] for path in listed) < before:
            yield listed


def _keys(files: Files, paths: Collection[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        if path.endswith(".parquet"):
            keys = pq.read_table(files.locate(path), columns=["key"], filesystem=files.system)["key"]
            found.update(keys.to_pylist())
    return found
