"""Databricks notebooks as source files: cells between COMMAND lines, other languages behind MAGIC."""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from lineage_pipeline.discover.hosts.cells import Cell, read_cells
from lineage_pipeline.discover.hosts.r import read_r
from lineage_pipeline.discover.hosts.scala import read_scala
from lineage_pipeline.discover.hosts.values import Extract, Part, place_of

HEADER = re.compile(r"\ufeff?(#|--|//) Databricks notebook source[ \t]*\r?(?:\n|$)")


class Language(msgspec.Struct, frozen=True):
    """What a notebook is written in where no magic word says otherwise, and who reads what is not read by cells."""

    name: str
    read: Callable[[str], Extract]


def _nothing(text: str) -> Extract:
    return Extract()


LANGUAGES: Mapping[str, Language] = {
    ".py": Language("python", _nothing),
    ".sql": Language("sql", _nothing),
    ".scala": Language("scala", read_scala),
    ".r": Language("r", read_r),
}
"""The language of a notebook, by the end of its name."""


def is_notebook(text: str) -> bool:
    """Say whether a file is a notebook."""
    return HEADER.match(text) is not None


def read_databricks(text: str, suffix: str) -> Extract:
    """Give the SQL of a notebook: cells of SQL, and what its own language runs."""
    header, language = HEADER.match(text), LANGUAGES[suffix]
    if header is None:
        return Extract()
    own = language.read(text)
    cells = read_cells(list(_cells(text, header[1], language.name)))
    texts = sorted({*own.texts, *cells.texts}, key=place_of)
    return Extract(tuple(texts), (*own.problems, *cells.problems))


def _cells(text: str, sign: str, language: str) -> Iterator[Cell]:
    """Give the cells whose language is not that of the file, and those of a file that is SQL or Python.

    A cell that is broken costs itself only, as it does in a notebook.
    """
    border = re.compile(rf"^{re.escape(sign)} COMMAND -+[ \t]*\r?$", re.MULTILINE)
    magic = re.compile(rf"^{re.escape(sign)} MAGIC ?", re.MULTILINE)
    begin = 0
    for match in (*border.finditer(text), None):
        end = match.start() if match is not None else len(text)
        cell = text[begin:end]
        if magic.search(cell):
            yield Cell(tuple(_lines(cell, begin, magic)), "other")
        elif language in ("sql", "python") and cell.strip():
            yield Cell((Part(cell, begin),), language)
        begin = match.end() if match is not None else end


def _lines(cell: str, begin: int, magic: re.Pattern[str]) -> Iterator[Part]:
    """Give the lines behind MAGIC without what is before it."""
    at = begin
    for line in cell.splitlines(keepends=True):
        found = magic.match(line)
        if found is not None:
            yield Part(line[found.end() :], at + found.end())
        at += len(line)
