"""Compiling with a memory on the disk, and with several processes where there is much to do."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import msgspec

from lineage_pipeline import pipeline
from lineage_pipeline.store import compiled
from lineage_pipeline.store.compiled import Packed, compile_key, packed
from lineage_pipeline.store.files import Files
from lineage_pipeline.store.hashes import hash_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import InputFile
from lineage_pipeline.vocabulary.plan import ScriptFace

MUCH = 4_000_000
"""Characters that are worth the second that further processes take to start."""

WORTH = 100_000
"""Bytes that are worth a new folder in somebody's repository."""

MARK = "_cache/.gitignore"
"""What keeps the cache out of the repository that it lies in."""

CHUNK = 200_000
"""Characters that a process takes at a time: few enough that none waits long for another."""


class Keeper:
    """Compiles what the cache of a warehouse does not hold, and keeps it there; without `files` there is no cache."""

    def __init__(
        self,
        files: Files | None = None,
        watch: Callable[[Sequence[Any]], Iterable[Any]] = iter,
        *,
        processes: int | None = None,
        much: int = MUCH,
    ) -> None:
        """Take the warehouse's files, and who watches how far the work has come; nothing is read yet."""
        self.files = files
        self.watch = watch
        self.processes = processes or os.cpu_count() or 1
        self.much = much
        self.made = 0

    def compile(self, files: Iterable[InputFile]) -> list[pipeline.Compiled]:
        """Give every file compiled, in the order of the files."""
        keyed = [(_key(file), file) for file in files]
        known = compiled.load(self.files, {key for key, _ in keyed}) if self.files is not None else {}
        missing = {key: file for key, file in keyed if key not in known}
        self.made += len(missing)
        fresh: dict[str, pipeline.Compiled] = {}
        if self.processes > 1 and sum(len(file.text) for file in missing.values()) >= self.much:
            made = self._spread(missing)
        else:
            fresh = {key: pipeline.compile_file(missing[key]) for key in self.watch(list(missing))}
            made = {key: packed(one.script, one.face) for key, one in fresh.items()} if self.files is not None else {}
        self._save(made)
        known |= made
        return [fresh[key].at(file) if key in fresh else _unpacked(file, known[key]) for key, file in keyed]

    def _spread(self, missing: Mapping[str, InputFile]) -> dict[str, Packed]:
        """Compile in several processes."""
        chunks = list(_chunks(missing))
        with ProcessPoolExecutor(self.processes, mp_context=get_context("spawn")) as pool:
            done = pool.map(_compile, ([missing[key] for key in chunk] for chunk in chunks))
            return {
                key: one for chunk, made in zip(chunks, done, strict=True) for key, one in zip(chunk, made, strict=True)
            }

    def _save(self, made: Mapping[str, Packed]) -> None:
        """Keep what was made; a place that cannot be written to, or that little is not worth, is no reason to fail."""
        if self.files is None or not made:
            return
        if self.files.size(MARK) is None and sum(len(one.script) for one in made.values()) < WORTH:
            return
        try:
            self.files.replace(MARK, b"*\n", durable=False)
            compiled.save(self.files, made)
        except OSError:
            self.files = None


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
