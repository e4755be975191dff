"""Databricks notebooks as source files: cells between COMMAND lines, other languages behind MAGIC."""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from lineage_pipeline.discover.embedded_sql.curly_languages import extract_scala
from lineage_pipeline.discover.embedded_sql.notebook_cells import NotebookCell, extract_cells
from lineage_pipeline.discover.embedded_sql.r import extract_r
from lineage_pipeline.discover.embedded_sql.text_parts import ExtractedSql, TextPart, first_offset

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
