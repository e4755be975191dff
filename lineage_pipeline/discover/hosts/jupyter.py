"""Jupyter notebooks: the code cells of the JSON document, each character where it stands in the file."""

import re
from collections.abc import Iterator
from typing import Any

from lineage_pipeline.discover.hosts.cells import Cell, read_cells
from lineage_pipeline.discover.hosts.literals import unescaped
from lineage_pipeline.discover.hosts.values import Extract, Problem, text_of

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([\[\]{},:])|([^\s\[\]{},:"]+))', re.DOTALL)
ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

DEEPEST = 200
"""How deep a document may be nested."""


class BrokenDocument(ValueError):
    """The text is no JSON; its only argument is the offset."""


def read_jupyter(text: str) -> Extract:
    """Give the SQL of a notebook."""
    try:
        document = _Document(text).value(0)
    except BrokenDocument as error:
        reason = (("reason", "it is no notebook: not JSON"),)
        return Extract(problems=(Problem("PARSE_ERROR", reason, min(error.args[0], len(text) - 1)),) if text else ())
    return read_cells(list(_cells(document)))


def _cells(document: Any) -> Iterator[Cell]:
    """Give the code cells, in the order of the file, of this version of the format and of the one before."""
    if not isinstance(document, dict):
        return
    language = _language(document.get("metadata"))
    sheets = document.get("worksheets")
    holders = [document, *(sheets if isinstance(sheets, list) else ())]
    for holder in holders:
        for cell in holder.get("cells") or () if isinstance(holder, dict) else ():
            if isinstance(cell, dict) and _plain(cell.get("cell_type")) == "code":
                source = cell.get("source", cell.get("input", ()))
                lines = source if isinstance(source, list) else [source]
                parts = tuple(part for line in lines if isinstance(line, tuple) for part in line)
                yield Cell(parts, language)


def _language(metadata: Any) -> str:
    about = metadata.get("language_info") or metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = _plain(about.get("name") if isinstance(about, dict) else None).lower()
    return "python" if not name or "python" in name or "spark" in name else "sql" if "sql" in name else "other"


def _plain(value: Any) -> str:
    return text_of(value) if isinstance(value, tuple) else ""


class _Document:
    """JSON of which every string knows where it stands: strings are tuples of parts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def token(self) -> tuple[str, int]:
        match = TOKEN.match(self.text, self.position)
        if match is None:
            raise BrokenDocument(self.position)
        self.position = match.end()
        group = match.lastindex or 0
        return match[group], match.start(group)

    def value(self, depth: int) -> Any:
        token, at = self.token()
        return self._value(token, at, depth)

    def _value(self, token: str, at: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise BrokenDocument(at)
        if token == "{":
            return self._object(depth)
        if token == "[":
            return self._array(depth)
        if token.startswith('"'):
            return tuple(unescaped(token[1:-1], at + 1, ESCAPE, _meaning))
        if token in ",:]}":
            raise BrokenDocument(at)
        return None  # numbers and words are of no interest

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        token, at = self.token()
        while token != "}":
            if token == ",":
                token, at = self.token()
            key = self._value(token, at, depth + 1)
            colon, at = self.token()
            if not isinstance(key, tuple) or colon != ":":
                raise BrokenDocument(at)
            found[text_of(key)] = self.value(depth + 1)
            token, at = self.token()
        return found

    def _array(self, depth: int) -> list[Any]:
        found = []
        token, at = self.token()
        while token != "]":
            if token == ",":
                token, at = self.token()
            found.append(self._value(token, at, depth + 1))
            token, at = self.token()
        return found


def _meaning(escape: str) -> str:
    if escape[1] != "u":
        return SIMPLE.get(escape[1], escape[1])
    units = bytes.fromhex(escape.replace("\\u", ""))
    return units.decode("utf-16-be", "replace")
