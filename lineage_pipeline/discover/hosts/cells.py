"""Cells of notebooks: their language by the magic words they begin with, and the SQL in each."""

import re
from collections.abc import Sequence

import msgspec

from lineage_pipeline.discover.hosts.python import Program
from lineage_pipeline.discover.hosts.sinks import BEGINS
from lineage_pipeline.discover.hosts.syntax import is_python
from lineage_pipeline.discover.hosts.values import (
    Extract,
    Part,
    Runs,
    Value,
    carried,
    place_of,
    substituted,
    text_of,
)
from lineage_pipeline.vocabulary.analysis import HOLE

SQL_MAGICS = frozenset("sql bigquery bq sparksql spark_sql duckdb read_sql sqlite jupysql".split())
"""Magic words behind which SQL stands."""

PYTHON_MAGICS = frozenset("python python3 pyspark time timeit capture prun".split())
"""Magic words behind which Python stands."""

MAGIC = re.compile(r"\s*(%%?)(\w+)([^\n]*)(?:\n|$)")
LINE = re.compile(r"^([ \t]*)(?:\w[\w, ]*=\s*)?%(\w+)[ \t]+(?!-)([^\n]+)$", re.MULTILINE)
SHELL = re.compile(r"^[ \t]*+(?:[%!?][^\n]*|[^\n#'\"]*\?{1,2}[ \t]*)$|(?<==)[ \t]*[%!][^\n]*$", re.MULTILINE)
VARIABLE = re.compile(r"\{\{?\s*\w+\s*\}\}?|(?<![\w$])\$\{?\w+\}?")


class Cell(msgspec.Struct, frozen=True):
    """The text of a cell in parts that have a place in the file."""

    parts: Value
    language: str = "python"


def read_cells(cells: Sequence[Cell]) -> Extract:
    """Give the SQL of cells; what one of them says in Python, the next one knows."""
    reader = _Reader()
    for cell in cells:
        reader.read(cell)
    return reader.finish()


class _Reader:
    """Cells one after the other."""

    def __init__(self) -> None:
        self.program = Program()
        self.runs = Runs()
        self.size = 0
        self.texts: list[Value] = []

    def read(self, cell: Cell) -> None:
        text = text_of(cell.parts)
        magic = MAGIC.match(text)
        language = cell.language
        begin = 0
        if magic is not None and (magic[1] == "%%" or self.whole(magic, cell)):
            language = "sql" if magic[2] in SQL_MAGICS else "python" if magic[2] in PYTHON_MAGICS else "other"
            begin = magic.end(2) if language == "sql" else magic.end()
        if language == "sql":
            self.sql(cell.parts, text, begin)
        elif language == "python":
            self.python(cell.parts, text, begin)

    @staticmethod
    def whole(magic: re.Match[str], cell: Cell) -> bool:
        """Say whether a magic word with one sign is for the whole cell: where nothing follows it, or by custom."""
        known = magic[2] in SQL_MAGICS | PYTHON_MAGICS | OTHER_MAGICS
        return known and (cell.language == "other" or not magic[3].strip())

    def sql(self, parts: Value, text: str, begin: int) -> None:
        """Take a cell of SQL; what stands beside its magic word is SQL or options."""
        end = text.find("\n", begin)
        first = begin if not begin or BEGINS.match(text[begin : end if end >= 0 else len(text)]) else max(end, begin)
        taken = carried((Part(text[first:], first),), Runs().add(parts))
        if text[first:].strip():
            self.texts.append(substituted(taken, VARIABLE, lambda match: (Part(HOLE),)))

    def python(self, parts: Value, text: str, begin: int) -> None:
        """Take a cell of Python; lines for the shell are blank, and those with SQL are taken."""
        own = Runs().add(parts)
        for line in LINE.finditer(text, begin):
            if line[2] in SQL_MAGICS and BEGINS.match(line[3]):  # or it is an address to connect to
                self.sql(carried((Part(line[3], line.start(3)),), own), line[3], 0)
        code = text[begin:]
        if SHELL.search(code) and not is_python(code):  # or a line goes on with a sign of division
            code = SHELL.sub(lambda match: _blank(match[0]), code)
        self.program.read(re.sub(r"[^\n]", " ", text[:begin]) + code, self.size)
        self.runs.add(parts)
        self.size += len(text)

    def finish(self) -> Extract:
        """Give what the cells of SQL say and what those of Python run, once all of them are known."""
        found = self.program.extract()
        texts = (*self.texts, *(carried(value, self.runs) for value in found.texts))
        places = (place_of(carried((Part(" ", problem.at),), self.runs)) for problem in found.problems)
        problems = [
            msgspec.structs.replace(problem, at=max(place, 0))
            for problem, place in zip(found.problems, places, strict=True)
        ]
        return Extract(
            tuple(dict.fromkeys(sorted(texts, key=place_of))), tuple(sorted(problems, key=lambda one: one.at))
        )


OTHER_MAGICS = frozenset("scala r sh md html javascript js bash fs run pip latex writefile script cypher".split())
"""Magic words behind which neither SQL nor Python stands."""


def _blank(text: str) -> str:
    """Give a line that Python passes over, as long as it was."""
    indent = len(text) - len(text.lstrip())
    rest = len(text) - indent
    return text[:indent] + ("pass" + " " * (rest - 4) if rest >= 4 else " " * rest)
