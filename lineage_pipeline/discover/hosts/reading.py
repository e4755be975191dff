"""Which files are read as hosts of SQL, and the one text that the SQL of a host becomes."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePosixPath

import msgspec

from lineage_pipeline.dialects.traits import GENERIC, traits_of
from lineage_pipeline.discover.hosts.braces import read_braces
from lineage_pipeline.discover.hosts.databricks import is_notebook, read_databricks
from lineage_pipeline.discover.hosts.jupyter import read_jupyter
from lineage_pipeline.discover.hosts.modules import Modules
from lineage_pipeline.discover.hosts.python import read_python
from lineage_pipeline.discover.hosts.r import read_r
from lineage_pipeline.discover.hosts.scala import read_scala
from lineage_pipeline.discover.hosts.values import Extract, Problem, Value, assembled, place_of, text_of

HINT = re.compile(
    r"sql|execut|query|\btext\b|fetch|\b(?:select|insert\s+into|update|delete\s+from|merge\s+into|create|drop|copy)\s",
    re.IGNORECASE,
)
"""A file without any of these words runs no SQL that we would find."""

MODULE = re.compile(r"\b(?:CREATE|ALTER)\s+(?:OR\s+ALTER\s+)?(?:PROC|PROCEDURE|FUNCTION|TRIGGER|VIEW)\b", re.IGNORECASE)

QUOTED = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`[^`]*`|(\$\w*\$).*?\1|(?P<open>['\"`]|/\*).*",
    re.DOTALL,
)


class Host(msgspec.Struct, frozen=True):
    """A kind of file that holds SQL: its name in `sql_files`, and who reads it."""

    name: str
    read: Callable[[str], Extract]


class Hosted(msgspec.Struct, frozen=True):
    """The SQL of a file as one text, what of it is copied from the file, and what could not be had."""

    host: str
    text: str
    copies: tuple[int, ...]
    problems: tuple[Problem, ...]


PYTHON = Host("python", read_python)

BRACES = {
    ".java": "java",
    ".kt": "kotlin",
    ".cs": "csharp",
    ".go": "go",
    ".js": "javascript",
    ".ts": "javascript",
}
"""The languages of braces, by the ends of the names of their files."""

HOSTS: Mapping[str, Host] = {
    ".py": PYTHON,
    ".ipynb": Host("jupyter", read_jupyter),
    ".scala": Host("scala", read_scala),
    ".r": Host("r", read_r),
    **{suffix: Host(name, partial(read_braces, language=name)) for suffix, name in BRACES.items()},
}
"""Who reads a file that holds SQL among other things, by the end of its name."""

HOST_NAMES = frozenset({"databricks", *(host.name for host in HOSTS.values())})
"""What stands as the templater of a file that holds SQL among other things."""

OWN_WORDS = frozenset({"databricks", *BRACES.values()})
"""The hosts that know themselves which files they need not look into."""

NOTEBOOKS = frozenset({".py", ".sql", ".scala", ".r"})
"""The ends of the names of files that may be Databricks notebooks."""


def host_of(path: str, text: str) -> Host | None:
    """Say who takes the SQL out of a file; a file that is SQL has none."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in NOTEBOOKS and is_notebook(text):
        return Host("databricks", lambda given: read_databricks(given, suffix))
    return HOSTS.get(suffix)


def hosted(path: str, text: str, dialect: str = "", modules: Modules | None = None) -> Hosted | None:
    """Take the SQL out of a file, or give None where the file is SQL itself; `modules` are what it may import."""
    host = host_of(path, text)
    if host is None:
        return None
    if host.name not in OWN_WORDS and not HINT.search(text):
        extract = Extract()
    elif modules is not None and host is PYTHON:
        place = modules.library.locate(path)
        extract = read_python(text, lambda module, level: modules.constants(place, module, level))
    else:
        extract = host.read(text)
    whole = [value for value in extract.texts if is_closed(text_of(value))]
    broken = tuple(_broken(value) for value in extract.texts if not is_closed(text_of(value)))

    batches = (traits_of(dialect) or GENERIC).batches

    def separator(said: str) -> str:  # in some dialects a module ends at GO only
        return "\nGO\n" if batches and MODULE.search(said) else "\n;\n"

    rendered, copies = assembled(whole, separator)
    return Hosted(host.name, rendered, copies, (*extract.problems, *broken))


def is_closed(text: str) -> bool:
    """Say whether every quote and comment that opens is closed, so that what follows is not swallowed."""
    return not any(match["open"] for match in QUOTED.finditer(text))


def _broken(value: Value) -> Problem:
    return Problem("PARSE_ERROR", (("reason", "a quote or a comment is not closed"),), max(place_of(value), 0))
