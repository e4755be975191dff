"""The YAML of a dbt project: read once, with what is wrong in it as a finding."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.yamls import load_yaml
from lineage_pipeline.vocabulary.places import line_starts

ENTRY = re.compile(r"\s*- ")
TRIES = 5
"""How many entries before a damaged one are given up, too."""


class Damage(NamedTuple):
    """What is wrong with a file, and at which offset."""

    reason: str
    at: int


class Documents:
    """YAML files of a library by path; `wrong` says what could not be read."""

    def __init__(self, library: Library) -> None:
        """Open a library."""
        self.library = library
        self.wrong: dict[str, Damage] = {}
        self._known: dict[str, Mapping[str, Any]] = {}

    def read(self, path: str) -> Mapping[str, Any]:
        """Give a file as a mapping; what is none is empty."""
        if path not in self._known:
            self._known[path] = self._parse(path)
        return self._known[path]

    def place(self, path: str, key: str, name: str = "") -> tuple[int, int]:
        """Say where a file has a key, or the entry of that name in its list, and how long that is."""
        text = self.library.read(path) or ""
        try:
            top = yaml.compose(text, Loader=yaml.SafeLoader)  # whose marks count characters
        except (yaml.YAMLError, ValueError, RecursionError):
            return 0, 0
        for word, value in top.value if isinstance(top, yaml.MappingNode) else ():
            if word.value != key:
                continue
            if not name:
                return word.start_mark.index, len(word.value)
            for entry in value.value if isinstance(value, yaml.SequenceNode) else ():
                for inner, said in entry.value if isinstance(entry, yaml.MappingNode) else ():
                    if (inner.value, said.value) == ("name", name):
                        start, end = entry.start_mark.index, entry.end_mark.index
                        return start, len(text[start:end].rstrip())
        return 0, 0

    def _parse(self, path: str) -> Mapping[str, Any]:
        text = self.library.read(path)
        if text is None:
            return {}
        try:
            document = load_yaml(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            self.wrong[path], document = _damage(error, text), _until(error, text)
        return document if isinstance(document, Mapping) else {}


def _damage(error: Exception, text: str) -> Damage:
    """Say what is wrong with a file, and where."""
    line = _line(error)
    starts = line_starts(text)
    said = getattr(error, "problem", None) or " ".join(str(error).split())[:300]
    told = f"{said} in YAML, line {line + 1}; what stands before it counts" if line >= 0 else said
    return Damage(told, starts[min(line, len(starts) - 1)] if line >= 0 else 0)


def _line(error: Exception) -> int:
    mark = getattr(error, "problem_mark", None)
    return int(mark.line) if mark is not None else -1


def _until(error: Exception, text: str) -> object:
    """Read what stands before the entry that cannot be read."""
    lines = text.splitlines(keepends=True)[: max(_line(error), 0) + 1]
    for _ in range(TRIES):
        while lines and not ENTRY.match(lines.pop()):
            pass
        try:
            return load_yaml("".join(lines))
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
    return None


def entries(document: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Give the named entries of a list of a document."""
    for entry in listed(document.get(key)):
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            yield entry


def mapping(value: object) -> dict[str, Any]:
    """Give a mapping, or an empty one where something else was written."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Any]:
    """Give a list, or an empty one where something else was written."""
    return value if isinstance(value, list) else []


def words(value: object) -> list[str]:
    """Give a list of words, whether one or several were written."""
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
