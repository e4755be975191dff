"""The YAML files of a dbt project: each is parsed once, and syntax errors become findings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.files.bounded_yaml import load_yaml
from lineage_pipeline.model.source_map import find_line_starts

LIST_ENTRY = re.compile(r"\s*- ")
MAX_REPAIR_TRIES = 5
"""How many entries before a damaged one are dropped, too."""


class YamlError(NamedTuple):
    """Why a file cannot be parsed, and at which offset."""

    reason: str
    at: int


class YamlFiles:
    """The YAML files of a library by path; `wrong` holds the errors."""

    def __init__(self, library: Library) -> None:
        """Open a library."""
        self.library = library
        self.wrong: dict[str, YamlError] = {}
        self._known: dict[str, Mapping[str, Any]] = {}

    def read(self, path: str) -> Mapping[str, Any]:
        """Return a file as a mapping; one that is no mapping is empty."""
        if path not in self._known:
            self._known[path] = self._parse(path)
        return self._known[path]

    def locate_key(self, path: str, key: str, name: str = "") -> tuple[int, int]:
        """Return offset and length of a key, or of the list entry of that name."""
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
            self.wrong[path], document = _describe_yaml_error(error, text), _parse_before_error(error, text)
        return document if isinstance(document, Mapping) else {}


def _describe_yaml_error(error: Exception, text: str) -> YamlError:
    """Return the error of a file with its offset."""
    line = _error_line(error)
    starts = find_line_starts(text)
    said = getattr(error, "problem", None) or " ".join(str(error).split())[:300]
    message = f"{said} in YAML, line {line + 1}; what stands before it counts" if line >= 0 else said
    return YamlError(message, starts[min(line, len(starts) - 1)] if line >= 0 else 0)


def _error_line(error: Exception) -> int:
    mark = getattr(error, "problem_mark", None)
    return int(mark.line) if mark is not None else -1


def _parse_before_error(error: Exception, text: str) -> object:
    """Parse the part of a file before the entry that cannot be parsed."""
    lines = text.splitlines(keepends=True)[: max(_error_line(error), 0) + 1]
    for _ in range(MAX_REPAIR_TRIES):
        while lines and not LIST_ENTRY.match(lines.pop()):
            pass
        try:
            return load_yaml("".join(lines))
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
    return None


def named_entries(document: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the entries with a name in a list of a document."""
    for entry in as_list(document.get(key)):
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            yield entry


def as_mapping(value: object) -> dict[str, Any]:
    """Return a mapping with text keys, or an empty one where the value is something else."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """Return a list, or an empty one where the value is something else."""
    return value if isinstance(value, list) else []


def as_words(value: object) -> list[str]:
    """Return a list of words, whether one or several are written."""
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
