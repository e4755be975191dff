"""Jupyter notebooks: the code cells of the JSON document, each character with its offset in the file."""

import re
from collections.abc import Iterator
from typing import Any

from lineage_pipeline.discover.embedded_sql.notebook_cells import NotebookCell, extract_cells
from lineage_pipeline.discover.embedded_sql.string_literals import unescape_parts
from lineage_pipeline.discover.embedded_sql.text_parts import ExtractedSql, ExtractProblem, join_parts

JSON_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([\[\]{},:])|([^\s\[\]{},:"]+))', re.DOTALL)
JSON_ESCAPE = re.compile(
    r"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)
JSON_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

MAX_JSON_DEPTH = 200
"""How deep a document may be nested."""


class MalformedNotebook(ValueError):
    """The text is no JSON; its only argument is the offset."""


def extract_jupyter(text: str) -> ExtractedSql:
    """Extract the SQL of a notebook."""
    try:
        document = _OffsetJson(text).value(0)
    except MalformedNotebook as error:
        reason = (("reason", "it is no notebook: not JSON"),)
        return ExtractedSql(
            problems=(ExtractProblem("PARSE_ERROR", reason, min(error.args[0], len(text) - 1)),) if text else ()
        )
    return extract_cells(list(_code_cells(document)))


def _code_cells(document: Any) -> Iterator[NotebookCell]:
    """Yield the code cells in file order, of format versions 4 and 3."""
    if not isinstance(document, dict):
        return
    language = _kernel_language(document.get("metadata"))
    sheets = document.get("worksheets")
    holders = [document, *(sheets if isinstance(sheets, list) else ())]
    for holder in holders:
        for cell in holder.get("cells") or () if isinstance(holder, dict) else ():
            if isinstance(cell, dict) and _plain_text(cell.get("cell_type")) == "code":
                source = cell.get("source", cell.get("input", ()))
                lines = source if isinstance(source, list) else [source]
                parts = tuple(part for line in lines if isinstance(line, tuple) for part in line)
                yield NotebookCell(parts, language)


def _kernel_language(metadata: Any) -> str:
    about = metadata.get("language_info") or metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = _plain_text(about.get("name") if isinstance(about, dict) else None).lower()
    return "python" if not name or "python" in name or "spark" in name else "sql" if "sql" in name else "other"


def _plain_text(value: Any) -> str:
    return join_parts(value) if isinstance(value, tuple) else ""


class _OffsetJson:
    """JSON whose strings carry offsets: they are tuples of parts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def token(self) -> tuple[str, int]:
        match = JSON_TOKEN.match(self.text, self.position)
        if match is None:
            raise MalformedNotebook(self.position)
        self.position = match.end()
        group = match.lastindex or 0
        return match[group], match.start(group)

    def value(self, depth: int) -> Any:
        token, at = self.token()
        return self._value(token, at, depth)

    def _value(self, token: str, at: int, depth: int) -> Any:
        if depth > MAX_JSON_DEPTH:
            raise MalformedNotebook(at)
        if token == "{":
            return self._object(depth)
        if token == "[":
            return self._array(depth)
        if token.startswith('"'):
            return tuple(unescape_parts(token[1:-1], at + 1, JSON_ESCAPE, _json_escape_value))
        if token in ",:]}":
            raise MalformedNotebook(at)
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
                raise MalformedNotebook(at)
            found[join_parts(key)] = self.value(depth + 1)
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


def _json_escape_value(escape: str) -> str:
    if escape[1] != "u":
        return JSON_SIMPLE_ESCAPES.get(escape[1], escape[1])
    units = bytes.fromhex(escape.replace("\\u", ""))
    return units.decode("utf-16-be", "replace")
