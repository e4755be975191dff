"""Python modules of the repository that a program imports, read for their constants."""

import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.embedded_sql.known_values import KnownValue
from lineage_pipeline.discover.embedded_sql.python_program import PythonProgram
from lineage_pipeline.discover.embedded_sql.text_parts import IMPORTED_OFFSET, PossibleTexts, TextPart
from lineage_pipeline.discover.templating.protocol import Library, NoLibrary


class RepositoryModules:
    """The modules of a repository, each read when a program first uses a constant of it."""

    def __init__(self, library: Library | None = None) -> None:
        """Store the files of the repository."""
        self.library = library or NoLibrary()
        self._known: dict[str, Mapping[str, KnownValue]] = {}

    def constants(self, path: str, module: str, level: int) -> Mapping[str, KnownValue]:
        """Return the constants of a module as imported by the file at a path; `level` counts the leading dots."""
        for place in _module_candidates(posixpath.normpath(path), module, level):
            if place not in self._known:
                text = self.library.read(place)
                if text is None:
                    continue
                self._known[place] = {}  # one that imports itself knows nothing of it
                self._known[place] = self._read_module(text, place)
            return self._known[place]
        return {}

    def _read_module(self, text: str, path: str) -> dict[str, KnownValue]:
        program = PythonProgram(lambda module, level: self.constants(path, module, level))
        program.read(text)
        return {name: _mark_imported(value) for name, value in program.names.known.items()}


def _module_candidates(path: str, module: str, level: int) -> Iterator[str]:
    """Yield the files that may be a module, nearest first."""
    folder = posixpath.dirname(path)
    inner = module.replace(".", "/")
    if level:
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        yield from _module_files(posixpath.join(folder, inner))
        return
    while True:
        yield from _module_files(posixpath.join(folder, inner))
        if not folder:
            return
        folder = posixpath.dirname(folder)


def _module_files(place: str) -> Iterator[str]:
    yield f"{place}.py"
    yield posixpath.join(place, "__init__.py")


def _mark_imported(known: KnownValue) -> KnownValue:
    """Return a value whose parts are marked as being in another file."""
    items = None if known.items is None else tuple(_mark_imported(item) for item in known.items)
    entries = None if known.entries is None else {key: _mark_imported(item) for key, item in known.entries.items()}
    texts: PossibleTexts = tuple(
        tuple(
            msgspec.structs.replace(part, at=IMPORTED_OFFSET) if part.text else TextPart("", choice=part.choice)
            for part in value
        )
        for value in known.texts
    )
    return KnownValue(texts, items, entries)
