"""Notebooks of Jupyter and Databricks: their cells, the language of each by its magic command, and the SQL in it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.discover.embedded_sql.curly_languages import extract_scala
from lineage_pipeline.discover.embedded_sql.python_program import PythonProgram
from lineage_pipeline.discover.embedded_sql.python_syntax import is_python
from lineage_pipeline.discover.embedded_sql.r import extract_r
from lineage_pipeline.discover.embedded_sql.sql_sinks import SQL_START
from lineage_pipeline.discover.embedded_sql.string_literals import unescape_parts
from lineage_pipeline.discover.embedded_sql.text_parts import (
    ExtractedSql,
    ExtractProblem,
    TextPart,
    TextRuns,
    TextValue,
    first_offset,
    join_parts,
    map_offsets,
    substitute_placeholders,
)
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

SQL_MAGICS = frozenset("sql bigquery bq sparksql spark_sql duckdb read_sql sqlite jupysql".split())
"""Magic commands followed by SQL."""

PYTHON_MAGICS = frozenset("python python3 pyspark time timeit capture prun".split())
"""Magic commands followed by Python."""

CELL_MAGIC = re.compile(r"(?:\s|#[^\n]*\n)*(%%?)(\w+)([^\n]*)(?:\n|$)")
"""A magic command at the head of a cell; Colab takes it behind comments too."""

LINE_MAGIC = re.compile(r"^([ \t]*)(?:\w[\w, ]*=\s*)?%(\w+)[ \t]+(?!-)([^\n]+)$", re.MULTILINE)
SHELL_LINE = re.compile(
    r"^[ \t]*+(?:[%!?](?:[^\n]*\\\n)*[^\n]*|[^\n#'\"]*\?{1,2}[ \t]*)$|(?<==)[ \t]*[%!][^\n]*$", re.MULTILINE
)
CELL_VARIABLE = re.compile(r"\{\{?\s*\w+\s*\}\}?|(?<![\w$])\$\{?\w+\}?")


class NotebookCell(msgspec.Struct, frozen=True):
    """The text of a cell as parts with offsets in the file."""

    parts: TextValue
    language: str = "python"


def extract_cells(cells: Sequence[NotebookCell]) -> ExtractedSql:
    """Extract the SQL of cells; each Python cell knows the names of earlier ones."""
    reader = _CellReader()
    for cell in cells:
        reader.read(cell)
    return reader.finish()


class _CellReader:
    """Reads cells one after the other."""

    def __init__(self) -> None:
        self.program = PythonProgram()
        self.runs = TextRuns()
        self.size = 0
        self.texts: list[TextValue] = []

    def read(self, cell: NotebookCell) -> None:
        text = join_parts(cell.parts)
        magic = CELL_MAGIC.match(text)
        language = cell.language
        begin = 0
        if magic is not None and (magic[1] == "%%" or self.is_cell_magic(magic, cell)):
            language = "sql" if magic[2] in SQL_MAGICS else "python" if magic[2] in PYTHON_MAGICS else "other"
            begin = magic.end(2) if language == "sql" else magic.end()
        if language == "sql":
            self.read_sql_cell(cell.parts, text, begin)
        elif language == "python":
            self.read_python_cell(cell.parts, text, begin)

    @staticmethod
    def is_cell_magic(magic: re.Match[str], cell: NotebookCell) -> bool:
        """Return whether a one-percent magic applies to the whole cell: nothing follows it, or by convention."""
        known = magic[2] in SQL_MAGICS | PYTHON_MAGICS | OTHER_MAGICS
        return known and (cell.language == "other" or not magic[3].strip())

    def read_sql_cell(self, parts: TextValue, text: str, begin: int) -> None:
        """Read a SQL cell; the text beside its magic command is SQL or options."""
        end = text.find("\n", begin)
        first = begin if not begin or SQL_START.match(text[begin : end if end >= 0 else len(text)]) else max(end, begin)
        taken = map_offsets((TextPart(text[first:], first),), TextRuns().add(parts))
        if text[first:].strip():
            self.texts.append(
                substitute_placeholders(taken, CELL_VARIABLE, lambda match: (TextPart(RUNTIME_PLACEHOLDER),))
            )

    def read_python_cell(self, parts: TextValue, text: str, begin: int) -> None:
        """Read a Python cell; shell lines are blanked, and SQL line magics are taken."""
        own = TextRuns().add(parts)
        for line in LINE_MAGIC.finditer(text, begin):
            if line[2] in SQL_MAGICS and SQL_START.match(line[3]):  # or it is an address to connect to
                self.read_sql_cell(map_offsets((TextPart(line[3], line.start(3)),), own), line[3], 0)
        code = text[begin:]
        if SHELL_LINE.search(code) and not is_python(code):  # or a line goes on with a sign of division
            code = SHELL_LINE.sub(lambda match: _blank_line(match[0]), code)
        self.program.read(re.sub(r"[^\n]", " ", text[:begin]) + code, self.size)
        self.runs.add(parts)
        self.size += len(text)

    def finish(self) -> ExtractedSql:
        """Return the SQL of all cells, once the names of all cells are known."""
        found = self.program.extract()
        texts = (*self.texts, *(map_offsets(value, self.runs) for value in found.texts))
        places = (first_offset(map_offsets((TextPart(" ", problem.at),), self.runs)) for problem in found.problems)
        problems = [
            msgspec.structs.replace(problem, at=max(place, 0))
            for problem, place in zip(found.problems, places, strict=True)
        ]
        return ExtractedSql(
            tuple(dict.fromkeys(sorted(texts, key=first_offset))), tuple(sorted(problems, key=lambda one: one.at))
        )


OTHER_MAGICS = frozenset("scala r sh md html javascript js bash fs run pip latex writefile script cypher".split())
"""Magic commands followed by neither SQL nor Python."""


def _blank_line(text: str) -> str:
    """Return a line, or one that is continued, of the same length that Python ignores."""
    indent = len(text) - len(text.lstrip())
    blank = re.sub(r"[^\n]", " ", text[indent:])
    return text[:indent] + ("pass" + blank[4:] if blank[:4] == " " * 4 else blank)


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
                yield NotebookCell(parts, _cell_language(cell.get("metadata")) or language)


def _kernel_language(metadata: Any) -> str:
    about = metadata.get("language_info") or metadata.get("kernelspec") if isinstance(metadata, dict) else None
    return _classify_language(_plain_text(about.get("name") if isinstance(about, dict) else None))


def _cell_language(metadata: Any) -> str:
    """The language of a cell by its metadata, as Snowflake and VS Code write it, or ""."""
    if not isinstance(metadata, dict):
        return ""
    editor = metadata.get("vscode")
    name = _plain_text(metadata.get("language") or (editor.get("languageId") if isinstance(editor, dict) else None))
    return _classify_language(name) if name else ""


def _classify_language(name: str) -> str:
    name = name.lower()
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


NOTEBOOK_HEADER = re.compile(r"\ufeff?(#|--|//) Databricks notebook source[ \t]*\r?(?:\n|$)")


class NotebookLanguage(msgspec.Struct, frozen=True):
    """The default language of a notebook, and the reader of cells that are not SQL or Python."""

    name: str
    read: Callable[[str], ExtractedSql]


def _extract_nothing(text: str) -> ExtractedSql:
    return ExtractedSql()


NOTEBOOK_LANGUAGES: Mapping[str, NotebookLanguage] = {
    ".py": NotebookLanguage("python", _extract_nothing),
    ".sql": NotebookLanguage("sql", _extract_nothing),
    ".scala": NotebookLanguage("scala", extract_scala),
    ".r": NotebookLanguage("r", extract_r),
}
"""The language of a notebook by the suffix of its file."""


def is_databricks_notebook(text: str) -> bool:
    """Return whether a file is a Databricks notebook."""
    return NOTEBOOK_HEADER.match(text) is not None


def extract_databricks(text: str, suffix: str) -> ExtractedSql:
    """Extract the SQL of a notebook: SQL cells, and what its default language runs."""
    header, language = NOTEBOOK_HEADER.match(text), NOTEBOOK_LANGUAGES[suffix]
    if header is None:
        return ExtractedSql()
    own = language.read(text)
    cells = extract_cells(list(_split_cells(text, header[1], language.name)))
    texts = sorted({*own.texts, *cells.texts}, key=first_offset)
    return ExtractedSql(tuple(texts), (*own.problems, *cells.problems))


def _split_cells(text: str, sign: str, language: str) -> Iterator[NotebookCell]:
    """Yield the cells in another language than the file, and all cells of SQL or Python files.

    A broken cell only affects itself, as in a notebook.
    """
    border = re.compile(rf"^{re.escape(sign)} COMMAND -+[ \t]*\r?$", re.MULTILINE)
    magic = re.compile(rf"^{re.escape(sign)} MAGIC ?", re.MULTILINE)
    begin = 0
    for match in (*border.finditer(text), None):
        end = match.start() if match is not None else len(text)
        cell = text[begin:end]
        if magic.search(cell):
            yield NotebookCell(tuple(_strip_magic(cell, begin, magic)), "other")
        elif language in ("sql", "python") and cell.strip():
            yield NotebookCell((TextPart(cell, begin),), language)
        begin = match.end() if match is not None else end


def _strip_magic(cell: str, begin: int, magic: re.Pattern[str]) -> Iterator[TextPart]:
    """Return the lines of a cell without their MAGIC prefix."""
    at = begin
    for line in cell.splitlines(keepends=True):
        found = magic.match(line)
        if found is not None:
            yield TextPart(line[found.end() :], at + found.end())
        at += len(line)
