"""Notebook cells: their language by the magic command at the start, and the SQL in each."""

import re
from collections.abc import Sequence

import msgspec

from lineage_pipeline.discover.embedded_sql.python_program import PythonProgram
from lineage_pipeline.discover.embedded_sql.python_syntax import is_python
from lineage_pipeline.discover.embedded_sql.sql_sinks import SQL_START
from lineage_pipeline.discover.embedded_sql.text_parts import (
    ExtractedSql,
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

CELL_MAGIC = re.compile(r"\s*(%%?)(\w+)([^\n]*)(?:\n|$)")
LINE_MAGIC = re.compile(r"^([ \t]*)(?:\w[\w, ]*=\s*)?%(\w+)[ \t]+(?!-)([^\n]+)$", re.MULTILINE)
SHELL_LINE = re.compile(r"^[ \t]*+(?:[%!?][^\n]*|[^\n#'\"]*\?{1,2}[ \t]*)$|(?<==)[ \t]*[%!][^\n]*$", re.MULTILINE)
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
    """Return a line of the same length that Python ignores."""
    indent = len(text) - len(text.lstrip())
    rest = len(text) - indent
    return text[:indent] + ("pass" + " " * (rest - 4) if rest >= 4 else " " * rest)
