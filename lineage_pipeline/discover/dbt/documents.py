"""The YAML of a dbt project: read once, with what is wrong in it as a finding."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from lineage_pipeline.discover.templating.protocol import Library

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Documents:
    """YAML files of a library by path; `wrong` says what could not be read."""

    def __init__(self, library: Library) -> None:
        """Open a library."""
        self.library = library
        self.wrong: dict[str, str] = {}
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
            document = yaml.load(text, Loader=_LOADER)  # noqa: S506 - the loader is a safe one
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            self.wrong[path] = " ".join(str(error).split())[:300]
            return {}
        return document if isinstance(document, Mapping) else {}


def entries(document: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Give the named entries of a list of a document."""
    listed = document.get(key)
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            yield entry


def mapping(value: object) -> dict[str, Any]:
    """Give a mapping, or an empty one where something else was written."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def words(value: object) -> list[str]:
    """Give a list of words, whether one or several were written."""
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
