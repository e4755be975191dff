"""A folder on any file system that pyarrow supports: files are replaced atomically, and verified by checksums."""

import math
import os
import uuid
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from lineage_pipeline.model.errors import LineageError


class FileStore:
    """The files under one root, named by their paths relative to it."""

    def __init__(self, root: str | os.PathLike[str], filesystem: fs.FileSystem | None = None) -> None:
        """Open a folder path, a URI such as `hdfs://…`, or a path on the given file system."""
        self.system, self.base, self._prefix = _open_root(os.fspath(root), filesystem)

    @property
    def is_local(self) -> bool:
        """Return whether the files are on a disk of this machine."""
        return isinstance(self.system, fs.LocalFileSystem)

    def locate(self, path: str) -> str:
        """Return the path as pyarrow's file system needs it."""
        return f"{self.base}/{path}"

    def address(self, path: str) -> str:
        """Return the path or URI under which other engines find the file."""
        return f"{self._prefix}/{path}"

    def relative(self, address: str) -> str:
        """Turn an address under the root back into a relative path."""
        for prefix in (self._prefix, self.base):
            if address.startswith(f"{prefix}/"):
                return address[len(prefix) + 1 :]
        raise LineageError(f"{address} does not lie under the warehouse {self._prefix}")

    def read(self, path: str) -> bytes | None:
        """Read a whole file; None if there is none."""
        try:
            with self.system.open_input_stream(self.locate(path)) as stream:
                content: bytes = stream.read()
                return content
        except FileNotFoundError:
            return None

    def size(self, path: str) -> int | None:
        """Return the length of a file in bytes; None if there is none."""
        info = self.system.get_file_info(self.locate(path))
        return int(info.size) if info.type == fs.FileType.File else None

    def list(self, folder: str) -> list[str]:
        """Return all files beneath a folder, in order of their paths."""
        selector = fs.FileSelector(self.locate(folder), allow_not_found=True, recursive=True)
        found = (info.path for info in self.system.get_file_info(selector) if info.type == fs.FileType.File)
        return sorted(path[len(self.base) + 1 :] for path in found)

    def modification_times(self, folder: str) -> dict[str, float]:
        """Return all files beneath a folder with their modification time, as far as the file system knows it."""
        selector = fs.FileSelector(self.locate(folder), allow_not_found=True, recursive=True)
        found = [info for info in self.system.get_file_info(selector) if info.type == fs.FileType.File]
        moments = {info.path[len(self.base) + 1 :]: info.mtime for info in found}
        return {path: moments[path].timestamp() if moments[path] else math.inf for path in sorted(moments)}

    def prepare(self, path: str) -> None:
        """Create the folder that a new file goes into."""
        self.system.create_dir(self.locate(path).rpartition("/")[0], recursive=True)

    def remove(self, path: str) -> None:
        """Remove a file; one that is already gone is no error."""
        try:
            self.system.delete_file(self.locate(path))
        except FileNotFoundError:
            return
        if self.is_local:
            self._remove_empty_folders(path)

    def replace(self, path: str, content: bytes, *, durable: bool = True) -> None:
        """Replace a whole file atomically: a reader sees the old one or the new one."""
        self.prepare(path)
        if not self.is_local:  # an object store shows a new object only once it is complete
            with self.system.open_output_stream(self.locate(path)) as stream:
                stream.write(content)
            return
        target = Path(self.locate(path))
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        temporary.replace(target)
        if durable:
            _sync_path(target.parent)

    def sync(self, path: str) -> None:
        """Wait until a written file is on disk."""
        if self.is_local:
            _sync_path(Path(self.locate(path)))
            _sync_path(Path(self.locate(path)).parent)

    def _remove_empty_folders(self, path: str) -> None:
        folder = Path(self.locate(path)).parent
        try:
            while folder != Path(self.base):
                folder.rmdir()
                folder = folder.parent
        except OSError:  # not empty
            return


def _open_root(root: str, filesystem: fs.FileSystem | None) -> tuple[fs.FileSystem, str, str]:
    if filesystem is not None:
        return filesystem, root.rstrip("/"), root.rstrip("/")
    if "://" in root and not root.startswith("file://"):
        system, base = fs.FileSystem.from_uri(root)
        return system, base.rstrip("/"), root.rstrip("/")
    path = os.path.abspath(root.removeprefix("file://"))  # noqa: PTH100 (a symbolic link stays as it was named)
    return fs.LocalFileSystem(), path, path


def _sync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


VERIFIED_BATCH_ROWS = 1024
"""Rows that are in memory while a file is verified."""


def is_intact_file(files: FileStore, path: str) -> bool:
    """Return whether a Parquet file can be read to its end, and its page checksums match."""
    try:
        with pq.ParquetFile(files.locate(path), filesystem=files.system, page_checksum_verification=True) as file:
            rows = sum(batch.num_rows for batch in file.iter_batches(VERIFIED_BATCH_ROWS))
            return bool(rows == file.metadata.num_rows)
    except (OSError, pa.ArrowException):
        return False


def is_intact_folder(files: FileStore, folder: str) -> bool:
    """Return whether every Parquet file below a folder is intact."""
    return all(is_intact_file(files, path) for path in files.list(folder) if path.endswith(".parquet"))


def discard_markers(files: FileStore, marks: Iterable[str]) -> None:
    """Remove the markers of finished work, so that it is done again; files without a marker are not read."""
    for path in marks:
        files.remove(path)
