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
