"""Compile cache: compiled scripts on disk, and several processes for large inputs."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from multiprocessing import get_context
from types import ModuleType
from typing import Any

import msgspec

from lineage_pipeline import pipeline
from lineage_pipeline.files.fingerprints import hash_parts
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import InputFile
from lineage_pipeline.model.plan import ScriptInterface
from lineage_pipeline.store.packed_script import PackedScript, compile_key, pack_script

PARALLEL_THRESHOLD = 4_000_000
"""Characters from which starting further processes pays off."""

CACHE_THRESHOLD = 100_000
"""Characters from which opening the cache, and creating its folder in a repository, pays off."""

GITIGNORE_PATH = "_cache/.gitignore"
"""The file that keeps the cache out of version control."""

CHUNK_SIZE = 200_000
"""Characters that a process gets at a time: few enough that none waits long for another."""


class CachingCompiler:
    """Compiles the files that the cache of a warehouse does not hold, and stores them there.

    Without a warehouse there is no cache. Small inputs are compiled directly; without pyarrow there is no cache either.
    """

    def __init__(
        self,
        warehouse: str = "",
        watch: Callable[[Sequence[Any]], Iterable[Any]] = iter,
        *,
        processes: int | None = None,
        much: int = PARALLEL_THRESHOLD,
        worth: int = CACHE_THRESHOLD,
    ) -> None:
        """Take the warehouse and a progress watcher; nothing is read yet."""
        self.warehouse = warehouse if find_spec("pyarrow") else ""
        self.watch = watch
        self.processes = processes or os.cpu_count() or 1
        self.much, self.worth = much, worth
        self.made = 0

    def compile(self, files: Iterable[InputFile]) -> list[pipeline.CompiledFile]:
        """Every file compiled, in the order of the files."""
        listed = list(files)
        size = sum(len(file.text) for file in listed)
        if size < (self.worth if self.warehouse else self.much):
            self.made += len(listed)
            return [pipeline.compile_file(file) for file in self.watch(listed)]
        keyed = [(_cache_key(file), file) for file in listed]
        known = self._load({key for key, _ in keyed})
        missing = {key: file for key, file in keyed if key not in known}
        self.made += len(missing)
        fresh: dict[str, pipeline.CompiledFile] = {}
        if self.processes > 1 and sum(len(file.text) for file in missing.values()) >= self.much:
            made = self._compile_in_processes(missing)
        else:
            fresh = {key: pipeline.compile_file(missing[key]) for key in self.watch(list(missing))}
            made = {key: pack_script(one.script, one.face) for key, one in fresh.items()} if self.warehouse else {}
        self._save(made)
        known |= made
        return [
            fresh[key].relocate(file) if key in fresh else _unpack_compiled(file, known[key]) for key, file in keyed
        ]

    def _compile_in_processes(self, missing: Mapping[str, InputFile]) -> dict[str, PackedScript]:
        """Compile in several processes."""
        chunks = list(_split_into_chunks(missing))
        with ProcessPoolExecutor(self.processes, mp_context=get_context("spawn")) as pool:
            with _without_main_module():
                done = pool.map(_compile_chunk, [[missing[key] for key in chunk] for chunk in chunks])
            pairs = (zip(chunk, next(done), strict=True) for chunk in self.watch(chunks))
            return dict(chain.from_iterable(pairs))

    def _load(self, keys: set[str]) -> dict[str, PackedScript]:
        if not self.warehouse:
            return {}
        from lineage_pipeline.store import compiled_scripts
        from lineage_pipeline.store.file_store import FileStore

        return compiled_scripts.load_compiled(FileStore(self.warehouse), keys)

    def _save(self, made: Mapping[str, PackedScript]) -> None:
        """Store compiled scripts; a read-only location is no error."""
        if not self.warehouse or not made:
            return
        from lineage_pipeline.store import compiled_scripts
        from lineage_pipeline.store.file_store import FileStore

        try:
            files = FileStore(self.warehouse)
            files.replace(GITIGNORE_PATH, b"*\n", durable=False)
            compiled_scripts.save_compiled(files, made)
        except OSError:
            self.warehouse = ""


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Start processes without the caller's `__main__` script: an unguarded one would call us again."""
    asked = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = asked


def _cache_key(file: InputFile) -> str:
    """The cache key of a file."""
    return compile_key(file.source or hash_parts([file.text, file.written]), file.options)


def _split_into_chunks(files: Mapping[str, InputFile]) -> Iterator[list[str]]:
    """The files in chunks of about the same size, the largest first."""
    chunk: list[str] = []
    size = 0
    for key in sorted(files, key=lambda key: -len(files[key].text)):
        chunk.append(key)
        size += len(files[key].text)
        if size >= CHUNK_SIZE:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _compile_chunk(files: Sequence[InputFile]) -> list[PackedScript]:
    """Compile a chunk in a worker process."""
    with pipeline.relax_garbage_collector():
        made = (pipeline.compile_file(file) for file in files)
        return [pack_script(one.script, one.face) for one in made]


def _unpack_compiled(file: InputFile, kept: PackedScript) -> pipeline.CompiledFile:
    script = msgspec.msgpack.decode(kept.script, type=ir.Script)
    return pipeline.build_compiled_file(file, script, msgspec.msgpack.decode(kept.face, type=ScriptInterface))
