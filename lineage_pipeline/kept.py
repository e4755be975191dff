"""Compiling with a memory on the disk, and with several processes where there is much to do."""

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
from lineage_pipeline.store.hashes import hash_of
from lineage_pipeline.store.packing import Packed, compile_key, packed
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import InputFile
from lineage_pipeline.vocabulary.plan import ScriptFace

MUCH = 4_000_000
"""Characters that are worth the second that further processes take to start."""

WORTH = 100_000
"""Characters that are worth opening the cache, and making a folder for it in somebody's repository."""

MARK = "_cache/.gitignore"
"""What keeps the cache out of the repository that it lies in."""

CHUNK = 200_000
"""Characters that a process takes at a time: few enough that none waits long for another."""


class Keeper:
    """Compiles what the cache of a warehouse does not hold, and keeps it there; without a warehouse there is no cache.

    What is small is compiled at once, and the light install, which has no pyarrow, has no cache either.
    """

    def __init__(
        self,
        warehouse: str = "",
        watch: Callable[[Sequence[Any]], Iterable[Any]] = iter,
        *,
        processes: int | None = None,
        much: int = MUCH,
        worth: int = WORTH,
    ) -> None:
        """Take the warehouse, and who watches how far the work has come; nothing is read yet."""
        self.warehouse = warehouse if find_spec("pyarrow") else ""
        self.watch = watch
        self.processes = processes or os.cpu_count() or 1
        self.much, self.worth = much, worth
        self.made = 0

    def compile(self, files: Iterable[InputFile]) -> list[pipeline.Compiled]:
        """Give every file compiled, in the order of the files."""
        listed = list(files)
        size = sum(len(file.text) for file in listed)
        if size < (self.worth if self.warehouse else self.much):
            self.made += len(listed)
            return [pipeline.compile_file(file) for file in self.watch(listed)]
        keyed = [(_key(file), file) for file in listed]
        known = self._load({key for key, _ in keyed})
        missing = {key: file for key, file in keyed if key not in known}
        self.made += len(missing)
        fresh: dict[str, pipeline.Compiled] = {}
        if self.processes > 1 and sum(len(file.text) for file in missing.values()) >= self.much:
            made = self._spread(missing)
        else:
            fresh = {key: pipeline.compile_file(missing[key]) for key in self.watch(list(missing))}
            made = {key: packed(one.script, one.face) for key, one in fresh.items()} if self.warehouse else {}
        self._save(made)
        known |= made
        return [fresh[key].at(file) if key in fresh else _unpacked(file, known[key]) for key, file in keyed]

    def _spread(self, missing: Mapping[str, InputFile]) -> dict[str, Packed]:
        """Compile in several processes."""
        chunks = list(_chunks(missing))
        with ProcessPoolExecutor(self.processes, mp_context=get_context("spawn")) as pool:
            with _nobody_asked():
                done = pool.map(_compile, [[missing[key] for key in chunk] for chunk in chunks])
            pairs = (zip(chunk, next(done), strict=True) for chunk in self.watch(chunks))
            return dict(chain.from_iterable(pairs))

    def _load(self, keys: set[str]) -> dict[str, Packed]:
        if not self.warehouse:
            return {}
        from lineage_pipeline.store import compiled
        from lineage_pipeline.store.files import Files

        return compiled.load(Files(self.warehouse), keys)

    def _save(self, made: Mapping[str, Packed]) -> None:
        """Keep what was made; a place that cannot be written to is no reason to fail."""
        if not self.warehouse or not made:
            return
        from lineage_pipeline.store import compiled
        from lineage_pipeline.store.files import Files

        try:
            files = Files(self.warehouse)
            files.replace(MARK, b"*\n", durable=False)
            compiled.save(files, made)
        except OSError:
            self.warehouse = ""


@contextmanager
def _nobody_asked() -> Iterator[None]:
    """Start processes that do not run the script of whoever called: an unguarded one would call us again."""
    asked = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = asked


def _key(file: InputFile) -> str:
    """Name what the file compiles to."""
    return compile_key(file.source or hash_of([file.text, file.written]), file.options)


def _chunks(files: Mapping[str, InputFile]) -> Iterator[list[str]]:
    """Cut the files into pieces of about the same size, the largest first."""
    chunk: list[str] = []
    size = 0
    for key in sorted(files, key=lambda key: -len(files[key].text)):
        chunk.append(key)
        size += len(files[key].text)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _compile(files: Sequence[InputFile]) -> list[Packed]:
    """Run in a process of its own."""
    with pipeline.relaxed_collector():
        made = (pipeline.compile_file(file) for file in files)
        return [packed(one.script, one.face) for one in made]


def _unpacked(file: InputFile, kept: Packed) -> pipeline.Compiled:
    script = msgspec.msgpack.decode(kept.script, type=ir.Script)
    return pipeline.as_compiled(file, script, msgspec.msgpack.decode(kept.face, type=ScriptFace))
