"""Chooses the reader of a host file, and joins the SQL in it into one script."""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePosixPath

import msgspec

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.embedded_sql.curly_languages import extract_curly, extract_scala
from lineage_pipeline.discover.embedded_sql.notebooks import extract_databricks, extract_jupyter, is_databricks_notebook
from lineage_pipeline.discover.embedded_sql.python_program import RepositoryModules, extract_python
from lineage_pipeline.discover.embedded_sql.r import extract_r
from lineage_pipeline.discover.embedded_sql.text_parts import (
    ExtractedSql,
    ExtractProblem,
    TextValue,
    assemble_script,
    first_offset,
    join_parts,
)

SQL_HINT = re.compile(
    r"sql|execut|query|\btext\b|fetch|\b(?:select|insert\s+into|update|delete\s+from|merge\s+into|create|drop|copy)\s",
    re.IGNORECASE,
)
"""A file without any of these words runs no SQL that we detect."""

MODULE_DEFINITION = re.compile(
    r"\b(?:CREATE|ALTER)\s+(?:OR\s+ALTER\s+)?(?:PROC|PROCEDURE|FUNCTION|TRIGGER|VIEW)\b", re.IGNORECASE
)

QUOTED_OR_COMMENT = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`[^`]*`|(\$\w*\$).*?\1|(?P<open>['\"`]|/\*).*",
    re.DOTALL,
)


class HostLanguage(msgspec.Struct, frozen=True):
    """A kind of file that embeds SQL: its name in `sql_files`, and its reader."""

    name: str
    read: Callable[[str], ExtractedSql]


class EmbeddedScript(msgspec.Struct, frozen=True):
    """The SQL of a file as one text, its source map, and what could not be extracted."""

    host: str
    text: str
    copies: tuple[int, ...]
    problems: tuple[ExtractProblem, ...]


PYTHON_HOST = HostLanguage("python", extract_python)

CURLY_SUFFIXES = {
    ".java": "java",
    ".kt": "kotlin",
    ".cs": "csharp",
    ".go": "go",
    ".js": "javascript",
    ".ts": "javascript",
}
"""Curly-brace languages by file suffix."""

NOTEBOOK_SUFFIX = ".ipynb"

HOSTS: Mapping[str, HostLanguage] = {
    ".py": PYTHON_HOST,
    NOTEBOOK_SUFFIX: HostLanguage("jupyter", extract_jupyter),
    ".scala": HostLanguage("scala", extract_scala),
    ".r": HostLanguage("r", extract_r),
    **{suffix: HostLanguage(name, partial(extract_curly, language=name)) for suffix, name in CURLY_SUFFIXES.items()},
}
"""Host languages by file suffix."""

HOST_NAMES = frozenset({"databricks", *(host.name for host in HOSTS.values())})
"""Values of `templater` for files that embed SQL."""

SELF_FILTERING_HOSTS = frozenset({"databricks", *CURLY_SUFFIXES.values()})
"""Hosts whose reader decides itself which files to skip."""

NOTEBOOK_SUFFIXES = frozenset({".py", ".sql", ".scala", ".r"})
"""Suffixes of files that may be Databricks notebooks."""


def find_host(path: str, text: str) -> HostLanguage | None:
    """Return the host language of a file; SQL files have none."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in NOTEBOOK_SUFFIXES and is_databricks_notebook(text):
        return HostLanguage("databricks", lambda given: extract_databricks(given, suffix))
    return HOSTS.get(suffix)


def extract_sql(
    path: str, text: str, dialect: str = "", modules: RepositoryModules | None = None
) -> EmbeddedScript | None:
    """Extract the SQL of a file, or return None where the file is SQL itself; `modules` are what it may import."""
    host = find_host(path, text)
    if host is None:
        return None
    if host.name not in SELF_FILTERING_HOSTS and not SQL_HINT.search(text):
        extract = ExtractedSql()
    elif modules is not None and host is PYTHON_HOST:
        place = modules.library.locate(path)
        extract = extract_python(text, lambda module, level: modules.constants(place, module, level))
    else:
        extract = host.read(text)
    whole = [value for value in extract.texts if has_closed_quotes(join_parts(value))]
    broken = tuple(_unclosed_problem(value) for value in extract.texts if not has_closed_quotes(join_parts(value)))

    batches = (find_traits(dialect) or GENERIC).transact_sql

    def separator(said: str) -> str:  # in some dialects a module ends at GO only
        return "\nGO\n" if batches and MODULE_DEFINITION.search(said) else "\n;\n"

    rendered, copies = assemble_script(whole, separator)
    return EmbeddedScript(host.name, rendered, copies, (*extract.problems, *broken))


class RepositoryExtractor:
    """Extracts the SQL of a repository's files; a notebook that is there several times is read once."""

    def __init__(self, modules: RepositoryModules) -> None:
        """Store the modules that programs may import."""
        self.modules = modules
        self._known: dict[tuple[str, bytes], EmbeddedScript | None] = {}

    def extract(self, path: str, text: str, dialect: str) -> EmbeddedScript | None:
        """Extract the SQL of a file, or return None where the file is SQL itself."""
        if PurePosixPath(path).suffix.lower() != NOTEBOOK_SUFFIX:  # a program depends on what is around it
            return extract_sql(path, text, dialect, self.modules)
        key = (dialect, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        if key not in self._known:
            self._known[key] = extract_sql(path, text, dialect, self.modules)
        return self._known[key]


def has_closed_quotes(text: str) -> bool:
    """Return whether every quote and comment is closed, so that it does not swallow the next text."""
    return not any(match["open"] for match in QUOTED_OR_COMMENT.finditer(text))


def _unclosed_problem(value: TextValue) -> ExtractProblem:
    return ExtractProblem(
        "PARSE_ERROR", (("reason", "a quote or a comment is not closed"),), max(first_offset(value), 0)
    )
