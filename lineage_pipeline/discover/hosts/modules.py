"""Modules of the repository that a program imports: what their constants are."""

import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.hosts.known import Known
from lineage_pipeline.discover.hosts.python import Program
from lineage_pipeline.discover.hosts.values import IMPORTED, Part, Texts
from lineage_pipeline.discover.templating.protocol import Library, NoLibrary


class Modules:
    """The modules of a repository, each read when a program first asks for a constant of it."""

    def __init__(self, library: Library | None = None) -> None:
        """Take the files of the repository."""
        self.library = library or NoLibrary()
        self._known: dict[str, Mapping[str, Known]] = {}

    def constants(self, path: str, module: str, level: int) -> Mapping[str, Known]:
        """Give the constants of a module as the file at a path imports it; `level` counts the dots before its name."""
        for place in _places(posixpath.normpath(path), module, level):
            if place not in self._known:
                text = self.library.read(place)
                if text is None:
                    continue
                self._known[place] = {}  # one that imports itself knows nothing of it
                self._known[place] = self._read(text, place)
            return self._known[place]
        return {}

    def _read(self, text: str, path: str) -> dict[str, Known]:
        program = Program(lambda module, level: self.constants(path, module, level))
        program.read(text)
        return {name: _elsewhere(value) for name, value in program.names.known.items()}


def _places(path: str, module: str, level: int) -> Iterator[str]:
    """Give the files that may be a module, the nearest first."""
    folder = posixpath.dirname(path)
    inner = module.replace(".", "/")
    if level:
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        yield from _files(posixpath.join(folder, inner))
        return
    while True:
        yield from _files(posixpath.join(folder, inner))
        if not folder:
            return
        folder = posixpath.dirname(folder)


def _files(place: str) -> Iterator[str]:
    yield f"{place}.py"
    yield posixpath.join(place, "__init__.py")


def _elsewhere(known: Known) -> Known:
    """Give a value of another file: nothing of it stands in the one that imports it."""
    items = None if known.items is None else tuple(_elsewhere(item) for item in known.items)
    entries = None if known.entries is None else {key: _elsewhere(item) for key, item in known.entries.items()}
    texts: Texts = tuple(
        tuple(
            msgspec.structs.replace(part, at=IMPORTED) if part.text else Part("", choice=part.choice) for part in value
        )
        for value in known.texts
    )
    return Known(texts, items, entries)
